"""Opens the catalogue, the vectors and the originals that belong to a data folder."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from index_store.base import errors
from index_store.base.database.backend import MOVING, ChangeLock, DatabaseLocation
from index_store.base.database.database import backend_of, is_present, place_of
from index_store.base.folders import write_note
from index_store.base.settings.settings import Settings
from index_store.catalogue.catalogue import Catalogue
from index_store.catalogue.schema import SCHEMA
from index_store.library.data_folder import (
    IDENTITY,
    NAMESPACE,
    ORIGINALS_NOTED,
    as_plain,
    lock_folder,
    prepare_to_write,
    say_if_open_to_others,
    sweep_links,
)
from index_store.library.library import CATALOGUE, CHROMA, Library
from index_store.library.originals.folder import Folder
from index_store.library.originals.originals import Originals
from index_store.library.originals.registry import FOLDER, originals_backend
from index_store.vectors.chroma import VectorStore, chroma_backend


def open_library(settings: Settings) -> Library:
    """The library of an app: the only one with this folder or, with a queue, one of several. Raises FolderNotShared if
    there are others and their originals are not in the folder.
    """
    folder = settings.data_dir
    prepare_to_write(folder)
    sweep_links(folder)
    with as_plain(folder):
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
    prepare_to_write(folder)
    # The app's note shows that both have the same folder. If they share no folder, the originals show it instead.
    if settings.originals_url is None and not (folder / IDENTITY).exists():
        raise errors.FolderNotShared(folder=os.path.abspath(folder))
    with as_plain(folder):
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
        return VectorStore(chroma_backend(local, None, ""))
    if not noted.exists():
        if local.exists() and has_some:
            raise errors.VectorsInFolder(folder=os.path.abspath(folder))
        shutil.rmtree(local, ignore_errors=True)
        write_note(noted, _owner(folder / ORIGINALS_NOTED, catalogue))
    return VectorStore(chroma_backend(local, settings.chroma_url, noted.read_text(encoding="utf-8")))


def _originals_of(settings: Settings, catalogue: Catalogue) -> Originals:
    """The originals of this catalogue. Raises OriginalsInFolder, OriginalsElsewhere, OriginalsOfAnother,
    OriginalsNotThere, DataFolderUnusable.
    """
    folder = settings.data_dir
    noted, local = folder / ORIGINALS_NOTED, folder / FOLDER
    backend, versions = originals_backend(settings), catalogue.documents.revisions
    if settings.originals_url is None:
        if noted.exists() and versions():
            raise errors.OriginalsElsewhere(place=os.path.abspath(local), noted=os.path.abspath(noted))
        noted.unlink(missing_ok=True)
        return Originals(backend, None, versions)
    if any(local.glob("??/*-*")):
        raise errors.OriginalsInFolder(place=os.path.abspath(local))
    owner = _owner(noted if noted.exists() else folder / NAMESPACE, catalogue)
    write_note(noted, owner)
    if isinstance(backend, Folder) and (place := Path(backend.place)).exists():
        say_if_open_to_others(place)
    try:
        return Originals(backend, owner, versions)
    except OSError as error:  # its disk, not that of the data folder
        raise errors.DataFolderUnusable(folder=backend.place, reason=error.strerror or error) from error


@contextmanager
def open_catalogue(settings: Settings) -> Iterator[Catalogue]:
    """Only the catalogue, opened by its owner or while another process owns it, for changes that are one transaction.
    Raises the errors of IndexStore; StoreInUse only if the owner has another version.
    """
    folder = settings.data_dir
    prepare_to_write(folder)
    with ExitStack() as owned:
        try:
            owned.callback(lock_folder(folder).release)
        except errors.StoreInUse:
            with as_plain(folder):
                if not is_present(_place(settings), SCHEMA):
                    raise
        with as_plain(folder):
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
        write_note(noted, identity)
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


def _owner(mark: Path, catalogue: Catalogue) -> str:
    """The name of this catalogue: what is outside of its folder has it as the owner. `mark`: where it may be noted."""
    identity = backend_of(catalogue.database).identity(catalogue.database)
    return identity or (mark.read_text(encoding="utf-8") if mark.exists() else uuid.uuid4().hex)
