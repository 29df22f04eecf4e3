"""Questions to another person, as rows."""

from datetime import datetime

from sqlmodel import Session, select

from lab.errors import Conflict
from lab.schema import Approval


def open_approval(tx: Session, plan_id: int) -> Approval:
    """The question that waits for an answer. Raises `Conflict` when there is none."""
    approval = tx.exec(select(Approval).where(Approval.plan_id == plan_id, Approval.state == "asked")).first()
    if approval is None:
        raise Conflict(f"Plan {plan_id} waits for no approval.", next_step=f"Ask “status of plan {plan_id}”.")
    return approval


def void_approvals(tx: Session, plan_id: int, at: datetime) -> None:
    """What was asked about a plan that has changed or is cancelled binds nobody any more."""
    for approval in tx.exec(select(Approval).where(Approval.plan_id == plan_id, Approval.state == "asked")).all():
        approval.state, approval.decided_at = "void", at
        tx.add(approval)
