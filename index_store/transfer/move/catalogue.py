"""Moves the catalogue: its tables, and the full text of each index, which each backend has in its own tables."""

from sqlalchemy import Connection, inspect, select

from index_store.base.database.backend import DatabaseLocation
from index_store.catalogue.full_text import TABLES, bm25_index
from index_store.catalogue.schema import SCHEMA, indexes
from index_store.transfer.move.errors import CountsDiffer
from index_store.transfer.move.tables import ProgressCallback, Tables, reading, writing

CHUNKS = 250
"""whose terms are in memory at a time"""


class CatalogueTables(Tables):
    """See MovableDatabase."""

    def __init__(self) -> None:
        super().__init__("catalogue", SCHEMA)

    def copy(self, origin: DatabaseLocation, target: DatabaseLocation, on_progress: ProgressCallback) -> None:
        super().copy(origin, target, on_progress)
        with reading(origin) as read, writing(target) as write:
            ids = list(read.execute(select(indexes.c.id).order_by(indexes.c.id)).scalars())
            _drop_others(write, set(ids))
            for id_ in ids:
                _copy_full_text(read, write, id_, on_progress)


def _drop_others(target: Connection, ids: set[str]) -> None:
    """Drops the full text of indexes that the origin does not have any more."""
    names = [name.removeprefix(TABLES) for name in inspect(target).get_table_names() if name.startswith(TABLES)]
    for id_ in {name.partition("_")[0] for name in names} - ids:
        bm25_index(id_).drop(target)
    target.commit()


def _copy_full_text(origin: Connection, target: Connection, index_id: str, on_progress: ProgressCallback) -> None:
    """Keeps the numbers of the rows, which order equal scores. Raises CountsDiffer."""
    full_text = bm25_index(index_id)
    if not full_text.exists(origin):
        return
    wanted, _ = full_text.totals(origin)
    done, after = _alike(origin, target, index_id)
    what = f"catalogue.{TABLES}{index_id}"
    on_progress(what, done, wanted)
    while rows := full_text.chunk_rows(origin, after, CHUNKS):
        full_text.put_rows(target, rows)
        target.commit()
        done, after = done + len(rows), rows[-1].row
        on_progress(what, done, wanted)
    if full_text.totals(target) != full_text.totals(origin):
        raise CountsDiffer(what=what, wanted=wanted, there=full_text.totals(target)[0])
    target.commit()


def _alike(origin: Connection, target: Connection, index_id: str) -> tuple[int, int]:
    """The number of rows that both have, and the last of them. If the target has other rows, it is emptied."""
    full_text = bm25_index(index_id)
    done = after = 0
    if full_text.exists(target):
        while there := full_text.chunk_rows(target, after, CHUNKS):
            if there != full_text.chunk_rows(origin, after, CHUNKS)[: len(there)]:
                break
            done, after = done + len(there), there[-1].row
        else:
            return done, after
    full_text.drop(target)
    full_text.create(target)
    target.commit()
    return 0, 0
