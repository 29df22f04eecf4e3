"""Starting, approving and cancelling a plan. Each is one transaction, guarded by the plan's state and digest."""

from collections.abc import Sequence
from datetime import timedelta

from sqlmodel import Session, col, select

from lab import audit, outbox
from lab.cards import Card, Tone
from lab.errors import Conflict, NotPermitted
from lab.ids import id_of
from lab.planning.estimate import Estimate
from lab.plans.approvals import open_approval, void_approvals
from lab.plans.cards import approval_card
from lab.plans.load import plan_of, run_of, runs_of
from lab.policy import Decision, Effect, PlanSize, Ruling, may, may_approve, may_start
from lab.schema import Approval, Plan, Run
from lab.services import Actor, Lab
from lab.states import RUN_ENDED, PlanState, RunState
from lab.transitions import move_plan, move_run
from lab.words import plural

_CANCELLABLE = frozenset({RunState.DRAFT, RunState.AWAITING_APPROVAL, RunState.QUEUED, RunState.PREEMPTED})


def start_plan(lab: Lab, actor: Actor, plan_id: int, digest: str | None = None) -> Card:
    """Queue a draft's runs, or ask an approver first. Raises `Conflict` when it has moved on, `NotPermitted`."""
    with lab.store.write() as tx:
        plan, runs = plan_of(tx, plan_id), runs_of(tx, plan_id)
        _check_digest(plan, digest)
        if plan.state != PlanState.DRAFT:
            raise Conflict(f"Plan {plan_id} is {plan.state} already.", next_step=f"Ask “status of plan {plan_id}”.")
        decision = may_start(actor.role, _size(plan, runs), lab.site)
        if decision.ruling is Ruling.DENY:
            raise NotPermitted(f"Plan {plan_id} can't start: {decision.reason}", next_step=decision.remedy)
        if decision.ruling is Ruling.ASK:
            return _ask(lab, tx, actor, plan, runs, decision)
        return _queue(lab, tx, actor, plan, runs, f"started by {actor.name}")


def approve_plan(lab: Lab, actor: Actor, plan_id: int, digest: str | None = None) -> Card:
    """Another person's yes, bound to the digest they saw. Raises `NotPermitted`, `Conflict`."""
    with lab.store.write() as tx:
        plan, approval = plan_of(tx, plan_id), open_approval(tx, plan_id)
        _check_digest(plan, digest)
        _check_approver(actor, plan, approval)
        _decide(lab, tx, actor, approval, "granted", "")
        return _queue(lab, tx, actor, plan, runs_of(tx, plan_id), f"approved by {actor.name}")


def deny_plan(lab: Lab, actor: Actor, plan_id: int, reason: str, digest: str | None = None) -> Card:
    """Another person's no, with the reason. Raises `NotPermitted`, `Conflict`."""
    with lab.store.write() as tx:
        plan, approval = plan_of(tx, plan_id), open_approval(tx, plan_id)
        _check_digest(plan, digest)
        _check_approver(actor, plan, approval)
        _decide(lab, tx, actor, approval, "denied", reason)
        _close(lab, tx, actor.name, plan, RunState.DENIED, PlanState.DENIED, reason)
        text = f"{actor.name}: {reason}" if reason else f"{actor.name} said no."
        return Card("denied", f"Plan {plan_id} was denied", text, Tone.BAD)


def expire_approvals(lab: Lab) -> int:
    """Turn every question past its deadline into a no; returns how many."""
    now = lab.clock()
    with lab.store.write() as tx:
        late = tx.exec(select(Approval).where(Approval.state == "asked", col(Approval.expires_at) <= now)).all()
        for approval in late:
            approval.state, approval.decided_at = "expired", now
            tx.add(approval)
            plan = plan_of(tx, approval.plan_id)
            _close(lab, tx, "labhand", plan, RunState.EXPIRED, PlanState.EXPIRED, "nobody approved it in time")
            if plan.thread_id is not None:
                card = Card("denied", f"Plan {plan.id} expired", "Nobody approved it in time.", Tone.WARNING)
                outbox.say(tx, plan.thread_id, card, dedupe_key=f"approval:{approval.id}:expired", at=now)
        return len(late)


def cancel_plan(lab: Lab, actor: Actor, plan_id: int) -> Card:
    """Cancel what has not started, and ask the control loop to end what is at work."""
    with lab.store.write() as tx:
        plan = plan_of(tx, plan_id)
        _check_destroy(actor, plan)
        runs = runs_of(tx, plan_id)
        if all(run.state in RUN_ENDED for run in runs):
            raise Conflict(f"Plan {plan_id} has ended already ({plan.state}).")
        waiting = [run for run in runs if run.state in _CANCELLABLE]
        at_work = [run for run in runs if run.state not in RUN_ENDED and run not in waiting]
        was_draft = plan.state in (PlanState.DRAFT, PlanState.AWAITING_APPROVAL)
        if plan.state == PlanState.AWAITING_APPROVAL:
            void_approvals(tx, plan_id, lab.clock())
        for run in waiting:
            move_run(
                tx,
                run,
                RunState.CANCELLED,
                actor=actor.name,
                why="the plan was cancelled",
                at=lab.clock(),
                source=actor.source,
            )
        for run in at_work:
            _request_stop(lab, tx, actor, run)
        if plan.state not in (PlanState.DONE, PlanState.CANCELLED):
            move_plan(
                tx, plan, PlanState.CANCELLED, actor=actor.name, why="cancelled", at=lab.clock(), source=actor.source
            )
        text = "Nothing had been started." if was_draft else _cancel_words(len(waiting), len(at_work))
        return Card("cancelled", f"Plan {plan_id} is cancelled", text)


def cancel_run(lab: Lab, actor: Actor, run_id: int) -> Card:
    """Cancel one run; one at work is ended by the control loop."""
    with lab.store.write() as tx:
        run = run_of(tx, run_id)
        _check_destroy(actor, plan_of(tx, run.plan_id))
        if run.state in RUN_ENDED:
            raise Conflict(f"Run {run_id} has ended already ({run.state}).")
        if run.state not in _CANCELLABLE:
            _request_stop(lab, tx, actor, run)
            return Card("cancelled", f"Run {run_id} is being stopped")
        move_run(tx, run, RunState.CANCELLED, actor=actor.name, why="cancelled", at=lab.clock(), source=actor.source)
        return Card("cancelled", f"Run {run_id} is cancelled", "It had not started.")


def _queue(lab: Lab, tx: Session, actor: Actor, plan: Plan, runs: Sequence[Run], why: str) -> Card:
    now = lab.clock()
    move_plan(tx, plan, PlanState.ACTIVE, actor=actor.name, why=why, at=now, source=actor.source)
    for run in runs:
        move_run(tx, run, RunState.QUEUED, actor=actor.name, why=why, at=now, source=actor.source)
    return Card(
        "started", f"Plan {plan.id} is running", f"{plural(len(runs), 'run')} queued on {plan.backend}.", Tone.GOOD
    )


def _ask(lab: Lab, tx: Session, actor: Actor, plan: Plan, runs: Sequence[Run], decision: Decision) -> Card:
    now = lab.clock()
    tx.add(
        Approval(
            plan_id=id_of(plan),
            digest=plan.digest,
            requested_by=actor.user_id,
            rule=decision.reason,
            requested_at=now,
            expires_at=now + timedelta(hours=lab.site.approval_expires_hours),
        )
    )
    move_plan(tx, plan, PlanState.AWAITING_APPROVAL, actor=actor.name, why=decision.reason, at=now, source=actor.source)
    for run in runs:
        move_run(tx, run, RunState.AWAITING_APPROVAL, actor=actor.name, why=decision.reason, at=now)
    return approval_card(plan, runs, decision.reason)


def _decide(lab: Lab, tx: Session, actor: Actor, approval: Approval, state: str, reason: str) -> None:
    approval.state, approval.decided_by, approval.reason, approval.decided_at = (
        state,
        actor.user_id,
        reason,
        lab.clock(),
    )
    tx.add(approval)
    audit.record(
        tx,
        actor=actor.name,
        action=f"approval.{state}",
        subject=f"plan:{approval.plan_id}",
        at=lab.clock(),
        why=reason,
        source=actor.source,
        detail={"digest": approval.digest, "rule": approval.rule},
    )


def _close(lab: Lab, tx: Session, actor: str, plan: Plan, run_state: RunState, plan_state: PlanState, why: str) -> None:
    for run in runs_of(tx, id_of(plan)):
        if run.state == RunState.AWAITING_APPROVAL:
            move_run(tx, run, run_state, actor=actor, why=why, at=lab.clock())
    if plan.state not in (PlanState.DENIED, PlanState.EXPIRED, PlanState.DONE):
        move_plan(tx, plan, plan_state, actor=actor, why=why, at=lab.clock())


def _request_stop(lab: Lab, tx: Session, actor: Actor, run: Run) -> None:
    run.stop_requested = f"cancelled by {actor.name}"
    tx.add(run)
    audit.record(tx, actor=actor.name, action="run.stop", subject=f"run:{run.id}", at=lab.clock(), source=actor.source)


def _check_approver(actor: Actor, plan: Plan, approval: Approval) -> None:
    own = actor.user_id in (approval.requested_by, plan.owner_id)
    decision = may_approve(actor.role, own=own)
    if decision.ruling is not Ruling.ALLOW:
        raise NotPermitted(decision.reason.capitalize(), next_step=decision.remedy)


def _check_destroy(actor: Actor, plan: Plan) -> None:
    decision = may(actor.role, Effect.DESTROY, owner=plan.owner_id == actor.user_id)
    if decision.ruling is not Ruling.ALLOW:
        raise NotPermitted(f"Plan {plan.id} can't be cancelled: {decision.reason}", next_step=decision.remedy)


def _check_digest(plan: Plan, digest: str | None) -> None:
    if digest and not plan.digest.startswith(digest):
        raise Conflict(f"Plan {plan.id} was changed after this card was made.", next_step="Use its newest card.")


def _size(plan: Plan, runs: Sequence[Run]) -> PlanSize:
    found = Estimate(**plan.estimate)
    return PlanSize(runs=len(runs), gpus=found.gpus, gpu_hours_high=found.gpu_hours_high)


def _cancel_words(waiting: int, at_work: int) -> str:
    stopped = f"{plural(at_work, 'run')} at work {'is' if at_work == 1 else 'are'} being stopped" if at_work else ""
    return "; ".join(part for part in (f"{plural(waiting, 'run')} left the queue", stopped) if part) + "."
