"""Tables that migrations made, held against those that a new database gets."""

from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from index_store.base.database.backend import DatabaseLocation
from index_store.base.database.database import Schema


def differences(place: DatabaseLocation, schema: Schema) -> list[Any]:
    """Between the tables of the place and those of the schema: their columns, types, keys and indexes."""
    engine = place.for_migration()
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            return list(compare_metadata(context, schema.tables))
    finally:
        engine.dispose()
