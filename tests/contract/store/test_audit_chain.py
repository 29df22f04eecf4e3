"""The audit trail: what it keeps, what it notices, what it costs."""

import time
from datetime import timedelta, timezone

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlmodel import select

from lab import audit
from lab.schema import Audit
from lab.store import Store
from tests.support.labrows import NOW, later

ODD = {
    "nan": float("nan"),
    "big": 1e22,
    "whole": 2.0,
    "tiny": 5e-324,
    "text": "a\x00b\ud800",
    "deep": [{"z": 1, "a": (2,)}],
    7: "key",
    "中": None,
}


def record(store: Store, count: int = 1, **fields: object) -> None:
    with store.write() as tx:
        for number in range(count):
            audit.record(tx, **{"actor": "ada", "action": "a", "subject": f"s{number}", "at": NOW, **fields})  # type: ignore[arg-type]


def test_any_detail_and_any_zone_verifies_after_it_was_stored(store: Store) -> None:
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    record(store, at=tokyo, detail=ODD, why="a\x00\udfff", actor="\x00")
    with store.read() as tx:
        assert audit.verify(tx) == audit.Verification(1)
        row = tx.exec(select(Audit)).one()
    assert (row.detail["nan"], row.detail["big"], row.detail["text"], row.why) == (None, 1e22, "a�b�", "a��")
    assert row.at == NOW


REPLACE = (
    "INSERT OR REPLACE INTO audit SELECT id, at, 'eve', action, subject, why, source, detail, previous_hash, hash"
    " FROM audit WHERE id = 2"
)
SWEEPS = {"sqlite": REPLACE, "postgresql": "TRUNCATE audit"}


@pytest.mark.parametrize("statement", ["UPDATE audit SET why = 'x'", "DELETE FROM audit WHERE id = 2", None])
def test_the_database_itself_refuses(store: Store, kind: str, statement: str | None) -> None:
    record(store, 3)
    with pytest.raises(IntegrityError, match="audit rows are kept"), store.write() as tx:
        tx.connection().execute(text(statement or SWEEPS[kind]))
    with store.read() as tx:
        assert audit.verify(tx) == audit.Verification(3)


@pytest.mark.parametrize(
    ("tampering", "broken"),
    [
        ("UPDATE audit SET why = 'x' WHERE id = 2", 2),
        ("UPDATE audit SET detail = '{\"a\": 1}' WHERE id = 3", 3),
        ("DELETE FROM audit WHERE id = 2", 3),
        ("DELETE FROM audit WHERE id = 1", 2),
        ("UPDATE audit SET hash = 'x' WHERE id = 4", 4),
    ],
)
def test_the_first_broken_row_is_named(store: Store, kind: str, tampering: str, broken: int) -> None:
    record(store, 5)
    unlock(store, kind)
    with store.write() as tx:
        tx.connection().execute(text(tampering))
    with store.read() as tx:
        found = audit.verify(tx)
    assert found.first_broken == broken
    assert found.problem


def test_two_rows_can_not_follow_the_same_one(store: Store) -> None:
    record(store, 2)
    fork = Audit(at=NOW, actor="e", action="a", subject="s", detail={}, previous_hash=audit.GENESIS, hash="new")
    with pytest.raises(IntegrityError), store.write() as tx:
        tx.add(fork)


def test_rows_are_shown_by_subject_actor_and_time_the_newest_last(store: Store) -> None:
    record(store, 3)
    record(store, actor="eve", subject="s1", at=later(60))
    with store.read() as tx:
        assert [row.subject for row in audit.show(tx, limit=2)] == ["s2", "s1"]
        assert [row.actor for row in audit.show(tx, subject="s1")] == ["ada", "eve"]
        assert [row.subject for row in audit.show(tx, actor="ada")] == ["s0", "s1", "s2"]
        assert [row.actor for row in audit.show(tx, since=later(1))] == ["eve"]


@pytest.mark.slow
def test_ten_thousand_rows_verify_within_two_seconds_of_work(store: Store) -> None:
    record(store, 10_000, detail={"from": "queued", "to": "running", "plan": 3})
    with store.read() as tx:
        begun = time.process_time()
        assert audit.verify(tx) == audit.Verification(10_000)
        assert time.process_time() - begun < 2


def unlock(store: Store, kind: str) -> None:
    """What an intruder with the database's own rights would do first."""
    names = ("audit_keeps_update", "audit_keeps_delete") if kind == "sqlite" else ("audit_keeps_rows",)
    with store.write() as tx:
        for name in names:
            tx.connection().execute(text(f"DROP TRIGGER {name}" + ("" if kind == "sqlite" else " ON audit")))
