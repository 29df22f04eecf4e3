"""The audit trail: append-only rows, each chained to the one before by SHA-256."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlmodel import Session, col, select

from lab.schema import Audit

GENESIS = "0" * 64
_PAGE = 1000
_CHAIN_LOCK = 7_201_331
"""Advisory lock on PostgreSQL that keeps two writers from forking the chain."""


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
    """Append one row in the transaction of what it tells of."""
    if tx.get_bind().dialect.name == "postgresql":
        tx.connection().execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CHAIN_LOCK})
    previous = tx.exec(select(Audit.hash).order_by(col(Audit.id).desc()).limit(1)).first() or GENESIS
    row = Audit(
        at=at,
        actor=actor,
        action=action,
        subject=subject,
        why=why,
        source=source,
        detail=dict(detail or {}),
        previous_hash=previous,
        hash="",
    )
    row.hash = row_hash(row)
    tx.add(row)
    tx.flush()
    return row


def row_hash(row: Audit) -> str:
    """SHA-256 over the row's canonical JSON, the previous hash included."""
    fields = [
        row.at.isoformat(),
        row.actor,
        row.action,
        row.subject,
        row.why,
        row.source,
        row.detail,
        row.previous_hash,
    ]
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
            problem = _problem(row, previous)
            if problem:
                return Verification(count, row.id, problem)
            previous, count, last = row.hash, count + 1, row.id or 0
        tx.expunge_all()


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


def _problem(row: Audit, previous: str) -> str:
    if row.previous_hash != previous:
        return "the row before it was changed or removed"
    if row.hash != row_hash(row):
        return "the row itself was changed"
    return ""
