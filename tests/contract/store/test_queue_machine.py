"""The queue under any order of claims, crashes, expiries, failures and cancellations."""

import contextlib
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from sqlmodel import Session, col, select

from lab import audit, queue
from lab.errors import LeaseLost
from lab.queue import Claim
from lab.schema import Attempt, Plan, Run
from lab.states import ATTEMPT_LIVE, RUN_ENDED, AttemptState, PlanState, RunState
from lab.store import Store
from lab.transitions import end_attempt, move_run
from tests.support.labrows import NOW, claim_in, make_plan

WORKERS = ("one", "two")
LEASE_S = 30.0
NewUrl = Callable[[], contextlib.AbstractContextManager[str]]


class QueueMachine(RuleBasedStateMachine):
    """Two workers over one database, and a machine that starts one job a key."""

    def __init__(self, new_url: NewUrl) -> None:
        super().__init__()
        self.stack = contextlib.ExitStack()
        self.store = Store(self.stack.enter_context(new_url()))
        self.stack.callback(self.store.close)
        self.now = NOW
        self.hands: dict[str, list[Claim]] = {name: [] for name in WORKERS}
        self.jobs: set[str] = set()
        make_plan(self.store, 1)

    @rule(runs=st.integers(1, 2))
    def plan(self, runs: int) -> None:
        make_plan(self.store, runs, at=self.now)

    @rule(seconds=st.sampled_from([1.0, 20.0, 31.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(worker=st.sampled_from(WORKERS))
    def claims(self, worker: str) -> None:
        with self.store.write() as tx:
            found = claim_in(tx, worker, self.now, LEASE_S)
        self.hands[worker] += [found] if found else []

    @rule(worker=st.sampled_from(WORKERS))
    def works(self, worker: str) -> None:
        """The common case: what is claimed is submitted."""
        self.claims(worker)
        self.submits(worker, "")

    @rule(worker=st.sampled_from(WORKERS))
    def takes_over(self, worker: str) -> None:
        with self.store.write() as tx:
            self.hands[worker] += queue.take_over(tx, owner=worker, now=self.now, lease_s=LEASE_S)

    @rule(other=st.sampled_from(WORKERS))
    def one_stalls(self, other: str) -> None:
        """A worker sleeps past its leases, and does not know that the other has taken over."""
        self.time_passes(31.0)
        self.takes_over(other)

    @rule(worker=st.sampled_from(WORKERS), dies=st.sampled_from(["", "before", "between"]))
    def submits(self, worker: str, dies: str) -> None:
        """The machine is asked by key first; a worker may die before or after the machine has the job."""
        if not self.hands[worker] or dies == "before":
            self.hands[worker] = []
            return
        claim = self.hands[worker].pop(0)
        if self._is_submitted_elsewhere(claim):
            return
        self.jobs.add(claim.key)
        if dies == "between":
            self.hands[worker] = []
        else:
            self._store_handle(claim, worker)

    @rule(worker=st.sampled_from(WORKERS))
    def lives_on(self, worker: str) -> None:
        for claim in list(self.hands[worker]):
            held = self._guarded(
                claim, worker, partial(queue.heartbeat, claim=claim, owner=worker, now=self.now, lease_s=LEASE_S)
            )
            if not held:
                self.hands[worker].remove(claim)

    @rule(worker=st.sampled_from(WORKERS))
    def gives_back(self, worker: str) -> None:
        known_absent = [claim for claim in self.hands[worker] if claim.key not in self.jobs]
        for claim in known_absent[:1]:
            self.hands[worker].remove(claim)
            back = partial(queue.return_to_queue, claim=claim, owner=worker, why="the machine is away", at=self.now)
            self._guarded(claim, worker, back)

    @rule(pick=st.integers(0, 9), end=st.sampled_from([AttemptState.SUCCEEDED, AttemptState.FAILED, "preempted"]))
    def job_ends(self, pick: int, end: str) -> None:
        with self.store.write() as tx:
            at_work = [pair for pair in queue.live_attempts(tx) if pair[0].state == RunState.RUNNING]
            if not at_work:
                return
            run, attempt = at_work[pick % len(at_work)]
            if pick % 2 and attempt.state == AttemptState.SUBMITTED:
                queue.seen_running(tx, attempt, at=self.now)
            end_attempt(tx, attempt, AttemptState(end), at=self.now)
            move_run(tx, run, RunState(end), actor="labhand", why="seen", at=self.now)
            may_retry = end == AttemptState.FAILED and run.retries < run.max_retries
            run.retries += may_retry
            if may_retry or end == AttemptState.PREEMPTED:
                move_run(tx, run, RunState.QUEUED, actor="labhand", why="again", at=self.now)

    @rule(pick=st.integers(0, 9))
    def cancels(self, pick: int) -> None:
        with self.store.write() as tx:
            queued = tx.exec(select(Run).where(Run.state == RunState.QUEUED)).all()
            if queued:
                move_run(tx, queued[pick % len(queued)], RunState.CANCELLED, actor="ada", why="no", at=self.now)

    @invariant()
    def rows_agree(self) -> None:
        with self.store.read() as tx:
            plans, runs = tx.exec(select(Plan)).all(), tx.exec(select(Run)).all()
            attempts = tx.exec(select(Attempt).order_by(col(Attempt.id))).all()
        by_run = {run.id: [one for one in attempts if one.run_id == run.id] for run in runs}
        for run in runs:
            check_run(run, by_run[run.id])
        for plan in plans:
            over = all(run.state in RUN_ENDED for run in runs if run.plan_id == plan.id)
            assert (plan.state == PlanState.DONE) == over
        assert self.jobs <= {attempt.key for attempt in attempts}
        alive = {attempt.key: attempt.run_id for attempt in attempts if attempt.state in ATTEMPT_LIVE}
        assert max(Counter(alive[key] for key in self.jobs if key in alive).values(), default=0) <= 1

    def teardown(self) -> None:
        """Whatever happened, what is left can be brought to its end, and the trail holds."""
        self.hands = {name: [] for name in WORKERS}
        for _ in range(200):
            self.time_passes(31.0)
            self.takes_over("two")
            self.claims("two")
            while self.hands["two"]:
                self.submits("two", "")
            self.job_ends(1, AttemptState.SUCCEEDED)
            if not self._open_runs():
                break
        assert self._open_runs() == 0
        self.rows_agree()
        with self.store.read() as tx:
            assert audit.verify(tx).first_broken is None
        self.stack.close()

    def _open_runs(self) -> int:
        with self.store.read() as tx:
            return len(tx.exec(select(Run.id).where(col(Run.state).not_in([s.value for s in RUN_ENDED]))).all())

    def _is_submitted_elsewhere(self, claim: Claim) -> bool:
        """A machine is asked for a key only while its attempt still waits for one."""
        with self.store.read() as tx:
            return queue.claimed(tx, claim)[1].state != AttemptState.PREPARED

    def _store_handle(self, claim: Claim, worker: str) -> None:
        handle = {"ref": claim.key}
        submitted = partial(queue.submitted, claim=claim, owner=worker, handle=handle, at=self.now)
        self._guarded(claim, worker, submitted)

    def _guarded(self, claim: Claim, worker: str, act: Callable[[Session], None]) -> bool:
        """Do what only the holder of a claim may do; it must work for the holder, and for nobody else."""
        with self.store.read() as tx:
            run, attempt = queue.claimed(tx, claim)
            holds = run.lease_owner == worker and attempt.state == AttemptState.PREPARED
        try:
            with self.store.write() as tx:
                act(tx)
        except LeaseLost:
            assert not holds
            return False
        assert holds
        return True


def check_run(run: Run, attempts: list[Attempt]) -> None:
    """What holds for one run and its attempts between any two transactions."""
    live = [AttemptState(attempt.state) for attempt in attempts if attempt.state in ATTEMPT_LIVE]
    expected = {
        RunState.SUBMITTING: [[AttemptState.PREPARED]],
        RunState.RUNNING: [[AttemptState.SUBMITTED], [AttemptState.RUNNING]],
    }.get(RunState(run.state), [[]])
    assert live in expected
    assert [attempt.number for attempt in attempts] == list(range(1, len(attempts) + 1))
    assert (run.lease_owner is not None) == (run.state == RunState.SUBMITTING)
    assert (run.ended_at is not None) == (run.state in RUN_ENDED)
    failures = sum(attempt.state == AttemptState.FAILED for attempt in attempts)
    assert run.retries <= run.max_retries
    assert failures == run.retries + (run.state == RunState.FAILED)


@pytest.mark.slow
def test_no_order_of_events_loses_or_doubles_a_run(new_url: NewUrl, kind: str) -> None:
    run_state_machine_as_test(
        lambda: QueueMachine(new_url),
        settings=settings(
            max_examples=50 if kind == "sqlite" else 12,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
