"""Leases: who has a row of work in hand, and until when. Shared by the queue, the inbox and the outbox."""

from datetime import datetime, timedelta
from typing import Protocol

from sqlmodel import Session, col, select

from lab.errors import LeaseLost
from lab.schema import Inbox, Outbox, Run


class Leasable(Protocol):
    """A row with a lease; both fields are set, or neither."""

    id: int | None
    lease_owner: str | None
    lease_until: datetime | None


def take(row: Leasable, owner: str, now: datetime, lease_s: float) -> None:
    """Give the row to `owner` for `lease_s` seconds."""
    row.lease_owner = owner
    row.lease_until = now + timedelta(seconds=lease_s)


def release(row: Leasable) -> None:
    """Nobody has the row any more."""
    row.lease_owner = None
    row.lease_until = None


def is_free(row: Leasable, now: datetime) -> bool:
    """Whether nobody has it, or the lease has run out."""
    return row.lease_until is None or row.lease_until <= now


def check(row: Leasable, owner: str) -> None:
    """Raises `LeaseLost` unless `owner` has the row."""
    if row.lease_owner != owner:
        raise LeaseLost(f"{type(row).__name__} {row.id} is in the hands of {row.lease_owner or 'nobody'} now.")


def extend(tx: Session, row: Leasable, owner: str, now: datetime, lease_s: float) -> None:
    """A sign of life: `owner` has the row for `lease_s` seconds from now. Raises `LeaseLost`."""
    check(row, owner)
    take(row, owner, now, lease_s)
    tx.add(row)


def expire_others(tx: Session, owner: str, now: datetime) -> None:
    """End every lease that is not `owner`'s or of one of its workers (`owner:3`): of runs, events and cards alike."""
    for table in (Run, Inbox, Outbox):
        column = col(table.lease_owner)
        foreign = column.is_not(None) & ~column.startswith(owner, autoescape=True)
        for row in tx.exec(select(table).where(foreign)).all():
            row.lease_until = now - timedelta(seconds=1)
            tx.add(row)
