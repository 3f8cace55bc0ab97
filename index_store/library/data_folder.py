"""The data folder of a store: which process may use it, and which catalogue, vectors and originals belong to it."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import logging
import os
import shutil
import sqlite3
import stat
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy.exc import DatabaseError, OperationalError

from index_store.base import errors
from index_store.base.database.backend import MOVING, ChangeLock, DatabaseLocation
from index_store.base.database.database import backend_of, is_present, place_of
from index_store.base.folders import backup_of, make_private, refuse_root
from index_store.base.settings import Settings
from index_store.catalogue.catalogue import Catalogue
from index_store.catalogue.schema import SCHEMA
from index_store.library.library import CATALOGUE, CHROMA, Library
from index_store.library.originals.folder import Folder
from index_store.library.originals.originals import Originals
from index_store.library.originals.registry import FOLDER
from index_store.library.originals.registry import backend_of as backend_of_originals
from index_store.library.switch import finish
from index_store.vectors.chroma import VectorStore
from index_store.vectors.chroma import backend_of as backend_of_vectors

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


def own(folder: Path) -> FileLock:
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


def open_library(settings: Settings) -> Library:
    """The library of an app: the only one with this folder or, with a queue, one of several. Raises FolderNotShared if
    there are others and their originals are not in the folder.
    """
    folder = settings.data_dir
    _refuse_unfinished(folder)
    _sweep_links(folder)
    with _telling(folder):
        return Library(
            folder,
            partial(_owned_catalogue_of, settings),
            partial(_vectors_of, settings),
            partial(_originals_of, settings),
        )


def open_shared_library(settings: Settings) -> Library:
    """The library of a worker, which saves documents while an app owns it. Raises NoQueue, FolderNotShared; StoreInUse
    if the app has another version.
    """
    folder = settings.data_dir
    if not settings.has_queue:
        raise errors.NoQueue()
    _refuse_unfinished(folder)
    # The app's note shows that both have the same folder. If they share no folder, the originals show it instead.
    if settings.originals_url is None and not (folder / IDENTITY).exists():
        raise errors.FolderNotShared(folder=os.path.abspath(folder))
    with _telling(folder):
        if not is_present(_place(settings), SCHEMA):
            raise errors.FolderNotShared(folder=os.path.abspath(folder))
        return Library(
            folder,
            partial(_shared_catalogue_of, settings),
            partial(_vectors_of, settings),
            partial(_originals_of, settings),
            is_owner=False,
        )


def _vectors_of(settings: Settings, catalogue: Catalogue) -> VectorStore:
    """The vectors that belong to this catalogue. Raises VectorsInFolder, VectorsOnServer."""
    folder = settings.data_dir
    noted, local = folder / NAMESPACE, folder / CHROMA
    has_some = any(index.dimension for index in catalogue.indexes.records())
    if settings.chroma_url is None:
        if noted.exists() and has_some:
            raise errors.VectorsOnServer(folder=os.path.abspath(folder), place=os.path.abspath(noted))
        noted.unlink(missing_ok=True)
        return VectorStore(backend_of_vectors(local, None, ""))
    if not noted.exists():
        if local.exists() and has_some:
            raise errors.VectorsInFolder(folder=os.path.abspath(folder))
        shutil.rmtree(local, ignore_errors=True)
        identity = backend_of(catalogue.database).identity(catalogue.database)
        noted.write_text(identity or uuid.uuid4().hex, encoding="utf-8")
    return VectorStore(backend_of_vectors(local, settings.chroma_url, noted.read_text(encoding="utf-8")))


def _originals_of(settings: Settings, catalogue: Catalogue) -> Originals:
    """The originals of this catalogue. Raises OriginalsInFolder, OriginalsElsewhere, OriginalsOfAnother,
    OriginalsNotThere.
    """
    folder = settings.data_dir
    noted, local = folder / ORIGINALS_NOTED, folder / FOLDER
    backend, versions = backend_of_originals(settings), catalogue.documents.revisions
    if settings.originals_url is None:
        if noted.exists() and versions():
            raise errors.OriginalsElsewhere(place=os.path.abspath(local), noted=os.path.abspath(noted))
        noted.unlink(missing_ok=True)
        return Originals(backend, None, versions)
    if any(local.glob("??/*-*")):
        raise errors.OriginalsInFolder(place=os.path.abspath(local))
    owner = backend_of(catalogue.database).identity(catalogue.database)
    if owner is None:
        owner = noted.read_text(encoding="utf-8") if noted.exists() else uuid.uuid4().hex
    noted.write_text(owner, encoding="utf-8")
    if isinstance(backend, Folder) and (place := Path(backend.place)).exists():
        say_if_open_to_others(place)
    return Originals(backend, owner, versions)


@contextmanager
def open_catalogue(settings: Settings) -> Iterator[Catalogue]:
    """Only the catalogue, opened by its owner or while another process owns it, for changes that are one transaction.
    Raises the errors of IndexStore; StoreInUse only if the owner has another version.
    """
    folder = settings.data_dir
    _refuse_unfinished(folder)
    with ExitStack() as owned:
        try:
            owned.callback(own(folder).release)
        except errors.StoreInUse:
            with _telling(folder):
                if not is_present(_place(settings), SCHEMA):
                    raise
        with _telling(folder):
            # A command must not make a strange folder one of the app's: `_refuse_strange` looks for the note.
            catalogue = owned.enter_context(closing(_catalogue_of(settings, notes=not settings.has_queue)))
        yield catalogue


def _place(settings: Settings) -> DatabaseLocation:
    return place_of(Path(CATALOGUE).stem, settings.data_dir, settings.database_url)


def _catalogue_of(settings: Settings, *, notes: bool = True) -> Catalogue:
    """The catalogue that belongs to this folder. With another one, a start would delete all originals and vectors,
    because that catalogue does not know them. `notes`: whether the folder gets a note of its id. Raises
    CatalogueInFolder, CatalogueInDatabase, MoveUnfinished.
    """
    folder = settings.data_dir
    noted = folder / IDENTITY
    if settings.database_url and (folder / CATALOGUE).exists():
        raise errors.CatalogueInFolder(folder=os.path.abspath(folder))
    if not settings.database_url and noted.exists():
        raise errors.CatalogueInDatabase(folder=os.path.abspath(folder))
    catalogue = Catalogue(_place(settings))
    identity = backend_of(catalogue.database).identity(catalogue.database)
    if identity and identity.startswith(MOVING):
        catalogue.close()
        raise errors.MoveUnfinished()
    if identity and noted.exists() and noted.read_text(encoding="utf-8") != identity:
        catalogue.close()
        raise errors.CatalogueInDatabase(folder=os.path.abspath(folder))
    if identity and notes:
        noted.write_text(identity, encoding="utf-8")
    return catalogue


def _owned_catalogue_of(settings: Settings) -> tuple[Catalogue, ChangeLock | None]:
    """Also raises DatabaseInUse, FolderNotShared."""
    is_known = (settings.data_dir / IDENTITY).exists()
    catalogue = _catalogue_of(settings)
    try:
        if settings.has_queue:
            catalogue.share()
            if settings.originals_url is None:
                _refuse_strange(settings.data_dir, catalogue, is_known=is_known)
        else:
            catalogue.own()
    except errors.IndexStoreError:
        catalogue.close()
        raise
    return catalogue, _changes_of(catalogue, settings)


def _refuse_strange(folder: Path, catalogue: Catalogue, *, is_known: bool) -> None:
    """Refuses a folder without a note of its database if other apps use that database: their originals are elsewhere.

    Raises FolderNotShared.
    """
    if is_known or not catalogue.replica or len(catalogue.replica.alive()) == 1:
        return
    (folder / IDENTITY).unlink()
    raise errors.FolderNotShared(folder=os.path.abspath(folder))


def _shared_catalogue_of(settings: Settings) -> tuple[Catalogue, ChangeLock | None]:
    catalogue = _catalogue_of(settings)
    return catalogue, _changes_of(catalogue, settings)


def _changes_of(catalogue: Catalogue, settings: Settings) -> ChangeLock | None:
    """None if this is the only process."""
    if not settings.has_queue:
        return None
    from index_store.base.database.postgres import SharedChanges

    return SharedChanges(catalogue.database)


def _refuse_unfinished(folder: Path) -> None:
    """Before a process writes to the folder, also one that does not own it. Raises NotAsRoot, RestoreUnfinished, and
    the errors of `_telling`.
    """
    with _telling(folder):
        refuse_root(folder)
    if (folder / RESTORING).exists():
        raise errors.RestoreUnfinished(folder=os.path.abspath(folder))
    with _telling(folder):
        finish(folder)


@contextmanager
def _telling(folder: Path) -> Iterator[None]:
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


def _sweep_links(folder: Path) -> None:
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
