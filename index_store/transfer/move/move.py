"""Moves a data folder's databases and vectors to servers or back. The originals stay where they are."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from pathlib import Path

from sqlalchemy import inspect
from sqlalchemy.exc import SQLAlchemyError

from index_store.base.database.backend import DatabaseLocation
from index_store.base.database.database import backend_of, place_of
from index_store.base.errors import DatabaseInUse, OlderVersionRuns, PlainError
from index_store.base.settings.settings import Settings
from index_store.library.data_folder import IDENTITY, NAMESPACE, ORIGINALS_NOTED, lock_folder
from index_store.library.library import CHROMA
from index_store.library.opening import open_library
from index_store.library.switch import finish_switch, prepared, switch
from index_store.transfer.backup.manifest import databases
from index_store.transfer.move import errors
from index_store.transfer.move.databases import MovableDatabase, all_databases
from index_store.transfer.move.plan import MovePlan, MoveTarget, plan_of
from index_store.transfer.move.tables import ProgressCallback
from index_store.vectors.backend import server_database
from index_store.vectors.chroma import chroma_backend
from index_store.vectors.copying import copy_vectors


def move(settings: Settings, to: MoveTarget, on_progress: ProgressCallback) -> tuple[Settings, errors.MoveEnd]:
    """Can be killed at any moment: the data in use stays as it was, and the next call continues the move.

    Returns the settings of the backend that is now in use, and a message about the other one. Raises MoveError and the
    errors of IndexStore.
    """
    folder = settings.data_dir
    with ExitStack() as held, _as_plain():
        held.callback(lock_folder(folder).release)
        finish_switch(folder)
        plan = plan_of(settings, to)
        if not plan.databases and not plan.vectors:
            return plan.target, errors.NothingLeft()
        movable = all_databases()
        _refuse(plan, movable)
        # Like each start, this migrates it to the present version and finishes unfinished changes.
        open_library(plan.origin).close()
        there = [each for each in movable if _is_there(_place(each, plan.origin))]
        for each in there:
            each.make(_place(each, plan.origin))
        new = prepared(folder, to)
        identity = _identity(plan, new)
        with _alone(plan, there):
            if plan.databases:
                _move_databases(plan, there, new, identity, on_progress)
            if plan.vectors:
                _move_vectors(plan, new, identity, on_progress)
        return plan.target, _switch(plan, to, new, there, identity)


def _refuse(plan: MovePlan, movable: Sequence[MovableDatabase]) -> None:
    """Called before anything is changed. Raises UnknownDatabase, DataFolderNewer."""
    folder = plan.origin.data_dir
    for file in databases(folder):
        if plan.databases and file.stem not in {each.name for each in movable}:
            raise errors.UnknownDatabase(folder=os.path.abspath(folder), name=file.name)
    for each in movable:
        each.refuse_newer(_place(each, plan.origin))


def _place(database: MovableDatabase, settings: Settings, folder: Path | None = None) -> DatabaseLocation:
    return place_of(database.name, folder or settings.data_dir, settings.database_url)


def _is_there(place: DatabaseLocation) -> bool:
    """Whether it has any table."""
    if not place.exists():
        return False
    with place.for_migration().connect() as connection:
        return bool(inspect(connection).get_table_names())


@contextmanager
def _alone(plan: MovePlan, movable: Sequence[MovableDatabase]) -> Iterator[None]:
    """Until the block ends, nobody else changes the origin and no other app has the target. Raises StillUsed,
    DatabaseInUse.
    """
    catalogue = movable[0]
    with ExitStack() as held:
        for settings in (plan.origin, plan.target) if plan.databases else ():
            if settings.database_url:
                held.enter_context(_owned(_place(catalogue, settings), is_origin=settings is plan.origin))
        for each in movable:
            place = _place(each, plan.origin)
            connection = held.enter_context(place.for_migration().connect())
            if each is catalogue:
                # Command lines change people and grants while another process owns the folder.
                backend_of(connection).begin_exclusive(connection)
            try:
                place.wait_until_unused(connection)
            except OlderVersionRuns as error:
                raise errors.StillUsed() from error
        yield


@contextmanager
def _owned(place: DatabaseLocation, *, is_origin: bool) -> Iterator[None]:
    database = place.for_migration()
    try:
        owned = backend_of(database).own(database)
    except DatabaseInUse as error:
        if is_origin:
            raise errors.StillUsed() from error
        raise
    with owned or nullcontext():
        yield


def _identity(plan: MovePlan, new: Path) -> str:
    """The id by which folder and servers recognise each other."""
    known = plan.origin.data_dir / IDENTITY
    noted = known if known.exists() else new / IDENTITY
    if not noted.exists():
        part = new.with_name(f"{IDENTITY}.part")
        # Originals and vectors outside the folder have marks that name their owner.
        marks = (plan.origin.data_dir / ORIGINALS_NOTED, plan.origin.data_dir / NAMESPACE)
        marked = next((each.read_text(encoding="utf-8") for each in marks if each.exists()), None)
        part.write_text(marked or uuid.uuid4().hex, encoding="utf-8")
        part.rename(noted)
    return noted.read_text(encoding="utf-8")


def _move_databases(
    plan: MovePlan, movable: Sequence[MovableDatabase], new: Path, identity: str, on_progress: ProgressCallback
) -> None:
    for each in movable:
        target = _place(each, plan.target, new)
        target.claim(identity, moving=True)
        each.make(target)
        each.copy(_place(each, plan.origin), target, on_progress)
    for each in movable:
        _place(each, plan.target, new).claim(identity, moving=False)


def _move_vectors(plan: MovePlan, new: Path, identity: str, on_progress: ProgressCallback) -> None:
    folder = plan.origin.data_dir
    noted = folder / NAMESPACE
    namespace = noted.read_text(encoding="utf-8") if noted.exists() else identity
    with (
        closing(chroma_backend(folder / CHROMA, plan.origin.chroma_url, namespace)) as origin,
        closing(chroma_backend(new / CHROMA, plan.target.chroma_url, namespace)) as target,
    ):
        copy_vectors(origin, target, lambda name, done, of: on_progress(f"vectors.{name}", done, of))


def _switch(
    plan: MovePlan, to: MoveTarget, new: Path, movable: Sequence[MovableDatabase], identity: str
) -> errors.MoveEnd:
    folder = plan.origin.data_dir
    if to is MoveTarget.FOLDER:
        noted = folder / NAMESPACE
        left = [f"schema {each.name}" for each in movable] if plan.databases else []
        if plan.vectors:
            left.append(f"Chroma database {server_database(noted.read_text(encoding='utf-8'))}")
        (new / IDENTITY).unlink(missing_ok=True)
        switch(folder, [*_files(folder, IDENTITY), *_files(folder, NAMESPACE), *_files(folder, CHROMA)])
        return errors.MovedToFolder(left=", ".join(left))
    if plan.vectors:
        (new / NAMESPACE).write_text(identity, encoding="utf-8")
    if not plan.databases:
        (new / IDENTITY).unlink(missing_ok=True)
    # Also copies from before an upgrade: nothing else would delete them later.
    old = [*(_files(folder, "*.sqlite3*") if plan.databases else ()), *(_files(folder, CHROMA) if plan.vectors else ())]
    return errors.MovedToServers(aside=os.path.abspath(switch(folder, old)))


def _files(folder: Path, names: str) -> list[str]:
    return sorted(each.name for each in folder.glob(names))


@contextmanager
def _as_plain() -> Iterator[None]:
    """Raises MoveFailed."""
    try:
        yield
    except PlainError:
        raise
    except OSError as error:
        raise errors.MoveFailed(reason=error.strerror or error) from error
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or type(error).__name__).partition("\n")[0]
        raise errors.MoveFailed(reason=reason) from error
