"""The data folder of a store: which process may use it, and its marks."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import logging
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy.exc import DatabaseError, OperationalError

from index_store.base import errors
from index_store.base.folders import backup_of, make_private, refuse_root
from index_store.library.library import CATALOGUE
from index_store.library.switch import finish_switch

LINKS = "backup.links"
"""the folder in which a running backup links originals: the originals themselves may be removed before their turn. It
is deleted with all that is in it, so its name is one that nobody chooses.
"""

RESTORING = "restoring"
"""the folder into which a restore unpacks; while it exists, the data folder is incomplete"""

IDENTITY = "database.id"
"""the file with the id of the database that has the catalogue, if the catalogue is not in the folder"""

NAMESPACE = "vectors.id"
"""the file with the name of these vectors on a Chroma server, if they are not in the folder. All data folders with the
same catalogue have the same name.
"""

ORIGINALS_NOTED = "originals.id"
"""the file with the id of the catalogue that owns the originals at ORIGINALS_URL, copied from their mark"""

log = logging.getLogger(__name__)


def lock_folder(folder: Path) -> FileLock:
    """The lock that makes this process the owner of the folder. A file next to it names the process, for error texts.

    Raises StoreInUse, NotAsRoot, DataFolderIsFile, DataFolderUnusable.
    """
    owner = folder / "index_store.pid"
    lock = FileLock(folder / "index_store.lock", thread_local=False)
    try:
        refuse_root(folder)
        _make(folder)
        lock.acquire(timeout=0)
        owner.write_text(str(os.getpid()))
    except Timeout as error:
        pid = owner.read_text().strip() if owner.exists() else "?"
        raise errors.StoreInUse(folder=os.path.abspath(folder), pid=pid) from error
    except OSError as error:
        lock.release()
        raise errors.DataFolderUnusable(folder=os.path.abspath(folder), reason=error.strerror or error) from error
    return lock


def _make(folder: Path) -> None:
    """Raises DataFolderIsFile, OSError."""
    try:
        make_private(folder)
    except (FileExistsError, NotADirectoryError) as error:
        raise errors.DataFolderIsFile(folder=os.path.abspath(folder)) from error


def say_if_open_to_others(folder: Path) -> None:
    """Only a warning: a folder that a group shares may be so on purpose."""
    others = stat.S_IRWXG | stat.S_IRWXO
    if os.name == "posix" and folder.stat().st_mode & others:
        log.warning("Other accounts can read the folder %s. To prevent this, use `chmod 700`", folder)


def share(folder: Path) -> None:
    """Prepares a folder that several processes share; the database keeps track of them. Raises DataFolderIsFile,
    DataFolderUnusable.
    """
    try:
        _make(folder)
    except OSError as error:
        raise errors.DataFolderUnusable(folder=os.path.abspath(folder), reason=error.strerror or error) from error


def prepare_to_write(folder: Path) -> None:
    """Before a process writes to the folder, also one that does not own it; finishes a switch that was interrupted.
    Raises NotAsRoot, RestoreUnfinished, and the errors of `as_plain`.
    """
    with as_plain(folder):
        refuse_root(folder)
    if (folder / RESTORING).exists():
        raise errors.RestoreUnfinished(folder=os.path.abspath(folder))
    with as_plain(folder):
        finish_switch(folder)


@contextmanager
def as_plain(folder: Path) -> Iterator[None]:
    """Raises DataFolderUnusable, DataFolderDamaged, DatabaseAway, DatabaseRefuses."""
    try:
        yield
    except errors.DatabaseAway:
        raise
    except DatabaseError as error:
        if not isinstance(error.orig, sqlite3.Error):  # a server's: the folder has no part in it
            raise errors.DatabaseRefuses(reason=str(error.orig).partition("\n")[0]) from error
        if isinstance(error, OperationalError):
            raise errors.DataFolderUnusable(folder=os.path.abspath(folder), reason=error.orig) from error
        raise errors.DataFolderDamaged(file=CATALOGUE, folder=os.path.abspath(folder)) from error
    except OSError as error:
        raise errors.DataFolderUnusable(folder=os.path.abspath(folder), reason=error.strerror or error) from error


def sweep_links(folder: Path) -> None:
    """Deletes the links of a backup that was killed: otherwise removed originals would still exist."""
    if not (folder / LINKS).exists():
        return
    try:
        with backup_of(folder).acquire(timeout=0):
            shutil.rmtree(folder / LINKS)
    except Timeout:
        log.info("A backup of %s is under way", folder)
    except OSError as error:  # such as a backup that root has made
        log.warning("The links that an interrupted backup has left in %s can't be deleted: %s", folder / LINKS, error)
