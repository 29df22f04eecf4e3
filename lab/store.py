"""The one place that opens a database session.

`Store.read()` and `Store.write()` yield a session; the use cases of the lab are functions over it. A write is one
transaction that holds the write lock from its first statement, so that what was read in it is still true at its end;
writes are therefore short, and slow work is done outside them.
"""

import contextlib
from collections.abc import Callable, Generator, Hashable

from sqlmodel import Session

from lab.engines import WRITES, lock_writes, open_engine, read_options, sqlite_url
from lab.storefaults import named_errors

__all__ = ["Store", "before_commit", "sqlite_url"]

_LAST_ACTS = "labhand_last_acts"


class Store:
    """A database of the lab at `url` (SQLite file or PostgreSQL); a statement waits `wait_s` for a lock.

    Raises `StoreUnavailable` with the next step, from here and from every method.
    """

    def __init__(self, url: str, *, wait_s: float = 30.0) -> None:
        self.url = url
        self.engine = open_engine(url, wait_s)
        self._wait_s = wait_s

    @contextlib.contextmanager
    def read(self) -> Generator[Session]:
        """A session for reading one consistent state; nothing written in it is kept."""
        with named_errors(self.url), Session(self.engine) as session:
            session.connection(execution_options=read_options(self.engine))
            yield session

    @contextlib.contextmanager
    def write(self) -> Generator[Session]:
        """A session whose changes are kept together at its end, or not at all."""
        with named_errors(self.url), Session(self.engine, expire_on_commit=False) as session:
            lock_writes(session.connection(execution_options={WRITES: True}), self._wait_s)
            yield session
            _do_last_acts(session)
            session.commit()

    def migrate(self) -> None:
        """Bring the database to the newest schema. Idempotent; several processes may start at once."""
        from lab.migrations import upgrade

        with named_errors(self.url):
            upgrade(self.engine)

    def close(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()


def before_commit(tx: Session, key: Hashable, act: Callable[[], None]) -> None:
    """Do `act` once at the end of this write, however often it is asked for under `key`; the last one asked counts.

    For what depends on the whole of a transaction, such as whether a plan's last run has ended.
    """
    tx.info.setdefault(_LAST_ACTS, {})[key] = act


def _do_last_acts(tx: Session) -> None:
    while acts := tx.info.pop(_LAST_ACTS, None):
        for act in acts.values():
            act()
