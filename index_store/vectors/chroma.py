"""The vectors of chunks, in Chroma. Their texts are in the catalogue."""

import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from index_store.base.batches import batches
from index_store.base.errors import PlainError, SqliteTooOld, VectorsFailed
from index_store.vectors.backend import ChromaBackend
from index_store.vectors.embeddings import LanguageBias, unit_vectors
from index_store.vectors.hnsw_orphans import Orphans

if TYPE_CHECKING:
    from chromadb import Where
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import Embedding, Metadata

log = logging.getLogger(__name__)

OLDEST_SQLITE = (3, 35)
"""with an older one, Chroma can't even be imported; the Makefile knows it too"""

IDS = 5000
"""ids per call"""

SAMPLE = 100
"""vectors whose mean shows which vectors are far from a question"""

BEING_DELETED = 412
"""status of a server's answer when another process is deleting the collection"""

SETTLED = 600.0
"""seconds for which two findings stay valid, whatever is added: the mean of a full sample, and that a collection is too
large to look for orphans. On a large collection a server needs long to find them.
"""

TOO_LARGE = 413
"""HTTP's status for a request that is too large"""

T = TypeVar("T")


def chroma_backend(folder: Path, url: SecretStr | None, namespace: str) -> ChromaBackend:
    """Chroma over `folder`, or the server at `url`, where `namespace` separates this installation from others.

    Raises DataFolderDamaged, DataFolderUnusable, SqliteTooOld.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise SqliteTooOld(found=sqlite3.sqlite_version)
    # Each is imported only when it is used: the other needs more time to load.
    if url is None:
        from index_store.vectors.local.folder import ChromaFolder

        return ChromaFolder(folder)
    from index_store.vectors.server.server import ChromaServer

    return ChromaServer(url.get_secret_value(), namespace)


@contextmanager
def failing_as_os_error() -> Iterator[None]:
    """Turns ChromaError into OSError: its type for a full or failing disk says nothing more."""
    from chromadb.errors import ChromaError

    try:
        yield
    except ChromaError as error:
        raise OSError(str(error)) from error


class VectorStore:
    """One collection per index: a filter on a shared one takes 45 times as long at 100,000 rows.

    If there is a server, each method that asks it raises VectorServerError.
    """

    def __init__(self, backend: ChromaBackend) -> None:
        self._backend = backend
        self._batch = backend.batch
        """the backend's `batch`, or fewer after a request was too large"""
        self._changes: Counter[str] = Counter()
        """by collection: the number of changes by this process"""
        self._known: dict[str, Collection] = {}
        """collections already looked up: the lookup takes longer than a search"""
        self._orphans: dict[str, tuple[_Seen, Orphans]] = {}
        """by collection"""
        self._means: dict[str, tuple[_Seen, NDArray[np.float32]]] = {}
        """by collection: the mean of unit vectors"""

    @property
    def broken(self) -> Set[str]:
        """Collections that can't be read since a process was killed; they can only be dropped."""
        return self._backend.broken

    @property
    def trouble(self) -> PlainError | None:
        """Why Chroma can't be reached now."""
        return self._backend.trouble

    def watch(self, on_return: Callable[[], object]) -> None:
        """Calls `on_return`, in a thread of its own, when Chroma is back after a failure."""
        self._backend.watch(on_return)

    def stop_watching(self) -> None:
        """Also waits until `on_return` has ended."""
        self._backend.stop_watching()

    def close(self) -> None:
        self._backend.close()

    @failing_as_os_error()
    def put(
        self, collection: str, ids: Sequence[str], document_ids: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        """Adds or replaces vectors. Each argument has one entry, or row, per chunk. `vectors`: moved apart (apart.py).
        Raises OSError.
        """
        done = 0
        while done < len(ids):
            some = slice(done, min(done + self._batch, len(ids)))
            try:
                self._put(collection, ids[some], document_ids[some], vectors[some])
            except VectorsFailed as error:
                # Only the proxy in front of the server knows how large a request may be.
                if error.status != TOO_LARGE or some.stop - done == 1:
                    raise
                self._batch = (some.stop - done) // 2
            else:
                done = some.stop
                self._changes[collection] += 1

    def _put(
        self, collection: str, ids: Sequence[str], document_ids: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        owners: list[Metadata] = [{"document_id": document_id} for document_id in document_ids]

        def upsert(on: "Collection") -> None:
            on.upsert(ids=list(ids), embeddings=vectors, metadatas=owners)

        self._ask(collection, upsert, make=True)

    @failing_as_os_error()
    def vectors(self, collection: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that exist, by id. Raises OSError."""
        return self._vectors(collection, ids)

    def _vectors(self, collection: str, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        from chromadb.errors import NotFoundError

        try:
            with self._backend.searching():
                found = self._ask(collection, lambda on: on.get(ids=list(ids), include=["embeddings"]))
        except NotFoundError:
            return {}
        return dict(zip(found["ids"], np.asarray(found["embeddings"], np.float32), strict=True))

    @failing_as_os_error()
    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Raises OSError."""
        from chromadb.errors import NotFoundError

        for some in batches(ids, self._backend.batch):
            try:
                self._ask(collection, partial(_delete, ids=list(some)))
            except NotFoundError:
                return
            self._changes[collection] += 1

    def nearest(
        self,
        collection: str,
        vector: NDArray[np.float32],
        k: int,
        document_ids: Sequence[str] | None = None,
        *,
        bias: LanguageBias | None = None,
    ) -> list[tuple[str, float]]:
        """Up to k chunk ids with their cosine similarity, best first; none if the collection is gone.

        `document_ids`: search only these documents, which takes longer. `bias`: corrects the similarity of passages in
        another language, and searches for them, too.
        """
        if bias is None:
            return self._nearest_to_each(collection, [vector], k, document_ids)[0]
        lists = self._nearest_to_each(collection, [vector, bias.mirrored(vector)], k, document_ids)
        ids = dict(chain(*lists))
        return self._corrected(collection, vector, list(ids), bias)[:k] if ids else []

    def _corrected(
        self, collection: str, vector: NDArray[np.float32], ids: Sequence[str], bias: LanguageBias
    ) -> list[tuple[str, float]]:
        found = self._vectors(collection, ids)
        if not found:
            return []
        passages = unit_vectors(np.array(list(found.values())))
        cosines = passages @ vector + bias.gaps(vector, passages)
        return _best_first(dict(zip(found, map(float, cosines), strict=True)))

    def _nearest_to_each(
        self,
        collection: str,
        vectors: Sequence[NDArray[np.float32]],
        k: int,
        document_ids: Sequence[str] | None,
    ) -> list[list[tuple[str, float]]]:
        from chromadb.errors import NotFoundError

        asked: list[Embedding] = [*vectors]
        within = None if document_ids is None else cast("Where", {"document_id": {"$in": list(document_ids)}})
        try:
            with self._backend.searching():
                found = self._ask(
                    collection,
                    lambda on: on.query(query_embeddings=asked, n_results=k, where=within, include=["distances"]),
                )
                orphans = self._orphans_of(collection)
        except NotFoundError:
            return [[] for _ in vectors]
        distances = found["distances"] or [[] for _ in vectors]
        return [
            _best_first(
                {id_: 1.0 - distance for id_, distance in zip(ids, far, strict=True)}
                | orphans.cosines(vector, document_ids)
            )[:k]
            for vector, ids, far in zip(vectors, found["ids"], distances, strict=True)
        ]

    def mean_cosine(self, collection: str, vector: NDArray[np.float32]) -> float:
        """The mean cosine of a question to a sample of the collection. A chunk no nearer than this is irrelevant."""
        from chromadb.errors import NotFoundError

        seen, mean = self._means.get(collection, (None, None))
        if mean is None or not self._still(collection, seen):
            changes = self._changes[collection]
            try:
                with self._backend.searching():
                    sample = self._ask(collection, lambda on: on.get(limit=SAMPLE, include=["embeddings"]))
            except NotFoundError:
                return 0.0
            if sample["embeddings"] is None or not len(sample["embeddings"]):
                return 0.0
            vectors = np.asarray(sample["embeddings"], np.float32)
            mean = unit_vectors(vectors).mean(axis=0)
            self._means[collection] = (self._seen(changes, is_settled=len(vectors) == SAMPLE), mean)
        return float(unit_vectors(vector) @ mean)

    def _orphans_of(self, collection: str) -> Orphans:
        """Looked up again after each change."""
        seen, orphans = self._orphans.get(collection, (None, None))
        if orphans is None or not self._still(collection, seen):
            changes = self._changes[collection]
            found = self._ask(collection, lambda on: Orphans.of(on, self._backend.orphan_search_limit))
            orphans = found or Orphans.none()
            self._orphans[collection] = (self._seen(changes, is_settled=found is None), orphans)
        return orphans

    def _seen(self, changes: int, *, is_settled: bool) -> "_Seen":
        now = time.monotonic()
        return _Seen(changes, now + self._backend.cache_seconds, now + SETTLED if is_settled else now)

    def _still(self, collection: str, seen: "_Seen | None") -> bool:
        """Whether the data read then is still valid."""
        now = time.monotonic()
        return seen is not None and (
            now < seen.settled_until or (seen.changes == self._changes[collection] and now < seen.holds_until)
        )

    def _ask(self, name: str, ask: "Callable[[Collection], T]", *, make: bool = False) -> T:
        """Calls `ask` with a collection, and again if the one known is gone: its name may belong to a new one by now.

        `make`: creates a collection that does not exist. Reads never create one: the process that deletes its index
        would not know of it. Raises NotFoundError.
        """
        from chromadb.errors import NotFoundError

        known = self._known.get(name)
        if known is not None:
            try:
                return ask(known)
            except NotFoundError:
                self._known.pop(name, None)
            except VectorsFailed as error:
                if error.status != BEING_DELETED:
                    raise
                self._known.pop(name, None)
        known = self._known[name] = self._backend.get_or_create(name) if make else self._backend.get(name)
        return ask(known)

    def ids(self, collection: str) -> Iterator[str]:
        """The ids of all vectors; none if the collection is gone."""
        from chromadb.errors import NotFoundError

        try:
            for offset in range(0, self._ask(collection, lambda on: on.count()), IDS):
                yield from self._ask(collection, partial(_ids, offset=offset))
        except NotFoundError:
            return

    def is_readable(self, collection: str) -> bool:
        """Whether its graph can be searched and its vectors can be read, or it has none. Only for a server: a folder is
        checked at the next start, in another process.
        """
        from chromadb.errors import NotFoundError

        try:
            some = self._ask(collection, lambda on: on.get(limit=1, include=["embeddings"]))["embeddings"]
            if some is not None and len(some):
                self._ask(collection, lambda on: on.query(query_embeddings=some, n_results=1, include=[]))
        except VectorsFailed as error:
            log.warning("%s can't be read: %s", collection, error)
            return False
        except NotFoundError:
            return True
        return True

    def collections(self) -> set[str]:
        return self._backend.names()

    @failing_as_os_error()
    def drop(self, collection: str) -> None:
        """Also frees its disk space. Raises OSError."""
        from chromadb.errors import NotFoundError

        try:
            self._backend.drop(collection)
        except NotFoundError:
            log.info("%s was already deleted", collection)
        for known in (self._known, self._means, self._orphans, self._changes):
            known.pop(collection, None)


class _Seen(NamedTuple):
    """When data was read from a collection; times are those of time.monotonic."""

    changes: int
    """by this process, before it was read"""
    holds_until: float
    """valid until then if nothing has changed since"""
    settled_until: float
    """valid until then in any case"""


def _best_first(cosines: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(cosines.items(), key=lambda each: -each[1])


def _delete(on: "Collection", ids: list[str]) -> None:
    on.delete(ids=ids)


def _ids(on: "Collection", offset: int) -> list[str]:
    return on.get(limit=IDS, offset=offset, include=[])["ids"]
