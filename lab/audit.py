"""The audit trail: append-only rows, each chained to the one before by SHA-256."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlmodel import Session, col, select

from lab.columns import storable, storable_text
from lab.ids import id_of
from lab.schema import Audit

GENESIS = "0" * 64
_PAGE = 1000


@dataclass(frozen=True)
class Verification:
    """How many rows hold; the first that does not, and what is wrong with it."""

    count: int
    first_broken: int | None = None
    problem: str = ""


def record(
    tx: Session,
    *,
    actor: str,
    action: str,
    subject: str,
    at: datetime,
    why: str = "",
    source: str = "",
    detail: Mapping[str, Any] | None = None,
) -> Audit:
    """Append one row in the transaction of what it tells of.

    The store's write lock keeps two writers from following the same row; a constraint would refuse the second.
    """
    previous = tx.exec(select(Audit.hash).order_by(col(Audit.id).desc()).limit(1)).first() or GENESIS
    row = Audit(
        at=at.astimezone(UTC),
        actor=storable_text(actor),
        action=action,
        subject=subject,
        why=storable_text(why),
        source=storable_text(source),
        detail=json.loads(json.dumps(storable(detail or {}))),
        previous_hash=previous,
        hash="",
    )
    row.hash = row_hash(row)
    tx.add(row)
    tx.flush()
    return row


def row_hash(row: Audit) -> str:
    """SHA-256 over the row's canonical JSON, the previous hash included."""
    at = row.at.isoformat()
    fields = [at, row.actor, row.action, row.subject, row.why, row.source, row.detail, row.previous_hash]
    return hashlib.sha256(json.dumps(fields, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def verify(tx: Session) -> Verification:
    """Walk the whole chain, a page at a time."""
    previous, count, last = GENESIS, 0, 0
    while True:
        query = select(Audit).where(col(Audit.id) > last).order_by(col(Audit.id)).limit(_PAGE)
        rows = tx.exec(query).all()
        if not rows:
            return Verification(count)
        for row in rows:
            if row.previous_hash != previous:
                return Verification(count, row.id, "the row before it was changed or removed")
            if row.hash != row_hash(row):
                return Verification(count, row.id, "the row itself was changed")
            previous, count, last = row.hash, count + 1, id_of(row)


def show(
    tx: Session,
    *,
    subject: str | None = None,
    actor: str | None = None,
    since: datetime | None = None,
    limit: int = 100,
) -> Sequence[Audit]:
    """The newest rows about a subject, by an actor, since a time; oldest first."""
    query = select(Audit).order_by(col(Audit.id).desc()).limit(limit)
    if subject is not None:
        query = query.where(Audit.subject == subject)
    if actor is not None:
        query = query.where(Audit.actor == actor)
    if since is not None:
        query = query.where(col(Audit.at) >= since)
    return list(reversed(tx.exec(query).all()))
