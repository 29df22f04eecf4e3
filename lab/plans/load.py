"""Reading plans and what belongs to them."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import Session, col, select

from lab.errors import NotFound
from lab.planning.estimate import PastRun
from lab.planning.goal import Design
from lab.recipe.files import recipe_from
from lab.recipe.model import Recipe
from lab.schema import Attempt, Plan, Run
from lab.states import AttemptState, RunState

_MOST_HISTORY = 400


def plan_of(tx: Session, plan_id: int) -> Plan:
    """The plan. Raises `NotFound`."""
    plan = tx.get(Plan, plan_id)
    if plan is None:
        raise NotFound(f"There is no plan {plan_id}.", next_step="`status` lists the plans.")
    return plan


def run_of(tx: Session, run_id: int) -> Run:
    """The run. Raises `NotFound`."""
    run = tx.get(Run, run_id)
    if run is None:
        raise NotFound(f"There is no run {run_id}.", next_step="`queue` and `status` list the runs.")
    return run


def runs_of(tx: Session, plan_id: int) -> Sequence[Run]:
    return tx.exec(select(Run).where(Run.plan_id == plan_id).order_by(col(Run.position))).all()


def attempts_of(tx: Session, run_id: int) -> Sequence[Attempt]:
    return tx.exec(select(Attempt).where(Attempt.run_id == run_id).order_by(col(Attempt.number))).all()


def recipe_of(plan: Plan) -> Recipe:
    """The recipe as it was when the plan was drawn up."""
    return recipe_from(plan.recipe_snapshot, plan.recipe_snapshot.get("source") or f"plan {plan.id}")


def design_of(plan: Plan) -> Design:
    return Design.model_validate(plan.design)


def past_runs(tx: Session, recipe_name: str) -> list[PastRun]:
    """The newest runs of this recipe that ended well, with the length of their last attempt in seconds."""
    query = (
        select(Attempt, Run)
        .join(Run, col(Run.id) == col(Attempt.run_id))
        .join(Plan, col(Plan.id) == col(Run.plan_id))
        .where(Plan.recipe == recipe_name, Attempt.state == AttemptState.SUCCEEDED, Run.state == RunState.SUCCEEDED)
        .order_by(col(Attempt.id).desc())
        .limit(_MOST_HISTORY)
    )
    return [
        PastRun(run.settings, (attempt.ended_at - attempt.started_at).total_seconds())
        for attempt, run in tx.exec(query).all()
        if attempt.started_at is not None and attempt.ended_at is not None
    ]


def metrics_of(run: Run) -> dict[str, float | None]:
    """The last value of each metric that a run printed; `None` where it was no finite number."""
    results: dict[str, Any] = run.results or {}
    metrics: dict[str, float | None] = results.get("metrics") or {}
    return metrics
