"""What the store promises, on SQLite and on PostgreSQL."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError, IntegrityError
from sqlmodel import select

import lab.migrations
from lab import audit, inbox, outbox, people, queue
from lab.cards import Card
from lab.errors import IllegalTransition, LeaseLost, StoreUnavailable
from lab.ids import id_of
from lab.migrations import HEAD
from lab.queue import PreparedJob
from lab.schema import Approval, Attempt, Plan, Project, Row, Run
from lab.states import AttemptState, PlanState, RunState
from lab.store import Store, sqlite_url
from lab.transitions import move_plan, move_run

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def make_plan(store: Store, runs: int, *, queued: bool = True) -> int:
    with store.write() as tx:
        user = people.user_for(tx, surface="t", external_id="ada", name="ada", role="researcher", at=NOW)
        thread = people.thread_for(tx, surface="t", external_id="1", at=NOW)
        plan = Plan(
            project_id=thread.project_id, thread_id=id_of(thread), owner_id=id_of(user), goal="g", recipe="r",
            recipe_snapshot={}, strategy="grid", design={"factors": {}}, estimate={}, digest="d", backend="fake",
            created_at=NOW,
        )  # fmt: skip
        tx.add(plan)
        tx.flush()
        for position in range(runs):
            run = Run(
                plan_id=id_of(plan), position=position, settings={"x": position}, settings_digest=str(position),
                remedies={}, resources={}, created_at=NOW,
            )  # fmt: skip
            tx.add(run)
            tx.flush()
            if queued:
                move_run(tx, run, RunState.QUEUED, actor="ada", why="go", at=NOW)
        if queued:
            move_plan(tx, plan, PlanState.ACTIVE, actor="ada", why="go", at=NOW)
        return id_of(plan)


def claim(store: Store, owner: str = "w", at: datetime = NOW) -> queue.Claim | None:
    with store.write() as tx:
        return queue.claim_next(
            tx, owner=owner, now=at, lease_s=30, fits=lambda _run: True,
            prepare=lambda _run, _number: PreparedJob("fake", {}, {}, "digest"),
        )  # fmt: skip


def test_the_migrations_make_the_schema_of_the_code(store: Store) -> None:
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Row.metadata) == []
    assert ScriptDirectory(str(Path(lab.migrations.__file__).parent)).get_current_head() == HEAD


def test_migrating_twice_changes_nothing_and_two_may_start_at_once(url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = [Store(url) for _ in range(4)]
        list(pool.map(Store.migrate, stores))
    for store in stores:
        store.close()


def test_a_write_that_fails_keeps_nothing(store: Store) -> None:
    def fail() -> None:
        with store.write() as tx:
            people.default_project(tx, NOW)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.read() as tx:
        assert tx.exec(select(Project)).all() == []


def test_every_run_is_claimed_once_by_many_workers(store: Store) -> None:
    make_plan(store, 24)
    claimed: list[str] = []
    lock = threading.Lock()

    def work(owner: str) -> None:
        while (found := claim(store, owner)) is not None:
            with lock:
                claimed.append(f"{found.run_id}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, "abcd"))
    assert len(claimed) == 24
    assert max(Counter(claimed).values()) == 1


def test_one_run_has_one_live_attempt(store: Store) -> None:
    make_plan(store, 1)
    found = claim(store)
    assert found is not None
    again = Attempt(
        run_id=found.run_id, number=2, key="k2", backend="b", settings={}, job={}, job_digest="", created_at=NOW
    )
    with pytest.raises(IntegrityError), store.write() as tx:
        tx.add(again)


def test_a_lease_that_ran_out_is_taken_over_and_the_first_owner_has_lost_it(store: Store) -> None:
    make_plan(store, 1)
    first = claim(store, "one")
    assert first is not None
    with store.write() as tx:
        assert queue.take_over(tx, owner="two", now=later(10), lease_s=30) == []
    with store.write() as tx:
        taken = queue.take_over(tx, owner="two", now=later(31), lease_s=30)
    assert [t.key for t in taken] == [first.key]
    with pytest.raises(LeaseLost), store.write() as tx:
        queue.submitted(tx, first, owner="one", handle={"ref": "1"}, at=later(32))
    with store.write() as tx:
        queue.submitted(tx, taken[0], owner="two", handle={"ref": "1"}, at=later(32))
    with store.read() as tx:
        assert tx.get_one(Run, first.run_id).state == RunState.RUNNING
        assert tx.get_one(Attempt, first.attempt_id).state == AttemptState.SUBMITTED


def test_priority_goes_first_and_not_before_is_kept(store: Store) -> None:
    make_plan(store, 3)
    with store.write() as tx:
        runs = tx.exec(select(Run).order_by(Run.position)).all()  # type: ignore[arg-type]
        runs[0].not_before, runs[2].priority = later(60), 5
        tx.add_all(runs)
    order = [claim(store), claim(store), claim(store), claim(store, at=later(61))]
    assert [c and c.run_id for c in order] == [id_of(runs[2]), id_of(runs[1]), None, id_of(runs[0])]


def test_an_illegal_step_is_refused(store: Store) -> None:
    make_plan(store, 1, queued=False)
    with store.read() as tx:
        run = tx.exec(select(Run)).one()
        with pytest.raises(IllegalTransition):
            move_run(tx, run, RunState.SUCCEEDED, actor="x", why="", at=NOW)


def test_each_change_of_state_is_in_the_audit_trail_and_the_chain_holds(store: Store) -> None:
    make_plan(store, 2)
    with store.read() as tx:
        assert audit.verify(tx) == audit.Verification(3)
        assert [row.action for row in audit.show(tx)] == ["run.queued", "run.queued", "plan.active"]


def test_the_chain_is_not_forked_by_writers_at_once(store: Store) -> None:
    def write(name: str) -> None:
        for _ in range(10):
            with store.write() as tx:
                audit.record(tx, actor=name, action="a", subject="s", at=NOW)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))
    with store.read() as tx:
        assert audit.verify(tx) == audit.Verification(40)


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'eve'", "DELETE FROM audit"])
def test_the_database_itself_keeps_audit_rows(store: Store, statement: str) -> None:
    make_plan(store, 1)
    with pytest.raises(DatabaseError, match="kept"), store.engine.begin() as connection:
        connection.execute(text(statement))


def test_an_edited_row_is_named(store: Store) -> None:
    make_plan(store, 2)
    with store.engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            connection.execute(text("DROP TRIGGER audit_keeps_update"))
        else:
            connection.execute(text("DROP TRIGGER audit_keeps_rows ON audit"))
        connection.execute(text("UPDATE audit SET why = 'nothing' WHERE id = 2"))
    with store.read() as tx:
        found = audit.verify(tx)
    assert (found.first_broken, found.problem) == (2, "the row itself was changed")


def test_nobody_approves_their_own(store: Store) -> None:
    plan_id = make_plan(store, 1, queued=False)
    own = Approval(
        plan_id=plan_id, digest="d", state="granted", requested_by=1, decided_by=1, requested_at=NOW, expires_at=NOW
    )
    with pytest.raises(IntegrityError), store.write() as tx:
        tx.add(own)


def test_cards_leave_in_order_and_edits_are_coalesced(store: Store) -> None:
    with store.write() as tx:
        thread = id_of(people.thread_for(tx, surface="t", external_id="1", at=NOW))
        for number, edit in enumerate(["p", None, "p", "p"]):
            outbox.say(tx, thread, Card("c", text=str(number)), dedupe_key=str(number), at=NOW, edit_key=edit)
        outbox.say(tx, thread, Card("c", text="again"), dedupe_key="1", at=NOW)
    sent: list[tuple[str, str | None]] = []
    for tick in range(4):
        with store.write() as tx:
            for delivery in outbox.claim(tx, surface="t", owner="w", now=later(tick), lease_s=30, limit=10):
                sent.append((delivery.card["text"], delivery.message_id))
                outbox.delivered(tx, delivery.id, "w", f"m{delivery.id}", later(tick))
    assert [text for text, _message in sent] in (["3", "1"], ["1", "3"])
    assert len(sent) == 2


def test_an_edit_finds_the_message_that_it_edits(store: Store) -> None:
    with store.write() as tx:
        thread = id_of(people.thread_for(tx, surface="t", external_id="1", at=NOW))
        outbox.say(tx, thread, Card("c", text="old"), dedupe_key="1", at=NOW, edit_key="p")
    with store.write() as tx:
        first = outbox.claim(tx, surface="t", owner="w", now=NOW, lease_s=30, limit=10)[0]
        outbox.delivered(tx, first.id, "w", "message-7", NOW)
        outbox.say(tx, thread, Card("c", text="new"), dedupe_key="2", at=NOW, edit_key="p")
    with store.write() as tx:
        assert outbox.claim(tx, surface="t", owner="w", now=NOW, lease_s=30, limit=10)[0].message_id == "message-7"


def test_a_failed_delivery_waits_and_holds_back_what_comes_after_it(store: Store) -> None:
    with store.write() as tx:
        thread = id_of(people.thread_for(tx, surface="t", external_id="1", at=NOW))
        for number in range(2):
            outbox.say(tx, thread, Card("c", text=str(number)), dedupe_key=str(number), at=NOW)
        first = outbox.claim(tx, surface="t", owner="w", now=NOW, lease_s=30, limit=10)[0]
        outbox.failed(tx, first.id, "w", "429", later(10))
    with store.write() as tx:
        assert outbox.claim(tx, surface="t", owner="w", now=later(5), lease_s=30, limit=10) == []
        assert [
            d.card["text"] for d in outbox.claim(tx, surface="t", owner="w", now=later(11), lease_s=30, limit=1)
        ] == ["0"]


def test_an_event_is_kept_once_and_answered_in_order(store: Store) -> None:
    with store.write() as tx:
        thread = id_of(people.thread_for(tx, surface="t", external_id="1", at=NOW))
        user = id_of(people.user_for(tx, surface="t", external_id="a", name="a", role="viewer", at=NOW))
        ids = [
            inbox.receive(
                tx, surface="t", event_id=name, thread_id=thread, user_id=user, kind="message", payload={}, at=NOW
            )
            for name in ("e1", "e2", "e1")
        ]  # fmt: skip
    assert ids[0] is not None
    assert ids[2] is None
    with store.write() as tx:
        first = inbox.claim_next(tx, owner="w", now=NOW, lease_s=30)
        assert first is not None
        assert first.event_id == "e1"
        assert inbox.claim_next(tx, owner="v", now=NOW, lease_s=30) is None
        inbox.finish(tx, first.id, "w", "ok", NOW)
        second = inbox.claim_next(tx, owner="v", now=NOW, lease_s=30)
    assert second is not None
    assert second.event_id == "e2"


def test_an_event_that_kills_its_reader_is_given_up(store: Store) -> None:
    with store.write() as tx:
        thread = id_of(people.thread_for(tx, surface="t", external_id="1", at=NOW))
        user = id_of(people.user_for(tx, surface="t", external_id="a", name="a", role="viewer", at=NOW))
        inbox.receive(tx, surface="t", event_id="e", thread_id=thread, user_id=user, kind="message", payload={}, at=NOW)
    given_up = []
    for tick in range(4):
        with store.write() as tx:
            event = inbox.claim_next(tx, owner=f"w{tick}", now=later(tick * 60), lease_s=30)
            assert event is not None
            given_up.append(event.given_up)
    assert given_up == [False, False, False, True]


@pytest.mark.parametrize("path", ["/proc/lab.db", "/nonexistent/deep/lab.db"])
def test_a_place_that_can_not_be_written_is_told(path: str) -> None:
    with pytest.raises(StoreUnavailable, match="LABHAND_DATABASE_URL"):
        Store(sqlite_url(Path(path))).migrate()


def test_a_file_that_is_no_database_is_told_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    path.write_text("my thesis")
    with pytest.raises(StoreUnavailable, match="not a database"):
        Store(sqlite_url(path)).migrate()
    assert path.read_text() == "my thesis"


def test_a_password_is_never_in_the_message() -> None:
    store = Store("postgresql+psycopg://lab:s3cret@127.0.0.1:9/lab?connect_timeout=2")
    with pytest.raises(StoreUnavailable) as caught:
        store.migrate()
    assert "s3cret" not in str(caught.value)
