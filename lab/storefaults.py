"""What a database's error means for the person who meets it.

Only what a person can mend becomes `StoreUnavailable`; a broken constraint or a faulty statement stays what it is.
Codes: SQLite's primary result codes (sqlite.org/rescode.html) and PostgreSQL's SQLSTATE classes (appendix A).
"""

import contextlib
import sqlite3
from collections.abc import Generator
from typing import Any

from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from lab.engines import public_name
from lab.errors import StoreUnavailable

_ELSEWHERE = "or set LABHAND_DATABASE_URL to another database."
_BUSY = ("is held by another process", f"Try again; if it lasts, stop the process that hangs, {_ELSEWHERE}")
_FULL = ("can't be written, since its disk is full", f"Free some space, {_ELSEWHERE}")
_SHUT = ("can't be opened or written", f"Check that its directory exists and is yours to write, {_ELSEWHERE}")
_DAMAGED = ("is damaged or no database", f"Move it away and restore a backup, {_ELSEWHERE}")
_AWAY = ("does not answer", f"Start the server and check its address, {_ELSEWHERE}")
_REFUSED = ("refuses this user", f"Check user, password and permissions at the server, {_ELSEWHERE}")
_OVERLOADED = ("has no room for one more connection", f"Close other clients, {_ELSEWHERE}")

_SQLITE = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _SHUT,
    sqlite3.SQLITE_PERM: _SHUT,
    sqlite3.SQLITE_READONLY: _SHUT,
    sqlite3.SQLITE_CANTOPEN: _SHUT,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}
_POSTGRES = (
    ("53100", _FULL),
    ("53", _OVERLOADED),
    ("55P03", _BUSY),
    ("40", _BUSY),
    ("25006", ("is read-only", f"Connect to the primary server, {_ELSEWHERE}")),
    ("28", _REFUSED),
    ("42501", _REFUSED),
    ("3D000", ("does not exist", f"Create it (createdb), {_ELSEWHERE}")),
    ("08", _AWAY),
    ("25P03", _AWAY),
    ("57P", _AWAY),
    ("58", _SHUT),
    ("XX", _DAMAGED),
)
"""By the longest prefix first where two fit."""


@contextlib.contextmanager
def named_errors(url: str) -> Generator[None]:
    """Turn what a person can mend into `StoreUnavailable` with the next step; let the rest through."""
    try:
        yield
    except PoolTimeout as error:
        raise _named(url, _OVERLOADED, "all of this process's connections are in use") from error
    except IntegrityError:
        raise
    except DBAPIError as error:
        meaning = _meaning(error)
        if meaning is None:
            raise
        raise _named(url, meaning, _first_line(error)) from error


def _named(url: str, meaning: tuple[str, str], detail: str) -> StoreUnavailable:
    what, next_step = meaning
    return StoreUnavailable(f"The database {public_name(url)} {what}: {detail}.", next_step=next_step)


def _meaning(error: DBAPIError) -> tuple[str, str] | None:
    orig: Any = error.orig
    if isinstance(orig, sqlite3.Error):
        return _SQLITE.get(getattr(orig, "sqlite_errorcode", 0) & 0xFF)
    state: str | None = getattr(orig, "sqlstate", None)
    if state is None:
        return _AWAY if error.connection_invalidated or _is_connection_failure(orig) else None
    return next((meaning for prefix, meaning in _POSTGRES if state.startswith(prefix)), None)


def _is_connection_failure(orig: object) -> bool:
    """Without a SQLSTATE nothing came back from a server: psycopg then raises its operational or interface error."""
    return any(kind.__name__ in ("OperationalError", "InterfaceError") for kind in type(orig).__mro__)


def _first_line(error: DBAPIError) -> str:
    lines = str(error.orig).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error.orig).__name__
