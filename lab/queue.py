"""The queue: which run is next, and who has it in hand until the machine does."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from lab import leases
from lab.errors import LeaseLost
from lab.ids import id_of
from lab.schema import Attempt, Run
from lab.states import ATTEMPT_LIVE, AttemptState, RunState
from lab.transitions import end_attempt, move_run, start_attempt, submit_attempt

_PAGE = 100
_MOST_LOOKED_AT = 2000
"""Runs asked whether they fit, before a turn gives up: the write lock is held meanwhile."""


@dataclass(frozen=True)
class PreparedJob:
    """The job of an attempt, complete before anything touches a machine."""

    backend: str
    settings: Mapping[str, Any]
    job: Mapping[str, Any]
    digest: str


@dataclass(frozen=True)
class Claim:
    """A run in hand with the attempt that was written for it."""

    run_id: int
    attempt_id: int
    key: str
    backend: str
    job: Mapping[str, Any]


def claim_next(
    tx: Session,
    *,
    owner: str,
    now: datetime,
    lease_s: float,
    fits: Callable[[Run], bool],
    prepare: Callable[[Run, int], PreparedJob],
) -> Claim | None:
    """Take the next queued run that fits, and write its attempt with a fresh key.

    The order is priority, then the time of queueing, then the place in the plan.
    """
    run = next((run for run in _waiting(tx, now) if fits(run)), None)
    if run is None:
        return None
    leases.take(run, owner, now, lease_s)
    move_run(tx, run, RunState.SUBMITTING, actor="labhand", why="its turn", at=now)
    attempt = _new_attempt(tx, run, now, prepare)
    return _claim(run, attempt)


def heartbeat(tx: Session, claim: Claim, *, owner: str, now: datetime, lease_s: float) -> None:
    """The run is still being submitted. Raises `LeaseLost`."""
    run, _attempt = _held(tx, claim, owner)
    leases.extend(tx, run, owner, now, lease_s)


def submitted(tx: Session, claim: Claim, *, owner: str, handle: Mapping[str, Any], at: datetime) -> None:
    """The machine has the job. Raises `LeaseLost` when the run is not `owner`'s to submit under this key any more."""
    run, attempt = _held(tx, claim, owner)
    submit_attempt(tx, attempt, handle, at=at)
    move_run(tx, run, RunState.RUNNING, actor="labhand", why=f"submitted to {claim.backend}", at=at)


def return_to_queue(
    tx: Session, claim: Claim, *, owner: str, why: str, at: datetime, not_before: datetime | None = None
) -> None:
    """Give back a run whose job is known not to be on any machine; it costs no retry. Raises `LeaseLost`."""
    run, attempt = _held(tx, claim, owner)
    end_attempt(tx, attempt, AttemptState.CANCELLED, at=at)
    run.not_before = not_before
    move_run(tx, run, RunState.QUEUED, actor="labhand", why=why, at=at)


def seen_running(tx: Session, attempt: Attempt, *, at: datetime) -> None:
    """The machine has started the job."""
    start_attempt(tx, attempt, at=at)


def claimed(tx: Session, claim: Claim) -> tuple[Run, Attempt]:
    """The rows of a claim."""
    return tx.get_one(Run, claim.run_id), tx.get_one(Attempt, claim.attempt_id)


def take_over(tx: Session, *, owner: str, now: datetime, lease_s: float) -> list[Claim]:
    """Runs being submitted whose lease ran out, now in the hands of `owner`."""
    query = (
        select(Run, Attempt)
        .join(Attempt, col(Attempt.run_id) == col(Run.id))
        .where(Run.state == RunState.SUBMITTING, col(Run.lease_until) <= now)
        .where(Attempt.state == AttemptState.PREPARED)
        .with_for_update(skip_locked=True)
    )
    found: list[Claim] = []
    for run, attempt in tx.exec(query).all():
        leases.take(run, owner, now, lease_s)
        tx.add(run)
        found.append(_claim(run, attempt))
    return found


def live_attempts(tx: Session) -> list[tuple[Run, Attempt]]:
    """The attempts that hold machines, or are about to."""
    live = [state.value for state in ATTEMPT_LIVE]
    query = select(Run, Attempt).join(Attempt, col(Attempt.run_id) == col(Run.id)).where(col(Attempt.state).in_(live))
    return [(run, attempt) for run, attempt in tx.exec(query).all()]


def _waiting(tx: Session, now: datetime) -> Iterator[Run]:
    """Queued runs in the order of the queue, read as they are asked for."""
    query = (
        select(Run)
        .where(Run.state == RunState.QUEUED, col(Run.not_before).is_(None) | (col(Run.not_before) <= now))
        .order_by(col(Run.priority).desc(), col(Run.queued_at), col(Run.plan_id), col(Run.position))
        .limit(_PAGE)
        .with_for_update(skip_locked=True)
    )
    for start in range(0, _MOST_LOOKED_AT, _PAGE):
        page = tx.exec(query.offset(start)).all()
        yield from page
        if len(page) < _PAGE:
            return


def _held(tx: Session, claim: Claim, owner: str) -> tuple[Run, Attempt]:
    """The rows of a claim that is still `owner`'s, its attempt not yet submitted or ended."""
    run, attempt = claimed(tx, claim)
    leases.check(run, owner)
    if attempt.state != AttemptState.PREPARED:
        raise LeaseLost(f"Attempt {attempt.key} is {attempt.state} already.")
    return run, attempt


def _new_attempt(tx: Session, run: Run, now: datetime, prepare: Callable[[Run, int], PreparedJob]) -> Attempt:
    run_id = id_of(run)
    last = tx.exec(select(Attempt.number).where(Attempt.run_id == run_id).order_by(col(Attempt.number).desc())).first()
    number = (last or 0) + 1
    prepared = prepare(run, number)
    attempt = Attempt(
        run_id=run_id,
        number=number,
        key=f"r{run_id}-a{number}-{secrets.token_hex(4)}",
        backend=prepared.backend,
        settings=dict(prepared.settings),
        job=dict(prepared.job),
        job_digest=prepared.digest,
        created_at=now,
    )
    tx.add(attempt)
    tx.flush()
    return attempt


def _claim(run: Run, attempt: Attempt) -> Claim:
    return Claim(id_of(run), id_of(attempt), attempt.key, attempt.backend, attempt.job)
