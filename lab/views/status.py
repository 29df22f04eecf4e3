"""How plans and runs stand."""

from collections.abc import Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from lab.cards import Button, Card, Field, Table, Tone
from lab.errors import NotFound
from lab.ids import id_of
from lab.plans.load import attempts_of, metrics_of, plan_of, run_of, runs_of
from lab.progress import progress_card
from lab.schema import Plan, Run, User
from lab.services import Lab
from lab.states import PLAN_ENDED, PlanState, RunState
from lab.words import duration, number, plural, settings_words

_MOST_ROWS = 20


def status_card(lab: Lab, plan_id: int | None, run_id: int | None, project_id: int | None = None) -> Card:
    """One run, one plan, or all that is open. Raises `NotFound`."""
    with lab.store.read() as tx:
        if run_id is not None:
            return run_card(tx, run_of(tx, run_id), lab.clock())
        if plan_id is not None:
            plan = plan_of(tx, plan_id)
            return progress_card(plan, runs_of(tx, plan_id), lab.clock())
        return _open_plans(tx, project_id)


def run_card(tx: Session, run: Run, now: datetime) -> Card:
    """One run with its attempts and numbers."""
    attempts = attempts_of(tx, id_of(run))
    fields = [
        Field("state", run.state),
        Field("plan", str(run.plan_id)),
        Field("settings", settings_words(run.settings)),
    ]
    if run.reason:
        fields.append(Field("why", run.reason))
    if run.remedies.get("words"):
        fields.append(Field("changed", "; ".join(run.remedies["words"])))
    for name, value in metrics_of(run).items():
        fields.append(Field(name, "?" if value is None else f"{value:.5g}"))
    rows = tuple(
        (
            str(a.number),
            a.state,
            a.host or a.backend,
            duration(((a.ended_at or now) - a.started_at).total_seconds()) if a.started_at else "",
            str((a.diagnosis or {}).get("category", "")),
        )
        for a in attempts
    )
    table = Table(("try", "state", "where", "time", "cause"), rows, "lllrl") if rows else None
    buttons = (Button("show_log", "Show log", f"run:{run.id}"),) if attempts else ()
    tone = {RunState.FAILED: Tone.BAD, RunState.LOST: Tone.BAD, RunState.SUCCEEDED: Tone.GOOD}
    return Card(
        "run",
        f"Run {run.id}",
        tone=tone.get(RunState(run.state), Tone.NEUTRAL),
        fields=tuple(fields),
        table=table,
        buttons=buttons,
    )


def _open_plans(tx: Session, project_id: int | None) -> Card:
    query = select(Plan).order_by(col(Plan.id).desc()).limit(_MOST_ROWS)
    if project_id is not None:
        query = query.where(Plan.project_id == project_id)
    plans = tx.exec(query).all()
    if not plans:
        return Card("status", "Nothing has been planned yet", "Tell me what you would like to compare.")
    shown = [p for p in plans if PlanState(p.state) not in PLAN_ENDED] or list(plans[:5])
    rows = tuple(_plan_row(tx, plan) for plan in shown)
    return Card("status", "Plans", table=Table(("plan", "goal", "state", "ended", "by"), rows, "lllrl"))


def _plan_row(tx: Session, plan: Plan) -> tuple[str, ...]:
    runs = runs_of(tx, id_of(plan))
    ended = sum(run.ended_at is not None for run in runs)
    owner = tx.get(User, plan.owner_id)
    goal = plan.goal if len(plan.goal) <= 60 else f"{plan.goal[:59]}…"
    return (str(plan.id), goal, plan.state, f"{ended}/{len(runs)}", owner.name if owner else "?")


def queue_card(lab: Lab) -> Card:
    """Who runs and who waits, in the order in which they will start."""
    with lab.store.read() as tx:
        running = _with_owner(tx, (RunState.SUBMITTING, RunState.RUNNING))
        waiting = _with_owner(tx, (RunState.QUEUED,))
    if not running and not waiting:
        return Card("queue", "The queue is empty", "Nothing runs and nothing waits.")
    rows = [("running", *_queue_row(run, plan, owner)) for run, plan, owner in running]
    rows += [(str(place), *_queue_row(run, plan, owner)) for place, (run, plan, owner) in enumerate(waiting, 1)]
    more = len(rows) - _MOST_ROWS
    table = Table(
        ("place", "run", "plan", "by", "settings"),
        tuple(rows[:_MOST_ROWS]),
        caption=f"and {more} more" if more > 0 else "",
    )
    return Card("queue", f"{plural(len(running), 'run')} at work, {len(waiting)} waiting", table=table)


def _queue_row(run: Run, plan: Plan, owner: str) -> tuple[str, str, str, str]:
    varied = [n for n, levels in plan.design["factors"].items() if len(levels) > 1]
    shown = {n: run.settings[n] for n in varied if n in run.settings}
    return (str(run.id), str(plan.id), owner, settings_words(shown))


def waiting_card(lab: Lab, run_id: int) -> Card:
    """Why a run has not started: who is ahead, and what has to become free. Raises `NotFound`."""
    with lab.store.read() as tx:
        run = run_of(tx, run_id)
        if run.state != RunState.QUEUED:
            return Card("waiting", f"Run {run_id} does not wait", f"It is {run.state}.")
        ahead = [other for other, _plan, _owner in _with_owner(tx, (RunState.QUEUED,)) if other.id != run.id]
        ahead = ahead[: [o.id for o, _p, _n in _with_owner(tx, (RunState.QUEUED,))].index(run.id)]
        at_work = _with_owner(tx, (RunState.SUBMITTING, RunState.RUNNING))
        now = lab.clock()
    reasons = [f"{plural(len(ahead), 'run')} ahead of it in the queue."] if ahead else ["It is the next in the queue."]
    if run.not_before is not None and run.not_before > now:
        reasons.append(f"It is tried again in {duration((run.not_before - now).total_seconds())}.")
    if at_work:
        reasons.append(
            f"{plural(len(at_work), 'run')} at work hold the machines; it starts when enough is free for it."
        )
    need = ", ".join(f"{name} {number(value)}" for name, value in run.resources.items() if value)
    return Card("waiting", f"Run {run_id} waits", "\n".join(f"- {r}" for r in reasons), fields=(Field("needs", need),))


def _with_owner(tx: Session, states: Sequence[RunState]) -> list[tuple[Run, Plan, str]]:
    query = (
        select(Run, Plan, User.name)
        .join(Plan, col(Plan.id) == col(Run.plan_id))
        .join(User, col(User.id) == col(Plan.owner_id))
        .where(col(Run.state).in_([state.value for state in states]))
        .order_by(col(Run.priority).desc(), col(Run.queued_at), col(Run.position))
    )
    return [(run, plan, name) for run, plan, name in tx.exec(query).all()]


def newest_run(tx: Session, plan_id: int, state: RunState | None = None) -> Run:
    """The newest run of a plan, of that state if one is given. Raises `NotFound`."""
    runs = [run for run in runs_of(tx, plan_id) if state is None or run.state == state]
    if not runs:
        raise NotFound(f"Plan {plan_id} has no such run.")
    return max(runs, key=lambda run: run.id or 0)
