"""A plan's comparison matrix: the rows become cells, the cells a table, a picture and a verdict."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from sqlmodel import Session

from lab.cards import Card, Image, Tone
from lab.errors import BadRequest
from lab.ids import id_of
from lab.planning.goal import Design as PlanDesign
from lab.plans.load import attempts_of, design_of, plan_of, recipe_of, runs_of
from lab.recipe.model import Recipe
from lab.results.summary import summarise
from lab.results.tables import matrix_table
from lab.results.values import Design, Level, Matrix, RunResult
from lab.results.verdict import verdict
from lab.schema import Attempt, Plan, Run
from lab.services import Lab
from lab.words import listing


def results_card(lab: Lab, plan_id: int, metric: str | None = None) -> Card:
    """The comparison matrix of a plan as it is now, with its picture. Raises `NotFound`, `BadRequest`."""
    matrix = matrix_of(lab, plan_id, metric)
    path = lab.images / f"plan-{plan_id}-{matrix.metric}.png"
    return matrix_card(plan_id, matrix, draw(matrix, path))


def matrix_of(lab: Lab, plan_id: int, metric: str | None = None) -> Matrix:
    """The matrix of a plan. Raises `NotFound`; `BadRequest` for a metric that the recipe does not print."""
    with lab.store.read() as tx:
        plan = plan_of(tx, plan_id)
        recipe, design = recipe_of(plan), design_of(plan)
        runs = runs_of(tx, plan_id)
        results = [_result(tx, run) for run in runs]
    return summarise(_design(plan, recipe, design, runs, metric), results)


def draw(matrix: Matrix, path: Path, theme: str = "light") -> str:
    """Draw the matrix into a PNG file; returns its path."""
    from lab.results.picture import render_matrix

    render_matrix(matrix, path, theme="dark" if theme == "dark" else "light")
    return str(path)


def matrix_card(plan_id: int, matrix: Matrix, picture: str) -> Card:
    words = verdict(matrix)
    title = f"Plan {plan_id}: {matrix.metric}" + (f" ({matrix.pending} runs still open)" if matrix.pending else "")
    return Card(
        kind="matrix",
        title=title,
        text=words,
        tone=Tone.GOOD if matrix.best is not None else Tone.WARNING,
        table=matrix_table(matrix),
        images=(Image(picture, f"Comparison matrix of {matrix.metric}. {words}"),),
    )


def _design(plan: Plan, recipe: Recipe, design: PlanDesign, runs: Sequence[Run], metric: str | None) -> Design:
    wanted = metric or next(iter(design.metrics), None)
    rule = recipe.metric(wanted) if wanted else recipe.primary_metric
    if rule is None:
        known = listing([m.name for m in recipe.metrics]) or "none"
        raise BadRequest(f"The recipe {recipe.name} prints no {wanted or 'metric'}.", next_step=f"It prints {known}.")
    varied = {name: levels for name, levels in design.factors.items() if len(levels) > 1}
    for name in design.ranges:
        found = dict.fromkeys(run.settings[name] for run in runs if name in run.settings)
        varied[name] = tuple(sorted(found))
    factors = varied or {name: levels for name, levels in design.factors.items() if name == "model"}
    return Design({n: cast("tuple[Level, ...]", v) for n, v in factors.items()}, rule.name, rule.goal, plan.goal)


def _result(tx: Session, run: Run) -> RunResult:
    attempts = attempts_of(tx, id_of(run))
    results: dict[str, Any] = run.results or {}
    last = attempts[-1] if attempts else None
    category = results.get("category") or _first_category(attempts)
    return RunResult(
        run_id=id_of(run),
        settings=run.settings,
        state=run.state,
        metrics=results.get("metrics") or {},
        best=results.get("best") or {},
        seconds=_seconds(last),
        attempts=len(attempts),
        category=category,
        reason=run.reason,
        remedies=tuple(run.remedies.get("words", ())),
    )


def _first_category(attempts: Sequence[Attempt]) -> str | None:
    return next((a.diagnosis["category"] for a in attempts if a.diagnosis is not None), None)


def _seconds(attempt: Attempt | None) -> float | None:
    if attempt is None or attempt.started_at is None or attempt.ended_at is None:
        return None
    return (attempt.ended_at - attempt.started_at).total_seconds()
