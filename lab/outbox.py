"""What is on its way to people: cards are rows until a surface has taken them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from lab import leases
from lab.cards import Card, card_to_json
from lab.ids import id_of
from lab.schema import Outbox, Thread


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


def claim(tx: Session, *, surface: str, owner: str, now: datetime, lease_s: float, limit: int) -> list[Delivery]:
    """The next row of each thread of this surface, in order; of undelivered edits of one message only the newest."""
    query = (
        select(Outbox, Thread.external_id)
        .join(Thread, col(Thread.id) == col(Outbox.thread_id))
        .where(Thread.surface == surface, col(Outbox.delivered_at).is_(None))
        .order_by(col(Outbox.id))
        .limit(limit * 20)
    )
    waiting: dict[int, list[tuple[Outbox, str]]] = {}
    for row, external in tx.exec(query).all():
        waiting.setdefault(row.thread_id, []).append((row, external))
    found: list[Delivery] = []
    for rows in waiting.values():
        if len(found) < limit and (delivery := _next_of(tx, rows, owner, now, lease_s)) is not None:
            found.append(delivery)
    return found


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
    row.tries, row.last_error, row.not_before = row.tries + 1, error[:500], retry_at
    leases.release(row)
    tx.add(row)


def _next_of(tx: Session, rows: list[tuple[Outbox, str]], owner: str, now: datetime, lease_s: float) -> Delivery | None:
    first, external = rows[0]
    if not leases.is_free(first, now) or (first.not_before is not None and first.not_before > now):
        return None
    newest = first
    if first.edit_key is not None:
        same = [row for row, _external in rows if row.edit_key == first.edit_key]
        newest = same[-1]
        for row in same[:-1]:
            row.delivered_at, row.last_error = now, f"replaced by {newest.id}"
            tx.add(row)
    leases.take(newest, owner, now, lease_s)
    tx.add(newest)
    return Delivery(id_of(newest), external, newest.card, newest.tries, _posted_as(tx, newest))


def _posted_as(tx: Session, row: Outbox) -> str | None:
    if row.edit_key is None:
        return None
    query = (
        select(Outbox.message_id)
        .where(Outbox.thread_id == row.thread_id, Outbox.edit_key == row.edit_key, col(Outbox.message_id).is_not(None))
        .order_by(col(Outbox.id).desc())
        .limit(1)
    )
    return tx.exec(query).first() or None
