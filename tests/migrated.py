"""Tables that migrations made, held against those that a new database gets."""

from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from index_store.base.database import Schema


def differences(file: Path, schema: Schema) -> list[Any]:
    """Between the tables of the file and those of the schema: their columns, types, keys and indexes."""
    engine = create_engine(f"sqlite:///{file}")
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            return list(compare_metadata(context, schema.tables))
    finally:
        engine.dispose()
