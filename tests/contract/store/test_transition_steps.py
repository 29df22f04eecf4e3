"""States, their dates, and what follows from a whole transaction."""

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from lab import audit, queue
from lab.errors import Conflict, IllegalTransition, LeaseLost
from lab.queue import Claim
from lab.schema import Attempt, Outbox, Plan, Run
from lab.states import AttemptState, PlanState, RunState
from lab.store import Store
from lab.transitions import PLAN_STEPS, end_attempt, move_plan, move_run
from tests.support.labrows import claim, later, make_plan, must_claim, runs_in


def submit(store: Store, found: Claim, at: float = 1) -> None:
    with store.write() as tx:
        queue.submitted(tx, found, owner="w", handle={"ref": "1"}, at=later(at))


def end(store: Store, found: Claim, *states: RunState, at: float = 2) -> None:
    """End the claim's attempt, and take its run through the states in one transaction."""
    with store.write() as tx:
        run, attempt = queue.claimed(tx, found)
        end_attempt(tx, attempt, AttemptState(states[0]), at=later(at))
        for state in states:
            move_run(tx, run, state, actor="labhand", why="seen", at=later(at))


def plan_state(store: Store) -> str:
    with store.read() as tx:
        return tx.exec(select(Plan.state)).one()


def test_a_plan_is_not_done_while_its_last_run_is_tried_again(store: Store) -> None:
    make_plan(store, 2)
    first, last = must_claim(store), must_claim(store)
    for found in (first, last):
        submit(store, found)
    end(store, first, RunState.SUCCEEDED)
    end(store, last, RunState.FAILED, RunState.QUEUED)
    assert plan_state(store) == PlanState.ACTIVE
    again = must_claim(store, at=later(3))
    assert again.key.startswith(f"r{last.run_id}-a2-")
    submit(store, again)
    end(store, again, RunState.SUCCEEDED, at=9)
    with store.read() as tx:
        plan = tx.exec(select(Plan)).one()
        assert (plan.state, plan.ended_at) == (PlanState.DONE, later(9))
        assert [row.action for row in audit.show(tx, subject=f"plan:{plan.id}")] == ["plan.active", "plan.done"]


def test_a_transaction_says_a_plans_progress_once(store: Store) -> None:
    make_plan(store, 20)
    with store.read() as tx:
        cards = tx.exec(select(Outbox).where(col(Outbox.edit_key).is_not(None))).all()
    assert len(cards) == 1
    assert cards[0].card["fields"][0] == {"name": "queued", "value": "20"}


def test_each_step_is_dated(store: Store) -> None:
    make_plan(store, 1)
    found = must_claim(store, at=later(1))
    submit(store, found, at=2)
    end(store, found, RunState.PREEMPTED, RunState.QUEUED, at=3)
    [run] = runs_in(store)
    assert (run.queued_at, run.started_at, run.ended_at, run.lease_owner) == (later(0), later(2), None, None)
    again = must_claim(store, at=later(4))
    submit(store, again, at=5)
    end(store, again, RunState.LOST, at=6)
    assert runs_in(store)[0].ended_at == later(6)
    with store.write() as tx:
        move_run(tx, tx.get_one(Run, run.id), RunState.RUNNING, actor="labhand", why="it is there", at=later(7))
    assert runs_in(store)[0].ended_at is None


def test_every_step_is_in_the_trail_with_its_key(store: Store) -> None:
    make_plan(store, 1)
    found = must_claim(store)
    submit(store, found)
    with store.write() as tx:
        queue.seen_running(tx, queue.claimed(tx, found)[1], at=later(2))
    end(store, found, RunState.SUCCEEDED)
    with store.read() as tx:
        rows = audit.show(tx, subject=f"run:{found.run_id}")
    assert [row.action for row in rows] == [
        "run.queued", "run.submitting", "attempt.submitted", "run.running", "attempt.running", "attempt.succeeded",
        "run.succeeded",
    ]  # fmt: skip
    assert rows[2].detail["key"] == found.key


def test_an_attempt_ends_once(store: Store) -> None:
    make_plan(store, 1)
    found = must_claim(store)
    end(store, found, RunState.FAILED)
    with pytest.raises(Conflict, match="has ended already"), store.write() as tx:
        end_attempt(tx, queue.claimed(tx, found)[1], AttemptState.LOST, at=later(3))


@pytest.mark.parametrize("before", PlanState)
@pytest.mark.parametrize("after", PlanState)
def test_a_plan_takes_only_the_steps_there_are(before: PlanState, after: PlanState) -> None:
    plan = Plan(state=before.value)
    if after not in PLAN_STEPS[before]:
        with pytest.raises(IllegalTransition, match=f"is {before} can't become {after}"):
            move_plan(None, plan, after, actor="a", why="", at=later(0))  # type: ignore[arg-type]
        assert plan.state == before
    assert PlanState.ACTIVE not in PLAN_STEPS[PlanState.DENIED] | PLAN_STEPS[PlanState.EXPIRED]


def test_what_goes_back_to_the_queue_costs_no_retry_and_keeps_its_place(store: Store) -> None:
    make_plan(store, 2)
    first = must_claim(store)
    with store.write() as tx:
        queue.return_to_queue(tx, first, owner="w", why="away", at=later(1), not_before=later(60))
    run = runs_in(store)[0]
    assert (run.state, run.retries, run.not_before) == (RunState.QUEUED, 0, later(60))
    assert must_claim(store, at=later(2)).run_id != first.run_id
    again = must_claim(store, at=later(61))
    assert (again.run_id, again.key.split("-")[1]) == (first.run_id, "a2")
    with pytest.raises(LeaseLost, match="is cancelled already"), store.write() as tx:
        queue.submitted(tx, first, owner="w", handle={}, at=later(62))


def test_a_heartbeat_keeps_a_run_from_being_taken_over(store: Store) -> None:
    make_plan(store, 1)
    found = must_claim(store)
    with store.write() as tx:
        queue.heartbeat(tx, found, owner="w", now=later(25), lease_s=30)
    with store.write() as tx:
        assert queue.take_over(tx, owner="v", now=later(50), lease_s=30) == []
        assert len(queue.take_over(tx, owner="v", now=later(56), lease_s=30)) == 1
    with pytest.raises(LeaseLost), store.write() as tx:
        queue.heartbeat(tx, found, owner="w", now=later(57), lease_s=30)


def test_a_run_that_fits_is_found_behind_hundreds_that_do_not(store: Store) -> None:
    make_plan(store, 620)
    asked: list[int] = []

    def fits(run: Run) -> bool:
        asked.append(run.position)
        return run.position == 610

    with store.write() as tx:
        prepared = queue.PreparedJob("fake", {}, {}, "d")
        found = queue.claim_next(
            tx, owner="w", now=later(0), lease_s=30, fits=fits, prepare=lambda _run, _number: prepared
        )
    assert found is not None
    assert asked == list(range(611))
    assert claim(store) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"state": "submitting"},
        {"state": "succeeded"},
        {"state": "nonsense"},
        {"lease_owner": "w"},
        {"retries": 4},
    ],
)
def test_the_database_refuses_a_run_that_can_not_be(store: Store, change: dict[str, object]) -> None:
    make_plan(store, 1)
    with pytest.raises(IntegrityError), store.write() as tx:
        tx.connection().execute(update(Run).values(**change))


def test_the_database_refuses_a_submitted_attempt_without_a_handle(store: Store) -> None:
    make_plan(store, 1)
    found = must_claim(store)
    submitted = update(Attempt).where(col(Attempt.id) == found.attempt_id).values(state=AttemptState.SUBMITTED.value)
    with pytest.raises(IntegrityError), store.write() as tx:
        tx.connection().execute(submitted)
