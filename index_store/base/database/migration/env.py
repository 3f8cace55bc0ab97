"""The environment in which Alembic runs migrations: `open_database` passes it the connection."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
