"""Migrations of a database from version to version, with small migrations that the tests write."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, String, Table, text
from sqlalchemy.exc import DatabaseError, IntegrityError

from index_store.base.database.database import Schema, open_database, refuse_newer
from index_store.base.database.sqlite import SQLITE, SqliteFile
from index_store.base.errors import DataFolderNewer, UpgradeNotSaved
from tests.helpers.full_disk import full_disk, linux

NAMED = MetaData()
Table("things", NAMED, Column("id", Integer, primary_key=True), Column("name", String))
Table("parts", NAMED, Column("thing_id", ForeignKey("things.id", ondelete="CASCADE"), primary_key=True))

FIRST = """
CREATE TABLE things (id INTEGER PRIMARY KEY);
CREATE TABLE parts (thing_id INTEGER PRIMARY KEY REFERENCES things (id) ON DELETE CASCADE);
INSERT INTO things VALUES (7);
INSERT INTO parts VALUES (7);
"""
"""a database without a version number"""

NAMES = 'op.execute("ALTER TABLE things ADD COLUMN name VARCHAR"); op.execute("UPDATE things SET name = \'old\'")'
ANEW = "with op.batch_alter_table('things', recreate='always') as table: table.alter_column('name', nullable=True)"


def line(folder: Path, *bodies: str) -> Schema:
    """A schema with the migrations 0001, 0002 and so on, with these bodies."""
    folder.mkdir(exist_ok=True)
    for number, body in enumerate(bodies, start=1):
        before = f'"{number - 1:04}"' if number > 1 else None
        (folder / f"{number:04}_made.py").write_text(
            f'from alembic import op\nrevision = "{number:04}"\ndown_revision = {before}\ndef upgrade():\n    {body}\n'
        )
    return Schema(NAMED, folder)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "things.sqlite3"


@pytest.fixture
def first(file: Path) -> Path:
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(FIRST)
    return file


def read(file: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


def version(file: Path) -> list[tuple[object, ...]]:
    return read(file, "SELECT version_num FROM alembic_version")


def test_a_new_one_has_the_last_version_at_once(file: Path, tmp_path: Path) -> None:
    open_database(SqliteFile(file), line(tmp_path / "line", "raise AssertionError", "raise AssertionError")).dispose()
    assert version(file) == [("0002",)]
    assert read(file, "SELECT id, name FROM things") == []


def test_a_database_without_a_version_gets_all_migrations_in_order(first: Path, tmp_path: Path) -> None:
    open_database(SqliteFile(first), line(tmp_path / "line", "pass", NAMES)).dispose()
    assert version(first) == [("0002",)]
    assert read(first, "SELECT id, name FROM things") == [(7, "old")]


def test_one_of_an_earlier_version_is_changed_by_what_came_since(first: Path, tmp_path: Path) -> None:
    open_database(SqliteFile(first), line(tmp_path / "line", NAMES)).dispose()
    with closing(sqlite3.connect(first)) as connection, connection:
        connection.execute("UPDATE things SET name = 'kept'")
    open_database(SqliteFile(first), line(tmp_path / "line", NAMES, "pass")).dispose()
    assert (version(first), read(first, "SELECT name FROM things")) == ([("0002",)], [("kept",)])


@pytest.mark.parametrize("name", ["rag?2026", "job%2Fmain", "a&b=c#d"])
def test_a_folder_may_have_a_name_with_characters_of_addresses(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    database = open_database(SqliteFile(folder / "things.sqlite3"), line(tmp_path / "line", NAMES))
    with database.begin() as connection:
        connection.execute(text("INSERT INTO things VALUES (1, 'one')"))
    database.dispose()
    assert version(folder / "things.sqlite3") == [("0001",)]
    assert read(folder / "things.sqlite3", "SELECT name FROM things") == [("one",)]


def test_rows_that_reference_a_recreated_table_are_kept(first: Path, tmp_path: Path) -> None:
    open_database(SqliteFile(first), line(tmp_path / "line", NAMES, ANEW)).dispose()
    assert read(first, "SELECT thing_id FROM parts") == [(7,)]


def test_a_migration_that_fails_leaves_all_as_it_was(first: Path, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        open_database(SqliteFile(first), line(tmp_path / "line", NAMES, "1 / 0"))
    assert read(first, "SELECT name FROM sqlite_master ORDER BY name") == [("parts",), ("things",)]
    assert read(first, "SELECT * FROM things") == [(7,)]


@pytest.mark.parametrize("opened", [open_database, refuse_newer])
def test_a_newer_one_is_refused_with_its_version_and_stays_as_it_is(first: Path, tmp_path: Path, opened) -> None:
    open_database(SqliteFile(first), line(tmp_path / "newer", NAMES, "pass", "pass")).dispose()
    before = first.read_bytes()
    with pytest.raises(DataFolderNewer, match=r"things\.sqlite3 has version 0003, and this app reads up to 0002") as no:
        opened(SqliteFile(first), line(tmp_path / "line", NAMES, "pass"))
    assert "0003" in no.value.sentence("ja")
    assert str(tmp_path) in no.value.sentence("en")
    assert first.read_bytes() == before


def test_what_is_no_database_is_told_apart(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b"This is no database. " * 100)
    with pytest.raises(DatabaseError, match="not a database"):
        open_database(SqliteFile(file), line(tmp_path / "line", "pass"))


def test_neither_alembic_nor_psycopg_nor_s3_is_even_imported_where_none_of_them_is_used(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from index_store.base.database.database import open_database;"
        "from index_store.base.database.sqlite import SqliteFile;"
        "from index_store.catalogue.schema import SCHEMA;"
        "import index_store.library.originals.registry;"
        "[open_database(SqliteFile(Path(sys.argv[1])), SCHEMA).dispose() for _ in range(2)];"
        "print({'alembic', 'psycopg', 's3fs', 'botocore', 'aiobotocore'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.sqlite3")], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == "set()\n"


def test_an_error_of_the_database_does_not_tell_what_was_to_be_written(file: Path, tmp_path: Path) -> None:
    engine = open_database(SqliteFile(file), line(tmp_path / "line", "pass"))
    insert = text("INSERT INTO things VALUES (1, :name)")
    with engine.begin() as connection:
        connection.execute(insert, {"name": "a"})
    with pytest.raises(IntegrityError) as error, engine.begin() as connection:
        connection.execute(insert, {"name": "a secret question"})
    assert "secret" not in str(error.value)
    engine.dispose()


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("things.version-*"))


def test_before_a_migration_it_is_kept_as_it_was_for_its_account_alone_and_the_log_says_where(
    first: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_database(SqliteFile(first), line(tmp_path / "line", NAMES)).dispose()
    open_database(SqliteFile(first), line(tmp_path / "line", NAMES, "op.execute('DROP TABLE parts')")).dispose()
    of_none, of_first = kept(tmp_path)
    assert [of_none.name, of_first.name] == ["things.version-0000.sqlite3", "things.version-0001.sqlite3"]
    assert read(of_none, "SELECT * FROM things") == [(7,)]
    assert read(of_first, "SELECT * FROM parts") == [(7,)]
    assert version(of_first) == [("0001",)]
    assert stat.S_IMODE(of_first.stat().st_mode) == 0o600
    assert str(of_first) in caplog.text


def test_a_database_that_is_new_or_of_the_present_version_is_not_copied(file: Path, tmp_path: Path) -> None:
    for _ in range(2):
        open_database(SqliteFile(file), line(tmp_path / "line", NAMES)).dispose()
    assert kept(tmp_path) == []


def test_the_copy_goes_when_it_has_had_its_time(first: Path, tmp_path: Path) -> None:
    migrations = line(tmp_path / "line", NAMES)
    open_database(SqliteFile(first), migrations).dispose()
    [copy] = kept(tmp_path)
    for days, stays in ((13, [copy]), (15, [])):
        then = time.time() - days * 24 * 60 * 60
        os.utime(copy, (then, then))
        open_database(SqliteFile(first), migrations).dispose()
        assert kept(tmp_path) == stays


@pytest.mark.soak  # of the folder of an app: tests/test_killed_upgrade.py
def test_a_process_that_is_killed_in_a_migration_leaves_database_and_copy_as_they_were(
    first: Path, tmp_path: Path
) -> None:
    line(tmp_path / "line", f"{NAMES}; import os; os.kill(os.getpid(), 9)")
    program = (
        "import sys; from pathlib import Path; from sqlalchemy import MetaData;"
        "from index_store.base.database.database import Schema, open_database;"
        "from index_store.base.database.sqlite import SqliteFile;"
        "open_database(SqliteFile(Path(sys.argv[1])), Schema(MetaData(), Path(sys.argv[2])))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(first), str(tmp_path / "line")], capture_output=True)
    assert done.returncode == -signal.SIGKILL
    [copy] = kept(tmp_path)
    assert read(copy, "SELECT * FROM things") == read(first, "SELECT * FROM things") == [(7,)]
    open_database(SqliteFile(first), line(tmp_path / "line", NAMES)).dispose()
    assert read(first, "SELECT id, name FROM things") == [(7, "old")]
    assert kept(tmp_path) == [copy]


@linux
def test_without_room_for_the_copy_nothing_is_migrated_and_it_says_how_much_is_needed(
    first: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(first)) as connection, connection:
        connection.execute("CREATE TABLE large AS SELECT zeroblob(100000) AS content")
    migrations = line(tmp_path / "line", NAMES)
    with full_disk(), pytest.raises(UpgradeNotSaved, match="Free 1 MB in the data folder") as refused:
        open_database(SqliteFile(first), migrations)
    assert "1 MB の空き" in refused.value.sentence("ja")
    assert read(first, "SELECT * FROM things") == [(7,)]
    assert kept(tmp_path) == []
    open_database(SqliteFile(first), migrations).dispose()
    assert version(first) == [("0001",)]


def test_a_log_is_cleared_though_another_clears_it_at_the_same_moment(tmp_path):
    file = tmp_path / "named.sqlite3"
    engine = SqliteFile(file).connect()
    with ThreadPoolExecutor(4) as threads:
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE things (name VARCHAR)")
        for _ in range(50):
            with engine.begin() as connection:
                connection.exec_driver_sql("INSERT INTO things VALUES ('secret')")
            with engine.begin() as connection:
                connection.exec_driver_sql("DELETE FROM things")
            assert all(threads.map(SQLITE.clear_log, [engine] * 4))
    assert b"secret" not in file.with_name(f"{file.name}-wal").read_bytes()
    engine.dispose()


@pytest.mark.parametrize("files", [25, pytest.param(100, marks=pytest.mark.soak)])
def test_connections_that_open_a_new_file_at_the_same_time_all_succeed(tmp_path: Path, files: int) -> None:
    together = Barrier(4)

    def add(file: SqliteFile) -> None:
        database = file.connect()
        together.wait()
        with database.begin() as connection:
            connection.execute(text("INSERT INTO things VALUES (NULL)"))
        database.dispose()

    with ThreadPoolExecutor(4) as processes:
        for number in range(files):
            file = tmp_path / f"{number}.sqlite3"
            with closing(sqlite3.connect(file)) as connection:
                connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY)")
            assert not list(filter(None, processes.map(add, [SqliteFile(file)] * 4)))
            assert read(file, "SELECT count(*) FROM things") == [(4,)]
