"""Which databases a data folder has, and how each is moved.

Besides the catalogue there are databases of packages that use this one. It imports none of them: each has a module
`databases` that names its databases. A move refuses a database that no module names.
"""

from importlib import import_module
from pathlib import Path
from typing import Protocol

import index_store
from index_store.base.database.backend import DatabaseLocation
from index_store.transfer.move.catalogue import CatalogueTables
from index_store.transfer.move.tables import ProgressCallback


class MovableDatabase(Protocol):
    """One database. Each method raises SQLAlchemyError and the errors of `open_database`."""

    name: str
    """of its file, without its suffix, and of its schema"""

    def refuse_newer(self, place: DatabaseLocation) -> None:
        """Changes nothing. Raises DataFolderNewer."""

    def make(self, place: DatabaseLocation) -> None:
        """Creates it with empty tables, or migrates an existing one to the present version."""

    def copy(self, origin: DatabaseLocation, target: DatabaseLocation, on_progress: ProgressCallback) -> None:
        """Makes the target, which must exist, equal to the origin. Raises CountsDiffer."""


def all_databases() -> list[MovableDatabase]:
    """The catalogue first: it records a removal before the others do it."""
    beside = Path(index_store.__file__).parent.parent
    databases: list[MovableDatabase] = [CatalogueTables()]
    for module in sorted(beside.glob("*/databases.py")):
        databases += import_module(f"{module.parent.name}.databases").DATABASES
    return databases
