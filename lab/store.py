"""The one place that opens a database session.

`Store.read()` and `Store.write()` yield a session; the use cases of the lab are functions over it. A write is one
transaction that holds the write lock from its first statement, so that what was read in it is still true at its end.
"""

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, IntegrityError
from sqlmodel import Session

from lab.errors import StoreUnavailable

_WRITES = "labhand_writes"


class Store:
    """A database of the lab at `url` (SQLite file or PostgreSQL). Raises `StoreUnavailable` with the next step."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _engine(url)

    @contextlib.contextmanager
    def read(self) -> Generator[Session]:
        """A session for reading one consistent state; nothing written in it is kept."""
        with _named_errors(self.url), Session(self.engine) as session:
            yield session

    @contextlib.contextmanager
    def write(self) -> Generator[Session]:
        """A session whose changes are kept together at its end, or not at all."""
        with _named_errors(self.url), Session(self.engine, expire_on_commit=False) as session:
            session.connection(execution_options={_WRITES: True})
            yield session
            session.commit()

    def migrate(self) -> None:
        """Bring the database to the newest schema. Idempotent."""
        from lab.migrations import upgrade

        with _named_errors(self.url):
            upgrade(self.engine)

    def close(self) -> None:
        self.engine.dispose()


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file."""
    return f"sqlite:///{path}"


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, connect_args={"timeout": 30})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Connection) -> None:
    """SQLite's own BEGIN, since the driver's comes too late: a writer takes the lock before it reads."""
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


@contextlib.contextmanager
def _named_errors(url: str) -> Generator[None]:
    try:
        yield
    except IntegrityError:
        raise
    except DatabaseError as error:
        raise StoreUnavailable(
            f"The database {_public(url)} can't be used: {_first_line(error)}.",
            next_step="Check that its directory is writable and its disk is not full, or set LABHAND_DATABASE_URL.",
        ) from error


def _public(url: str) -> str:
    """The URL without its password."""
    head, sign, tail = url.rpartition("@")
    return f"{head.split('://')[0]}://…@{tail}" if sign else url


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", error)).splitlines()[0] if str(error) else type(error).__name__
