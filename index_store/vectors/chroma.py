"""The vectors of chunks, in Chroma. It holds no text: that is the catalogue's."""

import logging
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from index_store.base import errors
from index_store.base.child_process import environment
from index_store.vectors.hnsw_orphans import Orphans
from index_store.vectors.probe import broken_collections

if TYPE_CHECKING:
    from chromadb import Where
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import Embedding

log = logging.getLogger(__name__)

OPEN = "open"
"""a file that is there while a process has the folder open; after one that was killed it is left"""

BATCH = 5000
"""records a call; Chroma 1.5 refuses more than 5461"""

APART = 0.01
"""how far a vector is moved from where it was, as a share of its length: a cosine changes by 0.00005"""

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


class VectorStore:
    """One collection an index: filtering a shared one costs 45 times at 100,000 rows."""

    def __init__(self, folder: Path) -> None:
        # Imported here: half a second that `--help` and the parser's process need not spend.
        import chromadb
        from chromadb.config import Settings
        from chromadb.errors import ChromaError

        self._folder = folder
        self._open = folder / OPEN
        self.broken = broken_collections(folder) if self._open.exists() else set()
        """collections that the last process was killed over; they can only be dropped"""
        self._gate = threading.Condition()
        self._searches = 0
        self._changes: Counter[str] = Counter()
        self._orphans: dict[str, tuple[int, Orphans]] = {}
        self._searched: dict[str, Collection] = {}
        """those that were looked up for a search: Chroma takes longer over that than over the search"""
        self._means: dict[str, tuple[int, NDArray[np.float32]]] = {}
        """by collection, each with how many changes it had seen, as the one above"""
        try:
            self._client = chromadb.PersistentClient(path=folder, settings=Settings(anonymized_telemetry=False))
        except ChromaError as error:
            raise errors.DataFolderDamaged(file=folder.name, folder=folder.parent.absolute()) from error
        self._open.touch()

    def close(self) -> None:
        self._client.close()  # type: ignore[attr-defined]  # the client has it, Chroma's protocol of clients does not
        self._open.unlink(missing_ok=True)

    @_failing_as_os_error()
    def put(
        self, collection: str, ids: Sequence[str], document_ids: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        """Each of the three has one entry, or row, a chunk."""
        target = self._collection(collection)
        vectors = _apart(vectors, seed=crc32(ids[0].encode()))
        for i in range(0, len(ids), BATCH):
            target.upsert(
                ids=list(ids[i : i + BATCH]),
                embeddings=vectors[i : i + BATCH],
                metadatas=[{"document_id": document_id} for document_id in document_ids[i : i + BATCH]],
            )
            self._changes[collection] += 1

    @_failing_as_os_error()
    def delete(self, collection: str, ids: list[str]) -> None:
        target = self._collection(collection)
        for i in range(0, len(ids), BATCH):
            target.delete(ids=ids[i : i + BATCH])
            self._changes[collection] += 1

    def nearest(
        self, collection: str, vector: NDArray[np.float32], k: int, document_ids: Sequence[str] | None = None
    ) -> list[tuple[str, float]]:
        """Up to k chunk ids with their cosine similarity, best first; none of a collection that is gone.

        `document_ids`: the only documents that are searched, which takes longer.
        """
        from chromadb.errors import NotFoundError

        asked: list[Embedding] = [vector]
        within = None if document_ids is None else cast("Where", {"document_id": {"$in": list(document_ids)}})
        try:
            with self._searching():
                target = self._known(collection)
                found = target.query(query_embeddings=asked, n_results=k, where=within, include=["distances"])
                orphans = self._orphans_of(target)
        except NotFoundError:
            return []
        distances = found["distances"] or [[]]
        near = {id_: 1.0 - distance for id_, distance in zip(found["ids"][0], distances[0], strict=True)}
        near |= orphans.cosines(vector, document_ids)
        return sorted(near.items(), key=lambda each: -each[1])[:k]

    def mean_cosine(self, collection: str, vector: NDArray[np.float32]) -> float:
        """Of a question to a sample of the collection: what is no nearer than this has nothing to do with it."""
        from chromadb.errors import NotFoundError

        seen, mean = self._means.get(collection, (-1, None))
        if mean is None or seen != self._changes[collection]:
            seen = self._changes[collection]
            try:
                with self._searching():
                    sample = self._known(collection).get(limit=SAMPLE, include=["embeddings"])["embeddings"]
            except NotFoundError:
                return 0.0
            if sample is None or not len(sample):
                return 0.0
            vectors = np.asarray(sample, np.float32)
            mean = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).mean(axis=0)
            self._means[collection] = (seen, mean)
        return float(vector @ mean / np.linalg.norm(vector))

    def _orphans_of(self, target: "Collection") -> Orphans:
        """Looked up once more after each change."""
        changes, orphans = self._orphans.get(target.name, (-1, None))
        if orphans is None or changes != self._changes[target.name]:
            changes = self._changes[target.name]
            orphans = Orphans.of(target)
            self._orphans[target.name] = (changes, orphans)
        return orphans

    def _known(self, name: str) -> "Collection":
        """For reading. One that is gone is not created: whoever deletes its index would never know of it."""
        if name not in self._searched:
            self._searched[name] = self._client.get_collection(name, embedding_function=None)
        return self._searched[name]

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
        for known in (self._searched, self._means, self._orphans, self._changes):
            known.pop(collection, None)
        with self._gate:
            self._gate.wait_for(lambda: not self._searches)
            self._give_space_back()

    def _give_space_back(self) -> None:
        """Chroma 1.5 leaves the folder of a deleted collection, and the pages of its rows in the database."""
        program, database = Path(__file__).with_name("compact.py"), self._folder / "chroma.sqlite3"
        compact = [sys.executable, "-I", str(program), str(database)]
        done = subprocess.run(  # noqa: S603 - our own
            compact, capture_output=True, encoding="utf-8", env=environment(), check=False
        )
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


def _apart(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """The same, moved by next to nothing: of a thousand that are equal, each has only equal ones for neighbours, and a
    search that comes among them never gets out (docs/decisions/hnsw-graph.md).
    """
    somewhere = np.random.default_rng(seed).standard_normal(vectors.shape, np.float32) / np.sqrt(vectors.shape[1])
    moved: NDArray[np.float32] = vectors + APART * np.linalg.norm(vectors, axis=1, keepdims=True) * somewhere
    return moved
