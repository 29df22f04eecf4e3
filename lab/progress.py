"""The one message that follows a plan while it runs, edited in place."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from lab import outbox
from lab.cards import Button, ButtonStyle, Card, Field, Table, Tone
from lab.schema import Plan, Run
from lab.states import PLAN_ENDED, RUN_ENDED, PlanState, RunState
from lab.words import duration, settings_words

_SHOWN = 14


def say_progress(tx: Session, plan_id: int, at: datetime) -> None:
    """Put the plan's progress card as it is now into its thread. A draft, or a plan without a thread, says nothing."""
    plan = tx.get(Plan, plan_id)
    if plan is None or plan.thread_id is None or plan.started_at is None:
        return
    runs = tx.exec(select(Run).where(Run.plan_id == plan_id).order_by(col(Run.position))).all()
    card = progress_card(plan, runs, at)
    key = f"plan:{plan_id}:progress"
    stamp = f"{key}:{at.timestamp():.6f}:{_fingerprint(runs, plan)}"
    outbox.say(tx, plan.thread_id, card, dedupe_key=stamp, at=at, edit_key=key)


def progress_card(plan: Plan, runs: Sequence[Run], at: datetime) -> Card:
    """The card for these runs."""
    counts = Counter(RunState(run.state) for run in runs)
    ended = sum(counts[state] for state in RUN_ENDED)
    repaired = sum(1 for run in runs if run.remedies.get("words") and run.state == RunState.SUCCEEDED)
    fields = [Field(state.value, str(counts[state])) for state in RunState if counts[state]]
    if repaired:
        fields.append(Field("repaired", str(repaired)))
    if plan.started_at is not None:
        fields.append(Field("time", duration(((plan.ended_at or at) - plan.started_at).total_seconds())))
    open_plan = PlanState(plan.state) not in PLAN_ENDED
    stop = Button("cancel_plan", "Stop", f"plan:{plan.id}", ButtonStyle.DANGER)
    return Card(
        kind="progress",
        title=f"Plan {plan.id}: {ended} of {len(runs)} runs ended",
        tone=_tone(plan, counts),
        fields=tuple(fields),
        table=_table(plan, runs),
        buttons=(stop,) if open_plan else (),
        progress=ended / len(runs) if runs else None,
    )


def _tone(plan: Plan, counts: Counter[RunState]) -> Tone:
    if counts[RunState.FAILED] or counts[RunState.LOST]:
        return Tone.WARNING
    return Tone.GOOD if plan.state == PlanState.DONE and counts[RunState.SUCCEEDED] else Tone.NEUTRAL


def _table(plan: Plan, runs: Sequence[Run]) -> Table:
    """The runs that say most now: those at work, then the failed, then the rest in order."""
    order = {RunState.RUNNING: 0, RunState.SUBMITTING: 0, RunState.FAILED: 1, RunState.LOST: 1, RunState.QUEUED: 2}
    ranked = sorted(runs, key=lambda run: (order.get(RunState(run.state), 3), run.position))[:_SHOWN]
    rows = tuple(_row(plan, run) for run in sorted(ranked, key=lambda run: run.position))
    more = len(runs) - len(rows)
    return Table(("run", "settings", "state", "result"), rows, "lllr", f"and {more} more" if more else "")


def _row(plan: Plan, run: Run) -> tuple[str, str, str, str]:
    varied = [name for name, levels in plan.design["factors"].items() if len(levels) > 1]
    shown = {name: run.settings[name] for name in varied if name in run.settings} or run.settings
    metric = next(iter(plan.design.get("metrics", ())), None)
    value = (run.results or {}).get("metrics", {}).get(metric) if metric else None
    state = f"{run.state} (try {run.retries + 1})" if run.retries else run.state
    return (str(run.id), settings_words(shown), state, "" if value is None else f"{value:.4g}")


def _fingerprint(runs: Sequence[Run], plan: Plan) -> str:
    return f"{plan.state}:" + ",".join(f"{run.id}{run.state[:3]}{run.retries}" for run in runs)
