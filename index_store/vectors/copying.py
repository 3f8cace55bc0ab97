"""Copies the vectors of one backend of Chroma to another, collection by collection, without changes."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from index_store.base.batches import batches
from index_store.base.errors import VectorsFailed
from index_store.vectors.backend import ChromaBackend
from index_store.vectors.chroma import IDS, TOO_LARGE, failing_as_os_error

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import Embeddings, Metadata


@failing_as_os_error()
def copy_vectors(origin: ChromaBackend, target: ChromaBackend, on_progress: Callable[[str, int, int], None]) -> None:
    """Makes `target` equal to `origin`. Skips vectors that `target` already has; deletes those that `origin` lacks.

    `on_progress`: called with a collection's name, how many of its vectors are done, and how many there are. Raises
    VectorServerError, OSError.
    """
    for name in target.broken:
        target.drop(name)  # it can't be read since a process was killed
    wanted = origin.names()
    # A server that has never been written to has no database for this store yet.
    for name in _names(target) - wanted:
        target.drop(name)
    for name in sorted(wanted):
        _copy(name, origin, target, on_progress)


def _copy(
    name: str, origin: ChromaBackend, target: ChromaBackend, on_progress: Callable[[str, int, int], None]
) -> None:
    there, to = origin.get(name), target.get_or_create(name)
    count, done = there.count(), 0
    on_progress(name, 0, count)
    size = most = min(origin.batch, target.batch)
    for page in _pages(there):
        for ids in batches(page, size):
            known = set(to.get(ids=ids, include=[])["ids"])
            most = _send([id_ for id_ in ids if id_ not in known], there, to, most)
            done += len(ids)
            on_progress(name, done, count)
    if to.count() != count:
        known = {id_ for page in _pages(there) for id_ in page}
        others = [id_ for page in _pages(to) for id_ in page if id_ not in known]
        for ids in batches(others, target.batch):
            to.delete(ids=ids)


def _send(ids: list[str], origin: "Collection", target: "Collection", most: int) -> int:
    """`most`: vectors per call. Returns it, or a smaller number if the requests were too large."""
    done = 0
    while done < len(ids):
        some = ids[done : done + most]
        found = origin.get(ids=some, include=["embeddings", "metadatas"])
        vectors = cast("Embeddings", found["embeddings"])
        owners = cast("list[Metadata]", found["metadatas"])
        try:
            target.upsert(ids=found["ids"], embeddings=vectors, metadatas=owners)
        except VectorsFailed as error:
            # Only the proxy in front of the server knows how large a request may be.
            if error.status != TOO_LARGE or len(some) == 1:
                raise
            most = len(some) // 2
        else:
            done += len(some)
    return most


def _pages(collection: "Collection") -> Iterator[list[str]]:
    for offset in range(0, collection.count(), IDS):
        yield collection.get(limit=IDS, offset=offset, include=[])["ids"]


def _names(backend: ChromaBackend) -> set[str]:
    from chromadb.errors import NotFoundError

    try:
        return backend.names()
    except NotFoundError:
        return set()
