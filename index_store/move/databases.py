"""Which databases a data folder has, and how each is moved.

Beside the catalogue there are those of packages that stand on this one. It imports none of them: each tells what it
keeps in a module `databases`, and a database of which none tells is noticed.
"""

from importlib import import_module
from pathlib import Path
from typing import Protocol

import index_store
from index_store.base.database.backend import DatabaseLocation
from index_store.move.catalogue import CatalogueTables
from index_store.move.tables import ProgressCallback


class MovableDatabase(Protocol):
    """One database. Each method raises SQLAlchemyError and the errors of `open_database`."""

    name: str
    """of its file, without an end, and of its schema"""

    def refuse_newer(self, place: DatabaseLocation) -> None:
        """Changes nothing. Raises DataFolderNewer."""

    def make(self, place: DatabaseLocation) -> None:
        """With empty tables; one that is there is brought to the present version."""

    def copy(self, origin: DatabaseLocation, target: DatabaseLocation, on_progress: ProgressCallback) -> None:
        """Makes the target, which is made, like the origin. Raises CountsDiffer."""


def all_databases() -> list[MovableDatabase]:
    """The catalogue first: what is removed is noted in it before it leaves the others."""
    beside = Path(index_store.__file__).parent.parent
    databases: list[MovableDatabase] = [CatalogueTables()]
    for module in sorted(beside.glob("*/databases.py")):
        databases += import_module(f"{module.parent.name}.databases").DATABASES
    return databases
