"""Giving queued runs to machines, and finding out after a crash whether one was given."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from sqlmodel import Session

from backends.base import JobHandle, JobSpec, spec_digest
from backends.errors import BackendError, JobRejected
from lab import leases, queue
from lab.control.capacity import free_capacity
from lab.errors import LeaseLost
from lab.jobs import effective_resources, effective_settings, handle_to_json, job_spec, spec_from_json, spec_to_json
from lab.plans.load import plan_of, recipe_of
from lab.queue import Claim, PreparedJob
from lab.schema import Run
from lab.services import Lab
from lab.states import AttemptState, RunState
from lab.transitions import end_attempt, move_run

_LOG = logging.getLogger(__name__)
_MOST_AT_ONCE = 64


@dataclass(frozen=True)
class Worker:
    """Who holds the leases, and for how long one lasts without word."""

    owner: str
    lease_s: float = 30.0


def dispatch(lab: Lab, worker: Worker) -> int:
    """Submit queued runs as long as one fits; returns how many were submitted."""
    with lab.store.read() as tx:
        live = [attempt for _run, attempt in queue.live_attempts(tx)]
    free = free_capacity(lab.backends, live)

    def fits(run: Run, backend: str) -> bool:
        capacity = free.get(backend)
        return capacity is not None and capacity.take(effective_resources(run.resources, run.remedies))

    submitted = 0
    for _ in range(_MOST_AT_ONCE):
        claim = _claim(lab, worker, fits)
        if claim is None:
            break
        submitted += submit(lab, worker, claim)
    return submitted


def recover(lab: Lab, worker: Worker) -> int:
    """Take over runs whose submission was cut short: ask the machine by key, submit only what it does not know."""
    now = lab.clock()
    with lab.store.write() as tx:
        claims = queue.take_over(tx, owner=worker.owner, now=now, lease_s=worker.lease_s)
    for claim in claims:
        backend = lab.backend(claim.backend)
        try:
            handle = backend.find(claim.key)
        except BackendError as error:
            _LOG.warning("can't tell whether %s was submitted: %s", claim.key, error)
            continue
        if handle is not None:
            _apply(lab, worker, claim, handle)
        else:
            submit(lab, worker, claim)
    return len(claims)


def abandon_foreign_leases(lab: Lab, owner: str) -> None:
    """End the leases of processes that are gone. Only the one process that holds the home may call this."""
    now = lab.clock()
    with lab.store.write() as tx:
        leases.expire_others(tx, owner, now)


def submit(lab: Lab, worker: Worker, claim: Claim) -> bool:
    """Submit a claimed attempt. Whatever went wrong is either final, or left for `recover`."""
    backend = lab.backend(claim.backend)
    try:
        handle = backend.submit(backend.plan(spec_from_json(claim.job)), claim.key)
    except JobRejected as error:
        _reject(lab, claim, error)
        return False
    except BackendError as error:
        _LOG.warning("submission of %s is uncertain: %s", claim.key, error)
        return False
    return _apply(lab, worker, claim, handle)


def _claim(lab: Lab, worker: Worker, fits: Callable[[Run, str], bool]) -> Claim | None:
    with lab.store.write() as tx:
        return queue.claim_next(
            tx,
            owner=worker.owner,
            now=lab.clock(),
            lease_s=worker.lease_s,
            fits=lambda run: fits(run, plan_of(tx, run.plan_id).backend),
            prepare=lambda run, number: _prepare(lab, tx, run, number),
        )


def _prepare(lab: Lab, tx: Session, run: Run, number: int) -> PreparedJob:
    plan = plan_of(tx, run.plan_id)
    name = f"labhand-p{plan.id}-r{run.id}-a{number}"
    spec = job_spec(recipe_of(plan), name, run.settings, run.resources, run.remedies, run.remedies.get("resume"))
    settings = effective_settings(run.settings, run.remedies)
    return PreparedJob(plan.backend, settings, spec_to_json(spec), _digest(lab, plan.backend, spec))


def _digest(lab: Lab, backend: str, spec: JobSpec) -> str:
    """The digest of the rendered job; of the bare spec where the machine refuses it, which `submit` then tells."""
    try:
        return lab.backend(backend).plan(spec).digest
    except BackendError:
        return spec_digest(backend, spec, "")


def _apply(lab: Lab, worker: Worker, claim: Claim, handle: JobHandle) -> bool:
    try:
        with lab.store.write() as tx:
            queue.submitted(tx, claim, owner=worker.owner, handle=handle_to_json(handle), at=lab.clock())
    except LeaseLost:
        _LOG.info("another worker took over %s", claim.key)
        return False
    return True


def _reject(lab: Lab, claim: Claim, error: JobRejected) -> None:
    why = f"{error} {error.next_step or ''}".strip()
    with lab.store.write() as tx:
        run, attempt = queue.claimed(tx, claim)
        end_attempt(tx, attempt, AttemptState.FAILED, at=lab.clock())
        move_run(tx, run, RunState.FAILED, actor="labhand", why=f"refused by {claim.backend}: {why}", at=lab.clock())
