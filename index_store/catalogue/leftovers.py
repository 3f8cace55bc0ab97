"""Vectors that must be deleted from Chroma: recorded before they are written, forgotten after they are gone."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Engine, delete, select

from index_store.base.database.database import backend_of
from index_store.catalogue.schema import dropped, leftovers
from index_store.catalogue.sections import chunk_id


class Leftover(NamedTuple):
    """Vectors of a version that is not the ready one."""

    collection: str
    document_id: str
    revision: int
    chunks: int

    @property
    def ids(self) -> list[str]:
        return [chunk_id(self.document_id, self.revision, position) for position in range(self.chunks)]


class Leftovers:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def vectors(self) -> list[Leftover]:
        with self._engine.connect() as connection:
            return [Leftover(*row) for row in connection.execute(select(leftovers))]

    def forget_vectors(self, leftover: Leftover) -> None:
        """Called after they are deleted."""
        with self._engine.begin() as connection:
            delete_leftover(connection, leftover)

    def collections(self) -> list[str]:
        """Collections that no index uses any more."""
        with self._engine.connect() as connection:
            return list(connection.execute(select(dropped.c.collection)).scalars())

    def forget_collection(self, collection: str) -> None:
        with self._engine.begin() as connection:
            connection.execute(delete(dropped).where(dropped.c.collection == collection))


def insert_leftovers(connection: Connection, some: Sequence[Leftover]) -> None:
    backend_of(connection).put(connection, leftovers, [leftover._asdict() for leftover in some])


def delete_leftover(connection: Connection, leftover: Leftover) -> None:
    connection.execute(
        delete(leftovers).where(
            leftovers.c.collection == leftover.collection,
            leftovers.c.document_id == leftover.document_id,
            leftovers.c.revision == leftover.revision,
        )
    )


def insert_dropped(connection: Connection, collection: str) -> None:
    backend_of(connection).put(connection, dropped, [{"collection": collection}])
