"""A database of SQLite, as each of this app's is kept: several threads read while one writes.

Each knows the version of its tables, in the table that Alembic keeps it in. Alembic itself takes half a second to
import, so it is only asked where an older one has to be changed.
"""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import json
import logging
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    NullPool,
    String,
    Table,
    create_engine,
    event,
    inspect,
    select,
)
from sqlalchemy.exc import DatabaseError

from index_store.base.errors import DataFolderNewer, UpgradeNotSaved

log = logging.getLogger(__name__)

VARIABLES = 900
"""values in one IN (...); SQLite before 3.32 takes 999"""

KEPT_DAYS = 14
"""that a copy of before an upgrade stays: it holds what was removed since"""

UPGRADED, DAMAGED = "*.version-*.sqlite3*", "*.damaged-*.sqlite3*"
"""names of copies in a data folder, with what SQLite keeps beside them"""

_PRAGMAS = (
    "journal_mode = WAL",  # readers go on while one writes
    "synchronous = NORMAL",  # can lose the last moment in a power cut, never the file
    "foreign_keys = ON",
    "busy_timeout = 30000",  # milliseconds
)

_versions = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


class Schema(NamedTuple):
    """The tables of a database, and how those of earlier versions become them."""

    tables: MetaData
    migrations: Path
    """a folder with a file for each version, NNNN_what_is_new.py: the line of this database alone"""

    @property
    def versions(self) -> list[str]:
        """Those that can be opened, the present one last."""
        return sorted(file.name.partition("_")[0] for file in self.migrations.glob("[0-9]*.py"))


def open_database(file: Path, schema: Schema, *pragmas: str) -> Engine:
    """Made when there is none, changed to the present version when it is of an earlier one, of which a copy is kept
    beside it; its folder must be there.

    `pragmas`: of each connection, beside those that all databases here have. Raises DataFolderNewer, UpgradeNotSaved,
    SQLAlchemyError.
    """
    with _plain(file).connect() as connection:
        found = _version(connection)
        if found != schema.versions[-1]:
            _refuse_newer(file, schema, found)
            # All of it or nothing, should the process die: Python's sqlite3 begins no transaction for a CREATE TABLE.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            if inspect(connection).get_table_names():
                _keep(file, found)
                _migrate(connection, schema)
            else:
                schema.tables.create_all(connection)
                _versions.create(connection)
                connection.execute(_versions.insert().values(version_num=schema.versions[-1]))
            connection.commit()
        else:
            drop_copies(file.parent, f"{file.stem}.version-*{file.suffix}", days=KEPT_DAYS)
    return connect(file, *pragmas)


def refuse_newer(file: Path, schema: Schema) -> None:
    """Raises DataFolderNewer where `open_database` would; changes nothing. Raises SQLAlchemyError."""
    if file.exists():
        with _plain(file).connect() as connection:
            _refuse_newer(file, schema, _version(connection))


def is_present(file: Path, schema: Schema) -> bool:
    """Whether there is one and `open_database` would change nothing. Raises SQLAlchemyError."""
    if not file.exists():
        return False
    with _plain(file).connect() as connection:
        return _version(connection) == schema.versions[-1]


def connect(file: Path, *pragmas: str) -> Engine:
    """Whatever tables it has."""
    # What people ask and documents say is not for a log.
    engine = create_engine(f"sqlite:///{file}", json_serializer=_json, hide_parameters=True)

    def set_up(connection: sqlite3.Connection, _record: object) -> None:
        with closing(connection.cursor()) as cursor:
            for pragma in (*_PRAGMAS, *pragmas):
                cursor.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", set_up)
    return engine


def _plain(file: Path) -> Engine:
    """Without foreign keys, as a migration that makes a table anew would delete what refers to it; and without changing
    the file to WAL, as it may have to stay as it is.
    """
    return create_engine(f"sqlite:///{file}", poolclass=NullPool, hide_parameters=True)


def _version(connection: Connection) -> str | None:
    """None: of before there were versions, or nothing at all."""
    if not inspect(connection).has_table(_versions.name):
        return None
    return connection.execute(select(_versions.c.version_num)).scalar()


def _refuse_newer(file: Path, schema: Schema, found: str | None) -> None:
    if found is not None and found not in schema.versions:
        folder = os.path.abspath(file.parent)
        raise DataFolderNewer(file=file.name, folder=folder, found=found, known=schema.versions[-1])


def _keep(file: Path, version: str | None) -> None:
    """A copy of it as it is; by whoever lets nobody write to it. Raises UpgradeNotSaved, DatabaseError."""
    kept = file.with_name(f"{file.stem}.version-{version or '0000'}{file.suffix}")
    part = kept.with_name(f"{kept.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.touch(mode=0o600)
        with closing(sqlite3.connect(file)) as database, closing(sqlite3.connect(part)) as copy:
            database.backup(copy)
        part.replace(kept)
    except (OSError, sqlite3.Error) as error:
        part.unlink(missing_ok=True)
        damage = DatabaseError(None, None, error)
        if is_damaged(damage):
            raise damage from error
        folder, megabytes = os.path.abspath(file.parent), file.stat().st_size // 1_000_000 + 1
        raise UpgradeNotSaved(file=file.name, folder=folder, reason=error, megabytes=megabytes) from error
    log.warning("%s is brought to the present version; as it was, it is kept for %d days as %s", file, KEPT_DAYS, kept)


def drop_copies(folder: Path, names: str, *, days: float) -> None:
    """Of databases, as they were before an upgrade or when they were found damaged: those that are older.

    `names`: a pattern. Raises OSError.
    """
    for copy in folder.glob(names):
        if copy.stat().st_mtime < time.time() - days * 24 * 60 * 60:
            copy.unlink(missing_ok=True)


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


def clear_log(database: Engine) -> bool:
    """Whether what was deleted is gone from SQLite's log as well, which lies beside the file; else someone reads it."""
    with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        return not connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()


def is_damaged(error: DatabaseError) -> bool:
    """Or the file is no database at all; rather than one that can't be read or written just now."""
    code = getattr(error.orig, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)  # the rest says where


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
