"""The only place that changes the state of a run, an attempt or a plan.

Each step is checked, dated and written to the audit trail. What follows from a whole transaction (a plan whose runs
have all ended is done; its progress card) is worked out once, just before the transaction is kept: a run that fails and
is queued again in one transaction has not ended.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlmodel import Session, col, select

from lab import audit, leases
from lab.columns import storable_text
from lab.errors import Conflict, IllegalTransition
from lab.ids import id_of
from lab.progress import say_progress
from lab.schema import Attempt, Plan, Run
from lab.states import ATTEMPT_LIVE, PLAN_ENDED, RUN_ENDED, AttemptState, PlanState, RunState, check_step
from lab.store import before_commit

PLAN_STEPS: MappingProxyType[PlanState, frozenset[PlanState]] = MappingProxyType(
    {
        PlanState.DRAFT: frozenset(
            {PlanState.AWAITING_APPROVAL, PlanState.ACTIVE, PlanState.CANCELLED, PlanState.REPLACED}
        ),
        PlanState.AWAITING_APPROVAL: frozenset(
            {PlanState.ACTIVE, PlanState.DENIED, PlanState.EXPIRED, PlanState.CANCELLED, PlanState.REPLACED}
        ),
        PlanState.ACTIVE: frozenset({PlanState.DONE, PlanState.CANCELLED}),
        PlanState.DONE: frozenset({PlanState.ACTIVE}),
        PlanState.CANCELLED: frozenset({PlanState.ACTIVE}),
        PlanState.DENIED: frozenset[PlanState](),
        PlanState.EXPIRED: frozenset[PlanState](),
        PlanState.REPLACED: frozenset[PlanState](),
    }
)
_LABHAND = "labhand"


def move_run(
    tx: Session,
    run: Run,
    to: RunState,
    *,
    actor: str,
    why: str,
    at: datetime,
    source: str = "",
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Take a run one step further. Raises `IllegalTransition`."""
    before = RunState(run.state)
    check_step(before, to)
    run.state, run.reason = to.value, storable_text(why)
    _date_run(run, to, at)
    if to is not RunState.SUBMITTING:
        leases.release(run)
    tx.add(run)
    tx.flush()
    told = {"from": before.value, "to": to.value, "plan": run.plan_id, **(detail or {})}
    audit.record(
        tx, actor=actor, action=f"run.{to}", subject=f"run:{run.id}", at=at, why=why, source=source, detail=told
    )
    _follow_plan(tx, run.plan_id, at)


def move_plan(tx: Session, plan: Plan, to: PlanState, *, actor: str, why: str, at: datetime, source: str = "") -> None:
    """Take a plan one step further. Raises `IllegalTransition`."""
    _set_plan(tx, plan, to, actor=actor, why=why, at=at, source=source)
    _follow_plan(tx, id_of(plan), at)


def submit_attempt(tx: Session, attempt: Attempt, handle: Mapping[str, Any], *, at: datetime) -> None:
    """The machine has the attempt's job, and finds it by `handle`. Raises `IllegalTransition`."""
    attempt.handle = dict(handle)
    _move_attempt(tx, attempt, AttemptState.SUBMITTED, (AttemptState.PREPARED,), at)


def start_attempt(tx: Session, attempt: Attempt, *, at: datetime) -> None:
    """The machine has started the attempt's job. Raises `IllegalTransition`."""
    attempt.started_at = attempt.started_at or at
    _move_attempt(tx, attempt, AttemptState.RUNNING, (AttemptState.SUBMITTED,), at)


def end_attempt(tx: Session, attempt: Attempt, to: AttemptState, *, at: datetime) -> None:
    """End a live attempt. Raises `Conflict` when it has ended already."""
    if AttemptState(attempt.state) not in ATTEMPT_LIVE:
        raise Conflict(f"Attempt {attempt.key} has ended already ({attempt.state}).")
    if to in ATTEMPT_LIVE:
        raise IllegalTransition(f"An attempt can't end as {to}.")
    attempt.ended_at = at
    _move_attempt(tx, attempt, to, ATTEMPT_LIVE, at)


def _set_plan(tx: Session, plan: Plan, to: PlanState, *, actor: str, why: str, at: datetime, source: str) -> None:
    before = PlanState(plan.state)
    if to not in PLAN_STEPS[before]:
        raise IllegalTransition(f"A plan that is {before} can't become {to}.")
    plan.state = to.value
    if to is PlanState.ACTIVE:
        plan.started_at = plan.started_at or at
        plan.ended_at = plan.tracked_at = None
    elif to in PLAN_ENDED:
        plan.ended_at = at
    tx.add(plan)
    tx.flush()
    told = {"from": before.value, "to": to.value, "digest": plan.digest}
    audit.record(
        tx, actor=actor, action=f"plan.{to}", subject=f"plan:{plan.id}", at=at, why=why, source=source, detail=told
    )


def _move_attempt(
    tx: Session, attempt: Attempt, to: AttemptState, out_of: frozenset[AttemptState] | tuple[AttemptState], at: datetime
) -> None:
    before = AttemptState(attempt.state)
    if before not in out_of:
        raise IllegalTransition(f"Attempt {attempt.key}, which is {before}, can't become {to}.")
    attempt.state = to.value
    tx.add(attempt)
    tx.flush()
    told = {"from": before.value, "to": to.value, "attempt": attempt.number, "key": attempt.key}
    audit.record(
        tx,
        actor=_LABHAND,
        action=f"attempt.{to}",
        subject=f"run:{attempt.run_id}",
        at=at,
        detail={**told, "host": attempt.host, "exit_code": attempt.exit_code, "signal": attempt.signal},
    )


def _date_run(run: Run, to: RunState, at: datetime) -> None:
    run.ended_at = at if to in RUN_ENDED else None
    if to is RunState.QUEUED:
        # A run that comes back keeps its place: what it waits to prove may serve the cells behind it.
        run.queued_at = run.queued_at or at
    elif to is RunState.RUNNING:
        run.started_at = run.started_at or at


def _follow_plan(tx: Session, plan_id: int, at: datetime) -> None:
    def act() -> None:
        _end_plan(tx, plan_id, at)
        say_progress(tx, plan_id, at)

    before_commit(tx, ("plan", plan_id), act)


def _end_plan(tx: Session, plan_id: int, at: datetime) -> None:
    """A plan at work whose last run has ended is done."""
    plan = tx.get_one(Plan, plan_id)
    if plan.state != PlanState.ACTIVE:
        return
    open_runs = select(Run.id).where(Run.plan_id == plan_id, col(Run.ended_at).is_(None)).limit(1)
    if tx.exec(open_runs).first() is None:
        _set_plan(tx, plan, PlanState.DONE, actor=_LABHAND, why="all its runs have ended", at=at, source="")
