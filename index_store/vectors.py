"""The vectors of chunks, in Chroma. It holds no text: that is the catalogue's."""

import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from index_store import errors

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

log = logging.getLogger(__name__)

BATCH = 5000
"""records a call; Chroma 1.5 refuses more than 5461"""

SAMPLE = 100
"""vectors of which the mean tells what is far from a question"""


@contextmanager
def _failing_as_os_error() -> Iterator[None]:
    """A disk that is full or fails is Chroma's own error, whose type says nothing more."""
    from chromadb.errors import ChromaError

    try:
        yield
    except ChromaError as error:
        raise OSError(str(error)) from error


class Vectors:
    """One collection an index: filtering a shared one costs 45 times at 100,000 rows."""

    def __init__(self, folder: Path) -> None:
        # Imported here: half a second that `--help` and the parser's process need not spend.
        import chromadb
        from chromadb.config import Settings
        from chromadb.errors import ChromaError

        self._folder = folder
        self._gate = threading.Condition()
        self._searches = 0
        self._changes = 0
        self._means: dict[str, tuple[int, NDArray[np.float32]]] = {}
        """by collection, each with how many changes it has seen"""
        try:
            self._client = chromadb.PersistentClient(path=folder, settings=Settings(anonymized_telemetry=False))
        except ChromaError as error:
            raise errors.DataFolderDamaged(file=folder.name, folder=folder.parent.absolute()) from error

    def close(self) -> None:
        self._client.close()

    @_failing_as_os_error()
    def put(self, collection: str, document_id: str, ids: list[str], vectors: NDArray[np.float32]) -> None:
        target = self._collection(collection)
        for i in range(0, len(ids), BATCH):
            part = ids[i : i + BATCH]
            target.upsert(
                ids=part, embeddings=vectors[i : i + BATCH], metadatas=[{"document_id": document_id}] * len(part)
            )
        self._changes += 1

    @_failing_as_os_error()
    def delete(self, collection: str, ids: list[str]) -> None:
        target = self._collection(collection)
        for i in range(0, len(ids), BATCH):
            target.delete(ids=ids[i : i + BATCH])
        self._changes += 1

    def nearest(
        self, collection: str, vector: NDArray[np.float32], k: int, document_ids: Sequence[str] | None = None
    ) -> list[tuple[str, float]]:
        """Up to k chunk ids with their cosine similarity, best first; none of a collection that is gone.

        `document_ids`: the only documents that are searched, which takes longer.
        """
        within = None if document_ids is None else {"document_id": {"$in": list(document_ids)}}
        with self._searched(collection) as target:
            if target is None:
                return []
            found = target.query(query_embeddings=[vector], n_results=k, where=within, include=["distances"])
        return [(id_, 1.0 - distance) for id_, distance in zip(found["ids"][0], found["distances"][0], strict=True)]

    def far(self, collection: str, vector: NDArray[np.float32]) -> float:
        """The mean cosine of a question to passages of the collection, whichever they are: what is no nearer is far."""
        seen, mean = self._means.get(collection, (-1, None))
        if mean is None or seen != self._changes:
            seen = self._changes
            with self._searched(collection) as target:
                sample = target.get(limit=SAMPLE, include=["embeddings"])["embeddings"] if target else ()
            if not len(sample):
                return 0.0
            mean = (sample / np.linalg.norm(sample, axis=1, keepdims=True)).mean(axis=0)
            self._means[collection] = (seen, mean)
        return float(vector @ mean / np.linalg.norm(vector))

    @contextmanager
    def _searched(self, name: str) -> "Iterator[Collection | None]":
        """The collection, or None of one that is gone: made anew, whoever deletes its index would never know of it."""
        from chromadb.errors import NotFoundError

        with self._searching():
            try:
                yield self._client.get_collection(name, embedding_function=None)
            except NotFoundError:
                yield None

    def ids(self, collection: str) -> Iterator[str]:
        target = self._collection(collection)
        for offset in range(0, target.count(), BATCH):
            yield from target.get(limit=BATCH, offset=offset, include=[])["ids"]

    def collections(self) -> set[str]:
        return {collection.name for collection in self._client.list_collections()}

    def drop(self, collection: str) -> None:
        """Gives its disk space back."""
        from chromadb.errors import NotFoundError

        try:
            self._client.delete_collection(collection)
        except NotFoundError:
            log.info("%s was gone already", collection)
        with self._gate:
            self._gate.wait_for(lambda: not self._searches)
            self._give_space_back()

    def _give_space_back(self) -> None:
        """Chroma 1.5 leaves the folder of a deleted collection, and its rows' room in the database."""
        compact = [sys.executable, "-I", Path(__file__).with_name("compact.py"), self._folder / "chroma.sqlite3"]
        done = subprocess.run(compact, capture_output=True, encoding="utf-8", check=False)  # noqa: S603 - our own
        if done.returncode:
            log.warning("Chroma's disk space is not given back: %s", done.stderr)
            return
        used = set(done.stdout.split())
        for folder in self._folder.iterdir():
            if folder.is_dir() and folder.name not in used:
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _searching(self) -> Iterator[None]:
        """Compacting waits for searches and they for it: Chroma gives up on a database that is locked for seconds."""
        with self._gate:
            self._searches += 1
        try:
            yield
        finally:
            with self._gate:
                self._searches -= 1
                self._gate.notify_all()

    def _collection(self, name: str) -> "Collection":
        # embedding_function=None: Chroma's default one would be downloaded.
        return self._client.get_or_create_collection(
            name, embedding_function=None, configuration={"hnsw": {"space": "cosine", "ef_search": 200}}
        )
