"""Compares tables that migrations made with those of a new database."""

from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from index_store.base.database.backend import DatabaseLocation
from index_store.base.database.database import Schema


def differences(place: DatabaseLocation, schema: Schema) -> list[Any]:
    """Differences between the tables of the place and of the schema: columns, types, keys and indexes."""
    engine = place.for_migration()
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            return list(compare_metadata(context, schema.tables))
    finally:
        engine.dispose()
