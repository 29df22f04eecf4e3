"""What people wrote: events are rows before they are acknowledged, and are handled once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from lab import leases
from lab.ids import id_of
from lab.schema import Inbox

MOST_TRIES = 3
"""An event that ended the process so often is handed out once more only to be told of."""


@dataclass(frozen=True)
class Event:
    """An event in hand. `given_up` says that handling it has ended the process too often: only say so."""

    id: int
    surface: str
    event_id: str
    thread_id: int
    user_id: int
    kind: str
    payload: Mapping[str, Any]
    tries: int
    given_up: bool


def receive(
    tx: Session,
    *,
    surface: str,
    event_id: str,
    thread_id: int,
    user_id: int,
    kind: str,
    payload: Mapping[str, Any],
    at: datetime,
) -> int | None:
    """Keep an event; returns its id, or `None` when it was kept before."""
    known = tx.exec(select(Inbox.id).where(Inbox.surface == surface, Inbox.event_id == event_id)).first()
    if known is not None:
        return None
    row = Inbox(
        surface=surface,
        event_id=event_id,
        thread_id=thread_id,
        user_id=user_id,
        kind=kind,
        payload=dict(payload),
        received_at=at,
    )
    tx.add(row)
    tx.flush()
    return row.id


def claim_next(tx: Session, *, owner: str, now: datetime, lease_s: float) -> Event | None:
    """The oldest event that waits, of a thread in which nothing else is in hand."""
    other = aliased(Inbox)
    earlier = (
        select(col(other.id))
        .where(
            col(other.thread_id) == col(Inbox.thread_id), col(other.id) < col(Inbox.id), col(other.handled_at).is_(None)
        )
        .exists()
    )
    free = col(Inbox.lease_until).is_(None) | (col(Inbox.lease_until) <= now)
    query = select(Inbox).where(col(Inbox.handled_at).is_(None), free, ~earlier).order_by(col(Inbox.id)).limit(1)
    row = tx.exec(query.with_for_update(skip_locked=True)).first()
    if row is None:
        return None
    row.tries += 1
    leases.take(row, owner, now, lease_s)
    tx.add(row)
    return Event(
        id_of(row),
        row.surface,
        row.event_id,
        row.thread_id,
        row.user_id,
        row.kind,
        row.payload,
        row.tries,
        row.tries > MOST_TRIES,
    )


def heartbeat(tx: Session, row_id: int, *, owner: str, now: datetime, lease_s: float) -> None:
    """The event is still being handled. Raises `LeaseLost`."""
    leases.extend(tx, tx.get_one(Inbox, row_id), owner, now, lease_s)


def finish(tx: Session, row_id: int, owner: str, outcome: str, at: datetime) -> None:
    """The event is handled. Raises `LeaseLost`."""
    row = tx.get_one(Inbox, row_id)
    leases.check(row, owner)
    row.handled_at, row.outcome = at, outcome
    leases.release(row)
    tx.add(row)
