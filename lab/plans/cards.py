"""The cards around a plan before it runs."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from lab.cards import Button, ButtonStyle, Card, Field, Table, Tone
from lab.ids import id_of
from lab.jobs import job_spec
from lab.planning.estimate import Estimate, estimate_words
from lab.planning.goal import Design
from lab.planning.resolve import Resolved
from lab.plans.load import design_of, recipe_of
from lab.recipe.model import Recipe
from lab.schema import Plan, Run
from lab.words import listing, number, plural, settings_words, size

_SHOWN_CELLS = 8


def plan_card(plan: Plan, runs: Sequence[Run], notes: Sequence[str] = (), parallel: int | None = None) -> Card:
    """What will be run, what it should cost, and the buttons Run, Change and Cancel."""
    recipe, design = recipe_of(plan), design_of(plan)
    found = Estimate(**plan.estimate)
    value = f"plan:{plan.id}:{plan.digest[:16]}"
    return Card(
        kind="plan",
        title=f"Plan {plan.id}: {plural(len(runs), 'run')} with {recipe.name}",
        text="\n".join(f"- {note}" for note in (*notes, *_notes(design, runs))),
        fields=(*_factor_fields(design), *_need_fields(runs, found, parallel), *_limit_fields(design)),
        table=_cells_table(design, runs),
        code=_command(recipe, runs[0]) if runs else "",
        buttons=(
            Button("run_plan", f"Run {plural(len(runs), 'run')}", value, ButtonStyle.PRIMARY),
            Button("change_plan", "Change", value, ask="What should be different?"),
            Button("cancel_plan", "Cancel", value),
        ),
        footer=f"Estimate from {found.basis}. Nothing has been started.",
    )


def question_card(resolved: Resolved, understood: Sequence[str]) -> Card:
    """What could not be settled, after what was understood."""
    lines = [f"- {line}" for line in understood]
    heard = "\n".join(["I understood:", *lines, ""]) if lines else ""
    return Card(
        kind="question",
        title="One thing before I can plan this" if len(resolved.questions) == 1 else "Before I can plan this",
        text=heard + "\n".join(f"**{question}**" for question in resolved.questions),
        tone=Tone.WARNING,
    )


def approval_card(plan: Plan, runs: Sequence[Run], reason: str) -> Card:
    """The question to an approver, bound to what was shown."""
    card = plan_card(plan, runs)
    value = f"plan:{plan.id}:{plan.digest[:16]}"
    return Card(
        kind="approval",
        title=f"Plan {plan.id} waits for an approver",
        text=f"{plan.goal}\n\nIt needs another person's word: {reason}",
        tone=Tone.WARNING,
        fields=card.fields,
        code=card.code,
        buttons=(
            Button("approve_plan", "Approve", value, ButtonStyle.PRIMARY),
            Button("deny_plan", "Deny", value, ButtonStyle.DANGER, ask="Why not?"),
        ),
        footer=f"Bound to {plan.digest[:16]}; any change voids it.",
    )


def _factor_fields(design: Design) -> list[Field]:
    fields = [Field(name, ", ".join(number(level) for level in levels)) for name, levels in design.factors.items()]
    fields += [Field(name, f"{number(low)} to {number(high)}") for name, (low, high) in design.ranges.items()]
    return fields


def _need_fields(runs: Sequence[Run], found: Estimate, parallel: int | None) -> list[Field]:
    need: Mapping[str, Any] = runs[0].resources if runs else {}
    words = [plural(need.get("cpus", 1), "CPU")]
    if need.get("gpus"):
        words.insert(0, f"{need['gpus']} x {need.get('gpu_type') or 'any GPU'}")
    if need.get("memory_bytes"):
        words.append(size(need["memory_bytes"]))
    return [Field("each run", ", ".join(words)), Field("estimate", estimate_words(found, parallel))]


def _limit_fields(design: Design) -> list[Field]:
    named = {"gpu_hours": "GPU-hours at most", "deadline_hours": "hours until the deadline", "max_runs": "runs at most"}
    limits = design.limits.model_dump(exclude_none=True)
    return [Field(named.get(name, name.replace("_", " ")), number(value)) for name, value in limits.items()]


def _notes(design: Design, runs: Sequence[Run]) -> list[str]:
    notes: list[str] = []
    seeds = design.factors.get("seed", ())
    if len(seeds) < 2 and not design.ranges and len(runs) > 1:
        notes.append("One seed a cell: small differences can't be told from noise. Say “3 seeds” for intervals.")
    if design.strategy in ("bayesian", "adaptive"):
        notes.append(f"The trials are spread evenly over the ranges ({design.strategy} search comes later).")
    learned = [run for run in runs if run.remedies.get("words")]
    if learned:
        words = listing(sorted({word for run in learned for word in run.remedies["words"]}))
        notes.append(f"{plural(len(learned), 'cell')} will start with {words}: that mended like cells before.")
    return notes


def _cells_table(design: Design, runs: Sequence[Run]) -> Table | None:
    names = [*(n for n, levels in design.factors.items() if len(levels) > 1), *design.ranges]
    if not names or len(runs) < 2:
        return None
    rows = tuple(tuple(number(run.settings.get(name, "")) for name in names) for run in runs[:_SHOWN_CELLS])
    more = len(runs) - len(rows)
    return Table(tuple(names), rows, caption=f"and {more} more" if more > 0 else "")


def _command(recipe: Recipe, run: Run) -> str:
    return shlex.join(job_spec(recipe, recipe.name, run.settings, run.resources, run.remedies).argv)


def run_line(run: Run) -> str:
    """`run 7: model=cnn lr=0.01`."""
    return f"run {id_of(run)}: {settings_words(run.settings)}"
