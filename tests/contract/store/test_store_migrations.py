"""Opening databases of every kind: empty, newest, newer, somebody else's."""

import contextlib
import subprocess
import sys
import time

import pytest
from sqlalchemy import inspect, text

from lab.errors import StoreUnavailable
from lab.store import Store


def test_processes_that_start_at_once_make_one_schema(url: str) -> None:
    program = "import sys; from lab.store import Store; Store(sys.argv[1]).migrate()"
    started = [subprocess.Popen([sys.executable, "-c", program, url], stderr=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate()[1].decode() for process in started] == [""] * 4
    with contextlib.closing(Store(url)) as store, store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar() == 1


def test_the_newest_database_is_opened_fast_and_without_alembic(store: Store) -> None:
    store.migrate()
    took: list[float] = []
    for _ in range(5):
        begun = time.perf_counter()
        store.migrate()
        took.append(time.perf_counter() - begun)
    assert min(took) < 0.03
    program = "import sys; from lab.store import Store; Store(sys.argv[1]).migrate(); print('alembic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, store.url], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_newer_database_is_left_alone(store: Store) -> None:
    with store.write() as tx:
        tx.connection().execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreUnavailable, match=r"revision 9999.*newer Labhand.*Update Labhand"):
        store.migrate()


def test_a_database_of_another_program_is_left_alone(url: str) -> None:
    with contextlib.closing(Store(url)) as store:
        with store.write() as tx:
            tx.connection().execute(text("CREATE TABLE runs (theirs INTEGER)"))
        with pytest.raises(StoreUnavailable, match=r"another program \(runs\).*database of its own"):
            store.migrate()
        with store.engine.connect() as connection:
            assert inspect(connection).get_table_names() == ["runs"]
