"""Changes a database directly, without the app, as an operator or a fault may do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import Connection

from index_store.base.database.database import place_of
from index_store.base.settings.settings import Settings


@contextmanager
def by_hand(settings: Settings, name: str = "catalogue") -> Iterator[Connection]:
    """A connection in one transaction. `name`: of the database."""
    engine = place_of(name, settings.data_dir, settings.database_url).for_migration()
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def run_script(data_dir: Path, database: SecretStr | None, name: str, script: str) -> None:
    """Runs statements in SQLite's syntax. The database does not have to exist yet."""
    place = place_of(name, data_dir, database)
    with place.for_migration().begin() as connection:
        place.begin_migration(connection)
        if connection.dialect.name == "postgresql":
            script = script.replace(" BLOB", " BYTEA").replace(" FLOAT", " DOUBLE PRECISION")
        for statement in filter(str.strip, script.split(";")):
            connection.exec_driver_sql(statement)
