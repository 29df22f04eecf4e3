"""What a person is told when a database can't be used, on real engines."""

import contextlib
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from lab import people
from lab.errors import StoreUnavailable
from lab.schema import Project
from lab.store import Store, sqlite_url
from tests.support.labrows import NOW, make_plan
from tests.support.postgres import fresh_database

NewUrl = Callable[[], contextlib.AbstractContextManager[str]]


def test_a_broken_constraint_keeps_its_name(store: Store) -> None:
    with store.write() as tx:
        tx.add(Project(name="p", created_at=NOW))
    with pytest.raises(IntegrityError), store.write() as tx:
        tx.add(Project(name="p", created_at=NOW))


def test_a_faulty_statement_is_a_defect_and_not_the_database(store: Store) -> None:
    with pytest.raises(DBAPIError), store.write() as tx:
        tx.connection().execute(text("SELECT nonsense FROM nowhere"))


def test_a_writer_that_holds_on_is_told_as_busy(new_url: NewUrl) -> None:
    with (
        new_url() as url,
        contextlib.closing(Store(url)) as first,
        contextlib.closing(Store(url, wait_s=0.2)) as second,
    ):
        with first.write() as tx:
            people.default_project(tx, NOW)
            begun = time.monotonic()
            with pytest.raises(StoreUnavailable, match="held by another process") as caught, second.write() as tx2:
                people.default_project(tx2, NOW)
            assert time.monotonic() - begun < 10
        assert "Try again" in str(caught.value)
        with second.write() as tx:
            assert people.default_project(tx, NOW).id == 1


def test_a_reader_is_not_held_up_and_sees_one_state(new_url: NewUrl) -> None:
    with new_url() as url, contextlib.closing(Store(url)) as one, contextlib.closing(Store(url)) as other:
        with one.read() as tx:
            assert tx.get(Project, 1) is None
            with other.write() as tx2:
                people.default_project(tx2, NOW)
            tx.expire_all()
            assert tx.get(Project, 1) is None
        with one.read() as tx:
            assert tx.get(Project, 1) is not None


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    store = Store(sqlite_url(tmp_path / "lab.db"))
    store.migrate()
    with store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
    with pytest.raises(StoreUnavailable, match="disk is full") as caught:
        make_plan(store, 200)
    assert "Free some space" in str(caught.value)
    store.close()


def test_a_read_only_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with contextlib.closing(Store(sqlite_url(path))) as store:
        store.migrate()
    with contextlib.closing(Store(f"sqlite:///file:{path}?mode=ro&uri=true")) as store:
        with pytest.raises(StoreUnavailable, match="can't be opened or written"), store.write() as tx:
            people.default_project(tx, NOW)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with contextlib.closing(Store(sqlite_url(path))) as store:
        store.migrate()
        make_plan(store, 50)
    whole = bytearray(path.read_bytes())
    whole[4096:] = b"\xff" * (len(whole) - 4096)
    path.write_bytes(whole)
    with contextlib.closing(Store(sqlite_url(path))) as store:
        with pytest.raises(StoreUnavailable, match="damaged or no database"), store.read() as tx:
            tx.connection().execute(text("SELECT * FROM runs")).all()


def test_a_path_with_signs_of_a_url_in_it_is_one_file(tmp_path: Path) -> None:
    folder = tmp_path / "50% of #1? yes"
    folder.mkdir()
    with contextlib.closing(Store(sqlite_url(folder / "lab.db"))) as store:
        store.migrate()
    assert (folder / "lab.db").exists()
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


@pytest.mark.parametrize("url", ["mysql://h/d", "nonsense", "sqlite://", "sqlite:///:memory:", "postgresql://h:port/d"])
def test_a_url_that_can_not_be_used_says_what_one_looks_like(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="Set LABHAND_DATABASE_URL to postgresql://"):
        Store(url)


def test_a_server_that_is_away_and_a_database_that_is_not_there_are_told(postgres_url: str) -> None:
    away = "postgres://lab:s3cret@127.0.0.1:9/lab?connect_timeout=2"
    with contextlib.closing(Store(away)) as store, pytest.raises(StoreUnavailable, match="does not answer") as caught:
        store.migrate()
    assert "s3cret" not in str(caught.value)
    missing = f"{postgres_url.rpartition('/')[0]}/nowhere"
    with contextlib.closing(Store(missing)) as store, pytest.raises(StoreUnavailable, match="nowhere"):
        store.migrate()


def test_a_server_that_goes_away_and_comes_back_is_found_again(postgres_url: str, postgres_template: str) -> None:
    with fresh_database(postgres_url, postgres_template) as url, contextlib.closing(Store(url)) as store:
        with pytest.raises(StoreUnavailable, match="does not answer"), store.write() as tx:
            tx.connection().execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        with store.write() as tx:
            assert people.default_project(tx, NOW).id == 1


def test_a_plain_postgresql_url_uses_the_driver_that_is_installed(postgres_url: str, postgres_template: str) -> None:
    with fresh_database(postgres_url, postgres_template) as url:
        with contextlib.closing(Store(url.replace("+psycopg", ""))) as store, store.read() as tx:
            assert tx.get(Project, 1) is None


def test_a_reader_on_postgresql_can_not_write(postgres_url: str, postgres_template: str) -> None:
    with fresh_database(postgres_url, postgres_template) as url, contextlib.closing(Store(url)) as store:
        with pytest.raises(StoreUnavailable, match="read-only"), store.read() as tx:
            people.default_project(tx, NOW)


def test_killing_a_writer_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with contextlib.closing(Store(sqlite_url(path))) as store:
        store.migrate()
    program = (
        "import sys, time\nfrom lab import people\nfrom lab.store import Store\nfrom tests.support.labrows import NOW\n"
        "with Store(sys.argv[1]).write() as tx:\n people.default_project(tx, NOW)\n print('in', flush=True)\n"
        " time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program, sqlite_url(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM projects").fetchone() == (0,)
    database.close()
