"""Ids of removed documents, recorded in the same transaction, for everyone who has quoted them."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Engine, delete, select

from index_store.base.batches import batches
from index_store.base.database.database import VARIABLES, backend_of
from index_store.catalogue.schema import removed


class RemovedDocuments:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ids(self) -> list[str]:
        with self._engine.connect() as connection:
            return list(connection.execute(select(removed.c.document_id)).scalars())

    def forget(self, ids: Sequence[str]) -> None:
        with self._engine.begin() as connection:
            for some in batches(ids, VARIABLES):
                connection.execute(delete(removed).where(removed.c.document_id.in_(some)))


def insert_removed(connection: Connection, ids: Iterable[str]) -> None:
    rows = [{"document_id": each} for each in ids]
    if rows:
        backend_of(connection).put(connection, removed, rows)
