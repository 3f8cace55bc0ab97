"""The folder of a store: one process owns it, and says in words when it can't."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import logging
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy.exc import DatabaseError, OperationalError

from index_store.base import errors
from index_store.base.database import is_present
from index_store.base.folders import backup_of, make_private
from index_store.catalogue.catalogue import Catalogue
from index_store.catalogue.schema import SCHEMA
from index_store.library.library import CATALOGUE, Library

LINKS = "backup"
"""what a backup under way keeps for itself: originals by a second name, as one may be removed before its turn"""

RESTORING = "restoring"
"""where a restore unpacks; as long as it is there, the folder is not whole"""

log = logging.getLogger(__name__)


def own(folder: Path) -> FileLock:
    """The lock that says that this process owns the folder; beside it, for the reader of an error, which one does."""
    owner = folder / "index_store.pid"
    lock = FileLock(folder / "index_store.lock", thread_local=False)
    try:
        make_private(folder)
        lock.acquire(timeout=0)
        owner.write_text(str(os.getpid()))
    except Timeout as error:
        pid = owner.read_text().strip() if owner.exists() else "?"
        raise errors.StoreInUse(folder=os.path.abspath(folder), pid=pid) from error
    except OSError as error:
        lock.release()
        raise errors.DataFolderUnusable(folder=os.path.abspath(folder)) from error
    _say_if_open_to_others(folder)
    return lock


def _say_if_open_to_others(folder: Path) -> None:
    """No more: whoever made a folder that a group shares, say, meant it."""
    others = stat.S_IRWXG | stat.S_IRWXO
    if os.name == "posix" and folder.stat().st_mode & others:
        log.warning("Other accounts may look into the data folder %s; `chmod 700` closes it to them", folder)


def open_library(folder: Path) -> Library:
    _refuse_unfinished(folder)
    _sweep_links(folder)
    with _telling(folder):
        return Library(folder)


@contextmanager
def open_catalogue(folder: Path) -> Iterator[Catalogue]:
    """Alone, by its owner or beside it: what is one transaction of it needs no other. Raises as IndexStore does;
    StoreInUse only where the owner is of another version.
    """
    _refuse_unfinished(folder)
    with ExitStack() as owned:
        try:
            owned.callback(own(folder).release)
        except errors.StoreInUse:
            with _telling(folder):
                if not is_present(folder / CATALOGUE, SCHEMA):
                    raise
        with _telling(folder):
            catalogue = owned.enter_context(closing(Catalogue(folder / CATALOGUE)))
        yield catalogue


def _refuse_unfinished(folder: Path) -> None:
    if (folder / RESTORING).exists():
        raise errors.RestoreUnfinished(folder=os.path.abspath(folder))


@contextmanager
def _telling(folder: Path) -> Iterator[None]:
    """Raises DataFolderUnusable, DataFolderDamaged."""
    try:
        yield
    except (OSError, OperationalError) as error:
        raise errors.DataFolderUnusable(folder=os.path.abspath(folder)) from error
    except DatabaseError as error:
        raise errors.DataFolderDamaged(file=CATALOGUE, folder=os.path.abspath(folder)) from error


def _sweep_links(folder: Path) -> None:
    """Those of a backup that was killed: what is removed now is to be gone."""
    if not (folder / LINKS).exists():
        return
    try:
        with backup_of(folder).acquire(timeout=0):
            shutil.rmtree(folder / LINKS, ignore_errors=True)
    except Timeout:
        log.info("A backup of %s is under way", folder)
