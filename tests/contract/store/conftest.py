"""The store's two databases, each test on a clean one."""

import contextlib
from collections.abc import Generator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from lab.store import Store, sqlite_url
from tests.support.postgres import postgres_server


@pytest.fixture(scope="session")
def postgres_url() -> Generator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "lab.db")
    address: str = request.getfixturevalue("postgres_url")
    engine = create_engine(address)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return address


@pytest.fixture
def store(url: str) -> Generator[Store]:
    store = Store(url)
    store.migrate()
    with contextlib.closing(store):
        yield store
