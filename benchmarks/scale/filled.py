"""A store for several machines, filled with a given number of made chunks: Postgres and Chroma's server over a folder.

It is filled in bulk, without parsers and embedding. The rows are the same as after adding documents, but the index over
the terms is built at the end, and Chroma writes its graph to disk less often. adding.py measures the cost of adding. An
interrupted filling continues where it stopped.
"""

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from chromadb.api.models.Collection import Collection
from pydantic import SecretStr
from sqlalchemy import Engine, func, insert, select, update

from benchmarks.parts.clustered import Clustered
from benchmarks.scale.made import CHUNKS, REVISION, Made, MadeLibrary
from index_store.base.errors import VectorServerError
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import DocumentStatus, IndexRecord
from index_store.catalogue.schema import documents, indexes, now
from index_store.catalogue.sections import chunk_id, insert_sections
from index_store.full_text.gin import GIN
from index_store.full_text.postings import ChunkRow
from index_store.library.data_folder import NAMESPACE
from index_store.library.library import Library
from index_store.library.opening import open_library
from index_store.library.originals.originals import name_of
from index_store.store.index_store import IndexStore
from index_store.vectors.chroma import chroma_backend
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PostgresServer

T = TypeVar("T")

INDEX = "scale"

DATABASE = "glassbox"

POSTGRES = {"shared_buffers": "1GB", "max_wal_size": "8GB"}
"""a quarter of a machine of 4 GB; and a log that is not copied repeatedly during filling"""

AT_ONCE = 20
"""documents per transaction"""

VECTORS_AT_ONCE = 10
"""documents per call of Chroma: 2,000 rows"""

SELDOM = 100_000
"""rows after which Chroma writes its graph during filling; the default is 1,000, and it writes the whole graph each
time"""

OFTEN = 1000
"""Chroma's default"""

PATIENCE = 900
"""seconds for Chroma to read its data"""

TOLD = 10
"""seconds between two progress lines"""


@dataclass(frozen=True)
class Filled:
    """Running servers over a folder."""

    folder: Path
    postgres: PostgresServer
    chroma: ChromaServer

    @property
    def settings(self) -> Settings:
        return Settings(
            _env_file=None,
            data_dir=self.folder / "data",
            database_url=SecretStr(self.postgres.url(DATABASE)),
            chroma_url=SecretStr(self.chroma.url),
            workers="elsewhere",
        )


@contextmanager
def serving(folder: Path) -> Iterator[Filled]:
    """Both servers, with the data that is in the folder."""
    is_new = not (folder / "postgres" / "data").exists()
    with PostgresServer(folder / "postgres", **POSTGRES) as postgres, ChromaServer(folder / "chroma") as chroma:
        if is_new:
            postgres.run(f"CREATE DATABASE {DATABASE}")
        yield Filled(folder, postgres, chroma)


def fill(store: Filled, made: MadeLibrary) -> None:
    """Adds what is missing."""
    with IndexStore(store.settings, Clustered()) as opened:
        if INDEX not in {index.name for index in opened.indexes()}:
            opened.create_index(INDEX)
    with closing(open_library(store.settings)) as library, ThreadPoolExecutor(2) as threads:
        index = library.catalogue.indexes.named(INDEX)
        if index is None:
            raise RuntimeError(f"{INDEX} is gone")
        parts = [threads.submit(fill_text, library, index, made), threads.submit(fill_vectors, store, index, made)]
        for part in parts:
            part.result()


def fill_text(library: Library, index: IndexRecord, made: MadeLibrary) -> None:
    """Fills catalogue, full text and originals."""
    database = library.catalogue.database
    done = _documents(database, index)
    if index.dimension and done >= len(made):
        return
    dimension = update(indexes).where(indexes.c.id == index.id)
    terms = GIN(f"keywords_{index.id}")
    with database.begin() as connection:
        terms.defer(connection)
        connection.execute(dimension.values(dimension=0))  # until all is there
    told = _Told("text", len(made))
    for first in range(done, len(made), AT_ONCE):
        _put(library, index, terms, [made.document(number) for number in range(first, min(first + AT_ONCE, len(made)))])
        told.at(first + AT_ONCE)
    with database.begin() as connection:
        terms.settle(connection)
        connection.execute(dimension.values(dimension=Clustered.dimension))
    with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")


def _documents(database: Engine, index: IndexRecord) -> int:
    with database.connect() as connection:
        of_index = select(func.count()).where(documents.c.index_id == index.id)
        return connection.execute(of_index).scalar_one()


def _put(library: Library, index: IndexRecord, terms: GIN, some: list[Made]) -> None:
    rows = []
    for each in some:
        original = each.markdown.encode()
        path = Path(library.originals.place, name_of(each.id, REVISION))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(original)
        name = f"{each.id}.md"
        rows.append(
            {
                "id": each.id, "index_id": index.id, "source": name, "name": name, "title": each.title, "kind": "md",
                "size": len(original), "status": DocumentStatus.READY, "fingerprint": each.id, "revision": REVISION,
                "sections": len(each.sections), "chunks": len(each.terms), "added_at": now(),
            }
        )  # fmt: skip
    counts: Counter[str] = Counter()
    for chunk in (chunk for each in some for chunk in each.terms):
        counts.update({term for column in chunk.columns for term in column.split()})
    with library.catalogue.database.begin() as connection:
        connection.execute(insert(documents), rows)
        row = terms.next_row(connection)
        put = []
        for each in some:
            insert_sections(connection, each.id, REVISION, each.sections)
            for chunk in each.terms:
                put.append(ChunkRow(row, chunk.chunk_id, each.id, chunk.length, chunk.columns))
                row += 1
        terms.put(connection, put)
        terms.add_counts(connection, counts)
        terms.add_totals(connection, len(put), sum(each.length for each in put))


def fill_vectors(store: Filled, index: IndexRecord, made: MadeLibrary) -> None:
    namespace = (store.settings.data_dir / NAMESPACE).read_text(encoding="utf-8")
    with closing(chroma_backend(store.folder, store.settings.chroma_url, namespace)) as backend:
        collection = backend.get_or_create(index.collection)
        done = patiently(collection.count) // CHUNKS  # a document that is there in part is put again as a whole
        if done >= len(made):
            return
        _write_graph_after(SELDOM, collection)
        told = _Told("vectors", len(made))
        for first in range(done, len(made), VECTORS_AT_ONCE):
            _put_vectors(collection, made, range(first, min(first + VECTORS_AT_ONCE, len(made))))
            told.at(first + VECTORS_AT_ONCE)
        _write_graph_after(OFTEN, collection)
        # Chroma reads this setting when it starts. Then some rows are put again, so that it writes its graph: otherwise
        # each start would build the unwritten part.
        store.chroma.kill()
        store.chroma.start()
        _put_vectors(collection, made, range(max(0, len(made) - VECTORS_AT_ONCE), len(made)))


def _write_graph_after(rows: int, collection: Collection) -> None:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # about its embedding function
        collection.modify(configuration={"hnsw": {"sync_threshold": rows}})


def _put_vectors(collection: Collection, made: MadeLibrary, numbers: Sequence[int]) -> None:
    """`numbers`: of the documents."""
    owners = [made.id(number) for number in numbers for _ in range(made.chunks(number))]
    put = partial(
        collection.upsert,
        ids=[chunk_id(owner, REVISION, place % CHUNKS) for place, owner in enumerate(owners)],
        embeddings=np.concatenate([made.vectors(number) for number in numbers]),
        metadatas=[{"document_id": owner} for owner in owners],
    )
    patiently(put)


def patiently(ask: Callable[[], T]) -> T:
    """Repeats the call until Chroma is ready. At the first call, it reads an index and what it has not written of it
    yet, which may take minutes.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except VectorServerError:
            if time.monotonic() > until:
                raise
            time.sleep(1)


class _Told:
    """Progress lines on stderr."""

    def __init__(self, what: str, whole: int) -> None:
        self._what, self._whole = what, whole
        self._begun = self._last = time.monotonic()

    def at(self, done: int) -> None:
        at = time.monotonic()
        if at - self._last > TOLD or done >= self._whole:
            self._last = at
            took = at - self._begun
            print(f"{self._what}: {done} of {self._whole} documents after {took:.0f} s", file=sys.stderr, flush=True)
