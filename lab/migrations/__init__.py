"""Bringing a database to the newest schema."""

from sqlalchemy import Engine

from lab.schema import Row


def upgrade(engine: Engine) -> None:
    """Make the tables that are missing."""
    Row.metadata.create_all(engine)
