"""The app's databases: SQLite files in the data folder, or schemas of the Postgres database that DATABASE_URL names.

Each stores the version of its tables in Alembic's version table. Alembic takes half a second to import, so it is only
used if an older database must be migrated.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr
from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, create_mock_engine, inspect, select

from index_store.base.database.backend import DatabaseBackend, DatabaseLocation
from index_store.base.database.sqlite import SQLITE, SqliteFile
from index_store.base.errors import DataFolderNewer

VARIABLES = 900
"""values in one IN (...); SQLite before 3.32 takes 999"""

_versions = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


class Schema(NamedTuple):
    """The tables of a database, with their migrations."""

    tables: MetaData
    migrations: Path
    """a folder with one file per version of this database, NNNN_what_is_new.py"""

    @property
    def versions(self) -> list[str]:
        """Versions that can be opened, the present one last."""
        return sorted(file.name.partition("_")[0] for file in self.migrations.glob("[0-9]*.py"))


def place_of(name: str, data_dir: Path, database_url: SecretStr | None) -> DatabaseLocation:
    """The place of the database of this name: a file in the folder, or a schema if there is a URL."""
    if database_url is None:
        return SqliteFile(data_dir / f"{name}.sqlite3")
    from index_store.base.database.postgres import PostgresSchema

    return PostgresSchema(database_url.get_secret_value(), name)


def backend_of(bind: Engine | Connection) -> DatabaseBackend:
    if bind.dialect.name == "sqlite":
        return SQLITE
    from index_store.base.database.postgres import POSTGRES

    return POSTGRES


def open_database(place: DatabaseLocation, schema: Schema) -> Engine:
    """Creates the database if there is none. Migrates an older one to the present version and keeps a copy of it.

    Raises DataFolderNewer, OlderVersionRuns, UpgradeNotSaved, SQLAlchemyError.
    """
    engine = place.for_migration()
    with engine.connect() as connection:
        found = _version(connection)
        if found != schema.versions[-1]:
            _refuse_newer(place, schema, found)
            connection.rollback()
            place.begin_migration(connection)
            found = _version(connection)  # another process may have migrated it in the meantime
            if found == schema.versions[-1]:
                connection.commit()
            elif inspect(connection).get_table_names():
                place.wait_until_unused(connection)
                place.keep(found)
                _migrate(connection, schema)
            else:
                dialect = connection.dialect
                for definition in _definitions(schema.tables, f"{dialect.name}+{dialect.driver}"):
                    connection.exec_driver_sql(definition)
                _versions.create(connection)
                connection.execute(_versions.insert().values(version_num=schema.versions[-1]))
            connection.commit()
        else:
            place.drop_kept()
    return place.connect()


def refuse_newer(place: DatabaseLocation, schema: Schema) -> None:
    """Raises DataFolderNewer if `open_database` would; changes nothing. Raises SQLAlchemyError."""
    if place.exists():
        with place.for_migration().connect() as connection:
            _refuse_newer(place, schema, _version(connection))


def is_present(place: DatabaseLocation, schema: Schema) -> bool:
    """Whether the database exists and `open_database` would change nothing. Raises SQLAlchemyError."""
    if not place.exists():
        return False
    with place.for_migration().connect() as connection:
        return _version(connection) == schema.versions[-1]


def _version(connection: Connection) -> str | None:
    """None: from before there were versions, or empty."""
    if not inspect(connection).has_table(_versions.name):
        return None
    return connection.execute(select(_versions.c.version_num)).scalar()


def _refuse_newer(place: DatabaseLocation, schema: Schema, found: str | None) -> None:
    if found is not None and found not in schema.versions:
        raise DataFolderNewer(file=place.name, folder=place.within, found=found, known=schema.versions[-1])


@cache
def _definitions(tables: MetaData, dialect: str) -> tuple[str, ...]:
    """The tables as DDL, made once; `dialect` as in "sqlite+pysqlite".

    Made from a copy of the tables. After SQLAlchemy has created a foreign key separately, as for Postgres, it no longer
    creates it with its table, which SQLite needs.
    """
    copies = MetaData()
    for table in tables.tables.values():
        table.to_metadata(copies)
    made: list[Any] = []
    database = create_mock_engine(f"{dialect}://", lambda each, *_: made.append(each))
    copies.create_all(database)
    return tuple(str(each.compile(dialect=database.dialect)) for each in made)


def _migrate(connection: Connection, schema: Schema) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", _option(Path(__file__).parent / "migration"))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", _option(schema.migrations))
    command.upgrade(config, "head")


def _option(path: Path) -> str:
    return str(path).replace("%", "%%")


def storable(text: str) -> str:
    """A command line or a header may contain bytes that are not text; neither SQLite nor JSON accepts them."""
    return text.encode("utf-8", "replace").decode()
