"""Bringing a database to the newest schema, from a program and without an ini file."""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

HEAD = "0001"
"""The newest revision in `versions`; a test holds it to Alembic's own answer."""
_LOCK = 7_201_330
"""Advisory lock on PostgreSQL under which one process at a time migrates."""


def upgrade(engine: Engine) -> None:
    """Run the revisions that the database has not seen, in one transaction. Two processes may start at once."""
    with engine.connect() as connection:
        if current(connection) == HEAD:
            return
    writer = engine.execution_options(labhand_writes=True)
    with writer.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if current(connection) != HEAD:
            _run(connection)


def current(connection: Connection) -> str | None:
    """The revision that the database is at; `None` for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _run(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
