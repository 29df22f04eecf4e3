"""The only place that changes the state of a run, an attempt or a plan.

Each step is checked, dated, written to the audit trail, and followed by the plan's progress card, all in the caller's
transaction.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from lab import audit, leases
from lab.errors import Conflict
from lab.ids import id_of
from lab.progress import say_progress
from lab.schema import Attempt, Plan, Run
from lab.states import ATTEMPT_LIVE, PLAN_ENDED, RUN_ENDED, AttemptState, PlanState, RunState, check_step


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
    run.state, run.reason = to.value, why
    _date_run(run, to, at)
    if to is not RunState.SUBMITTING:
        leases.release(run)
    tx.add(run)
    tx.flush()
    told = {"from": before.value, "to": to.value, "plan": run.plan_id, **(detail or {})}
    audit.record(
        tx, actor=actor, action=f"run.{to}", subject=f"run:{run.id}", at=at, why=why, source=source, detail=told
    )
    plan = tx.get_one(Plan, run.plan_id)
    if to in RUN_ENDED:
        _end_plan(tx, plan, at)
    say_progress(tx, run.plan_id, at)


def move_plan(tx: Session, plan: Plan, to: PlanState, *, actor: str, why: str, at: datetime, source: str = "") -> None:
    """Set a plan's state, and its times."""
    before = plan.state
    plan.state = to.value
    if to is PlanState.ACTIVE:
        plan.started_at = plan.started_at or at
        plan.ended_at = plan.tracked_at = None
    elif to in PLAN_ENDED:
        plan.ended_at = at
    tx.add(plan)
    tx.flush()
    audit.record(
        tx,
        actor=actor,
        action=f"plan.{to}",
        subject=f"plan:{plan.id}",
        at=at,
        why=why,
        source=source,
        detail={"from": before, "digest": plan.digest},
    )
    say_progress(tx, id_of(plan), at)


def end_attempt(tx: Session, attempt: Attempt, to: AttemptState, *, at: datetime) -> None:
    """End a live attempt. Raises `Conflict` when it has ended already."""
    if AttemptState(attempt.state) not in ATTEMPT_LIVE:
        raise Conflict(f"Attempt {attempt.key} has ended already ({attempt.state}).")
    attempt.state, attempt.ended_at = to.value, at
    tx.add(attempt)
    tx.flush()


def _date_run(run: Run, to: RunState, at: datetime) -> None:
    if to is RunState.QUEUED:
        # A run that comes back keeps its place: what it waits to prove may serve the cells behind it.
        run.queued_at, run.ended_at = run.queued_at or at, None
    elif to is RunState.RUNNING:
        run.started_at = run.started_at or at
    elif to in RUN_ENDED:
        run.ended_at = at


def _end_plan(tx: Session, plan: Plan, at: datetime) -> None:
    """A plan at work whose last run has ended is done."""
    if plan.state != PlanState.ACTIVE:
        return
    open_runs = select(Run.id).where(Run.plan_id == plan.id, col(Run.ended_at).is_(None)).limit(1)
    if tx.exec(open_runs).first() is None:
        plan.state, plan.ended_at = PlanState.DONE.value, at
        tx.add(plan)
        tx.flush()
        audit.record(
            tx, actor="labhand", action="plan.done", subject=f"plan:{plan.id}", at=at, why="all its runs have ended"
        )
