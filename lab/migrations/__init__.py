"""Bringing a database to the newest schema, from a program and without an ini file."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from lab.engines import WRITES
from lab.errors import StoreUnavailable

HEAD = "0001"
"""The newest revision in `versions`; a test holds it to Alembic's own answer."""
_LOCK = 7_201_330
"""Advisory lock on PostgreSQL under which one process at a time migrates."""
_VERSIONS = "alembic_version"
_OWN_DATABASE = "Update Labhand, or set LABHAND_DATABASE_URL to a database of its own."


def upgrade(engine: Engine) -> None:
    """Run the revisions that the database has not seen, in one transaction. Several processes may start at once.

    Alembic is imported only where there is something to do. Raises `StoreUnavailable` for a database that belongs to a
    newer Labhand or to another program, and leaves it alone.
    """
    with engine.connect() as connection:
        if current(connection) == HEAD:
            return
    writer = engine.execution_options(**{WRITES: True})
    with writer.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if current(connection) != HEAD:
            _run(connection)


def current(connection: Connection) -> str | None:
    """The revision that the database is at; `None` for an empty one."""
    if not inspect(connection).has_table(_VERSIONS):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _run(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    _check_ours(connection, known)
    command.upgrade(config, "head")


def _check_ours(connection: Connection, known: set[str]) -> None:
    at = current(connection)
    if at is not None and at not in known:
        raise StoreUnavailable(
            f"The database is at revision {at}, which this Labhand (revision {HEAD}) does not know: it belongs to a"
            " newer Labhand or to another program.",
            next_step=_OWN_DATABASE,
        )
    tables = sorted(set(inspect(connection).get_table_names()) - {_VERSIONS}) if at is None else []
    if tables:
        raise StoreUnavailable(
            f"The database holds tables of another program ({', '.join(tables[:3])}).", next_step=_OWN_DATABASE
        )
