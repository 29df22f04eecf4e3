"""Opening a database: SQLite files and PostgreSQL servers, made to behave alike.

A write holds the database's one write lock from its first statement. SQLite has that lock itself (BEGIN IMMEDIATE); on
PostgreSQL an advisory lock stands for it, so that two writers can neither deadlock nor act on what the other changes.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from lab.errors import StoreUnavailable

WRITES = "labhand_writes"
"""Execution option of a connection whose transaction writes."""
_WRITE_LOCK = 7_201_331
_CONNECT_TIMEOUT_S = 10
_LONGEST_PAUSE_S = 120
"""A writer that does nothing for so long has hung: PostgreSQL ends its transaction, so that others can go on."""


def open_engine(url: str, wait_s: float) -> Engine:
    """The engine of a database URL; a statement waits `wait_s` for a lock. Raises `StoreUnavailable`."""
    address = parse_url(url)
    if address.get_backend_name() == "sqlite":
        return _sqlite(address, wait_s)
    return _postgres(address)


def parse_url(url: str) -> URL:
    """The parts of a database URL, with the driver that is installed. Raises `StoreUnavailable`."""
    try:
        address = make_url(url.replace("postgres://", "postgresql://", 1) if url.startswith("postgres://") else url)
    except (ArgumentError, ValueError) as error:
        raise _unusable("The database URL can't be read.") from error
    if address.get_backend_name() == "postgresql":
        return address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() != "sqlite":
        raise _unusable(f"Labhand can't use a database of the kind {address.get_backend_name()}.")
    if address.database in (None, "", ":memory:"):
        raise _unusable("A database in memory would be gone with the process.")
    return address


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file."""
    return URL.create("sqlite", database=str(path)).render_as_string()


def public_name(url: str) -> str:
    """What a person may read of the URL: the file, or server and database without user, password and options."""
    address = parse_url(url)
    if address.get_backend_name() == "sqlite":
        return address.database or ""
    server = f"{address.host or 'localhost'}:{address.port or 5432}"
    return f"postgresql://{server}/{address.database or ''}"


def lock_writes(connection: Connection, wait_s: float) -> None:
    """Take PostgreSQL's write lock for this transaction; SQLite's was taken by its BEGIN."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            f"SET LOCAL lock_timeout = '{round(wait_s * 1000)}ms';"
            f"SET LOCAL idle_in_transaction_session_timeout = '{_LONGEST_PAUSE_S}s';"
            f"SELECT pg_advisory_xact_lock({_WRITE_LOCK})"
        )


def read_options(engine: Engine) -> dict[str, Any]:
    """Execution options of a transaction that sees one state of the database from its first statement to its last."""
    if engine.dialect.name == "postgresql":
        return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    return {}


def _postgres(address: URL) -> Engine:
    chosen = {} if "connect_timeout" in address.query else {"connect_timeout": _CONNECT_TIMEOUT_S}
    return create_engine(address, pool_pre_ping=True, connect_args={"application_name": "labhand", **chosen})


def _sqlite(address: URL, wait_s: float) -> Engine:
    engine = create_engine(address, connect_args={"timeout": wait_s})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Connection) -> None:
    """SQLite's own BEGIN, since the driver's comes too late: a writer takes the lock before it reads.

    Source: SQLAlchemy's documentation of pysqlite, "Enabling Non-Legacy SQLite Transactional Modes".
    """
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _unusable(message: str) -> StoreUnavailable:
    return StoreUnavailable(
        message,
        next_step="Set LABHAND_DATABASE_URL to postgresql://USER@HOST/DATABASE or sqlite:////PATH, or leave it unset.",
    )
