"""A snapshot of the data folder at one moment, while the app runs.

At that moment documents don't change: the app's changes wait for `changes_of`, and Chroma writes its files only during
these. Questions and searches go on. Never run it in the process that has the folder's Chroma open: compact.py says why.
"""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from index_store.access.audit.audit import FOLDER as AUDIT
from index_store.base.errors import DataFolderDamaged
from index_store.base.folders import changes_of
from index_store.library.library import CHROMA
from index_store.library.originals.registry import FOLDER as ORIGINALS
from index_store.transfer.backup.manifest import databases
from index_store.vectors.local.probe import LAST

POLL = 0.005
"""seconds between tries to get the lock: the app makes many changes one after the other, with little time between"""

VECTORS = "chroma.sqlite3"

PAGES = 2000
"""of a database, copied at a time; between two copies, this process can be stopped"""


def take_snapshot(folder: Path, copies: Path, links: Path) -> dict[str, str | None]:
    """`copies`: a folder for databases, vectors and the audit log; `links`: a folder on the data folder's disk, for the
    originals.

    Returns the version of each database. Raises DataFolderDamaged, OSError, sqlite3.Error.
    """
    with ExitStack() as reading:
        with changes_of(folder).acquire(poll_interval=POLL):
            moments = [(file, reading.enter_context(_moment(file))) for file in databases(folder)]
            _copy_vectors(folder / CHROMA, copies / CHROMA)
            _link_originals(folder / ORIGINALS, links)
        _copy_audit_log(folder / AUDIT, copies / AUDIT)
        return {file.name: _copy(file, moment, copies / file.name) for file, moment in moments}


@contextmanager
def _moment(file: Path) -> Iterator[sqlite3.Connection]:
    """The database as it is now; later writes don't change what this connection reads."""
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)) as database:
        with _damage_as_plain(file):
            database.execute("PRAGMA busy_timeout = 30000")
            database.execute("BEGIN")
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield database


def _copy(file: Path, moment: sqlite3.Connection, place: Path) -> str | None:
    """Returns its version. Raises if the copy is damaged: it could replace an older backup that is not."""
    with closing(sqlite3.connect(place)) as copy, _damage_as_plain(file):
        moment.backup(copy, pages=PAGES)
        [found] = copy.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        if not copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
            return None
        row = copy.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(row[0]) if row else None


@contextmanager
def _damage_as_plain(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError:
        raise  # such as a full disk, or a lock
    except sqlite3.DatabaseError as error:
        folder = file.parents[1] if file.name == VECTORS else file.parent
        raise DataFolderDamaged(file=file.name, folder=os.path.abspath(folder)) from error


def _copy_vectors(chroma: Path, copy: Path) -> None:
    """Skips graphs without their last file: Chroma makes these from its log, which is in the database."""
    copy.mkdir()
    database = chroma / VECTORS
    with _moment(database) as moment:
        _copy(database, moment, copy / database.name)
    for last in chroma.glob(f"*/{LAST}"):
        graph = copy / last.parent.name
        graph.mkdir()
        for file in last.parent.iterdir():
            shutil.copy2(file, graph / file.name)  # with its time, for vectors/local/probe.py


def _link_originals(originals: Path, links: Path) -> None:
    """Gives each original a second name: its content never changes, and if removed, it stays until it is packed."""
    for file in originals.glob("??/*-*"):
        place = links / file.parent.name / file.name
        place.parent.mkdir(exist_ok=True)
        try:
            os.link(file, place)
        except FileNotFoundError:
            continue  # a version that is not needed any more, deleted without the lock
        except OSError:
            shutil.copyfile(file, place)  # some file systems have no links


def _copy_audit_log(log: Path, copy: Path) -> None:
    """Only whole lines: the last one may not be complete."""
    for file in log.glob("*.jsonl"):
        copy.mkdir(exist_ok=True)
        try:
            lines = file.read_bytes()
        except FileNotFoundError:
            continue  # it was too old and has been deleted
        (copy / file.name).write_bytes(lines[: lines.rfind(b"\n") + 1])
