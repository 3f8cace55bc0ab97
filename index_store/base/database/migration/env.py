"""What Alembic runs the migrations of either database in: `open_database` hands it the connection."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
