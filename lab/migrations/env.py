"""Alembic's environment: the caller's connection, nothing else."""

from alembic import context

from lab.schema import Row

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Row.metadata,
    render_as_batch=True,
    compare_type=True,
)
context.run_migrations()
