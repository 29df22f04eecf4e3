"""What is on its way to people: cards are rows until a surface has taken them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import true
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from lab import leases
from lab.cards import Card, card_to_json
from lab.columns import storable_text
from lab.ids import id_of
from lab.schema import Outbox, Thread

_ERROR_LENGTH = 500


@dataclass(frozen=True)
class Delivery:
    """A row to deliver. `message_id` is the platform's id of the message to edit, if it was posted before."""

    id: int
    thread: str
    card: Mapping[str, Any]
    tries: int
    message_id: str | None


def say(tx: Session, thread_id: int, card: Card, *, dedupe_key: str, at: datetime, edit_key: str | None = None) -> None:
    """Put a card on its way. Saying one dedupe key twice says it once."""
    known = tx.exec(select(Outbox.id).where(Outbox.thread_id == thread_id, Outbox.dedupe_key == dedupe_key)).first()
    if known is not None:
        return
    tx.add(
        Outbox(thread_id=thread_id, dedupe_key=dedupe_key, edit_key=edit_key, card=card_to_json(card), created_at=at)
    )
    tx.flush()


def claim(
    tx: Session, *, surface: str, owner: str, now: datetime, lease_s: float, limit: int, thread: str | None = None
) -> list[Delivery]:
    """The first undelivered row of each thread of this surface (or of the one `thread`), oldest first.

    A thread whose first row is in hand or waits is left out: nothing overtakes. A row with an edit key takes the card
    of the newest row with that key, and the rows between are delivered with it.
    """
    other = aliased(Outbox)
    earlier = (
        select(col(other.id))
        .where(
            col(other.thread_id) == col(Outbox.thread_id),
            col(other.id) < col(Outbox.id),
            col(other.delivered_at).is_(None),
        )
        .exists()
    )
    query = (
        select(Outbox, Thread.external_id)
        .join(Thread, col(Thread.id) == col(Outbox.thread_id))
        .where(Thread.surface == surface, col(Outbox.delivered_at).is_(None), ~earlier)
        .where(true() if thread is None else col(Thread.external_id) == thread)
        .where(col(Outbox.lease_until).is_(None) | (col(Outbox.lease_until) <= now))
        .where(col(Outbox.not_before).is_(None) | (col(Outbox.not_before) <= now))
        .order_by(col(Outbox.id))
        .limit(limit)
        .with_for_update(skip_locked=True, of=Outbox)
    )
    return [_take(tx, row, external, owner, now, lease_s) for row, external in tx.exec(query).all()]


def delivered(tx: Session, row_id: int, owner: str, message_id: str, at: datetime) -> None:
    """The platform has taken it. Raises `LeaseLost`."""
    row = tx.get_one(Outbox, row_id)
    leases.check(row, owner)
    row.delivered_at, row.message_id, row.last_error = at, message_id, None
    leases.release(row)
    tx.add(row)


def failed(tx: Session, row_id: int, owner: str, error: str, retry_at: datetime) -> None:
    """The platform has not taken it; it is tried again from `retry_at` on. Raises `LeaseLost`."""
    row = tx.get_one(Outbox, row_id)
    leases.check(row, owner)
    row.tries, row.last_error, row.not_before = row.tries + 1, storable_text(error[:_ERROR_LENGTH]), retry_at
    leases.release(row)
    tx.add(row)


def _take(tx: Session, row: Outbox, external: str, owner: str, now: datetime, lease_s: float) -> Delivery:
    if row.edit_key is not None:
        _take_newer_edits(tx, row, now)
    leases.take(row, owner, now, lease_s)
    tx.add(row)
    return Delivery(id_of(row), external, row.card, row.tries, _posted_as(tx, row))


def _take_newer_edits(tx: Session, row: Outbox, now: datetime) -> None:
    query = (
        select(Outbox)
        .where(Outbox.thread_id == row.thread_id, Outbox.edit_key == row.edit_key, col(Outbox.id) > id_of(row))
        .where(col(Outbox.delivered_at).is_(None))
        .order_by(col(Outbox.id))
    )
    for newer in tx.exec(query).all():
        row.card = newer.card
        newer.delivered_at, newer.last_error = now, f"delivered with {row.id}"
        tx.add(newer)


def _posted_as(tx: Session, row: Outbox) -> str | None:
    """The message that an earlier row of this edit key became; a row that the platform refused became none."""
    if row.edit_key is None:
        return None
    query = (
        select(Outbox.message_id)
        .where(Outbox.thread_id == row.thread_id, Outbox.edit_key == row.edit_key, col(Outbox.message_id) != "")
        .order_by(col(Outbox.id).desc())
        .limit(1)
    )
    return tx.exec(query).first()
