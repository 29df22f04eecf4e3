"""The store's two databases, each test on a clean one."""

import contextlib
import itertools
import shutil
from collections.abc import Callable, Generator
from pathlib import Path

import psycopg
import pytest

from lab.store import Store, sqlite_url
from tests.support.postgres import fresh_database, postgres_server

_TEMPLATE = "labhand_template"


@pytest.fixture(scope="session")
def postgres_url() -> Generator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres_url: str) -> str:
    """A migrated database that others are copied from."""
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {_TEMPLATE}")
    _migrate(f"{postgres_url.rpartition('/')[0]}/{_TEMPLATE}")
    return _TEMPLATE


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file that others are copied from."""
    path = tmp_path_factory.mktemp("template") / "lab.db"
    _migrate(sqlite_url(path))
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def url(request: pytest.FixtureRequest, kind: str, tmp_path: Path) -> Generator[str]:
    """An empty database."""
    if kind == "sqlite":
        yield sqlite_url(tmp_path / "empty.db")
    else:
        with fresh_database(request.getfixturevalue("postgres_url")) as address:
            yield address


@pytest.fixture
def new_url(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> Callable[[], contextlib.AbstractContextManager[str]]:
    """Opens one migrated database after the other."""
    numbers = itertools.count()

    @contextlib.contextmanager
    def sqlite() -> Generator[str]:
        path = tmp_path / f"lab{next(numbers)}.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        yield sqlite_url(path)

    def postgres() -> contextlib.AbstractContextManager[str]:
        server = request.getfixturevalue("postgres_url")
        return fresh_database(server, request.getfixturevalue("postgres_template"))

    return sqlite if kind == "sqlite" else postgres


@pytest.fixture
def store(new_url: Callable[[], contextlib.AbstractContextManager[str]]) -> Generator[Store]:
    with new_url() as url, contextlib.closing(Store(url)) as store:
        yield store


def _migrate(url: str) -> None:
    with contextlib.closing(Store(url)) as store:
        store.migrate()
