"""Where a folder's data is, found from the folder's files, and which of it a move takes to the other backend."""

# ruff: noqa: PTH100 - a folder is shown as it was given: Path.resolve() would follow links

import os
from enum import StrEnum
from typing import NamedTuple

from index_store.base.settings.settings import Settings
from index_store.library.data_folder import IDENTITY, NAMESPACE
from index_store.library.library import CATALOGUE
from index_store.transfer.move import errors


class MoveTarget(StrEnum):
    SERVERS = "servers"
    """those of DATABASE_URL and CHROMA_URL, or of one of them"""
    FOLDER = "folder"


class MovePlan(NamedTuple):
    origin: Settings
    """of the backend that is in use"""
    target: Settings
    """of the backend that will be"""
    databases: bool
    """whether the databases move"""
    vectors: bool
    """whether the vectors move"""


def plan_of(settings: Settings, to: MoveTarget) -> MovePlan:
    """Raises NothingToMove, NowhereToMove."""
    folder = settings.data_dir
    in_folder, in_database = (folder / CATALOGUE).exists(), (folder / IDENTITY).exists()
    if not in_folder and not in_database:
        raise errors.NothingToMove(folder=os.path.abspath(folder))
    on_server = (folder / NAMESPACE).exists()
    if to is MoveTarget.SERVERS and settings.database_url is None and settings.chroma_url is None:
        raise errors.NowhereToMove()
    if to is MoveTarget.SERVERS:
        databases = settings.database_url is not None and in_folder
        vectors = settings.chroma_url is not None and not on_server
        return MovePlan(_without(settings, databases, vectors), settings, databases, vectors)
    origin = _without(settings, in_folder, not on_server)
    return MovePlan(origin, _without(settings, databases=True, vectors=True), not in_folder, on_server)


def _without(settings: Settings, databases: bool, vectors: bool) -> Settings:
    gone = {"database_url": databases, "chroma_url": vectors}
    return settings.model_copy(update={name: None for name, is_gone in gone.items() if is_gone})
