"""One interface for the two backends of Chroma: over a folder, and on a server.

local/folder.py and server/server.py implement it; `chroma_backend` in chroma.py chooses one.
"""

from collections.abc import Callable, Set
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from index_store.base.errors import PlainError

if TYPE_CHECKING:
    from chromadb.api.collection_configuration import CreateCollectionConfiguration
    from chromadb.api.models.Collection import Collection

SPACE: "CreateCollectionConfiguration" = {"hnsw": {"space": "cosine", "ef_search": 200}}
"""the configuration of each new collection"""


class ChromaBackend(Protocol):
    """Each method raises ChromaError and, if there is a server, VectorServerError."""

    @property
    def batch(self) -> int:
        """Records per call: the best number to write or delete at once."""

    @property
    def cache_seconds(self) -> float:
        """Seconds for which data read from a collection stays valid, if this process changes nothing in it."""

    @property
    def orphan_search_limit(self) -> int:
        """The largest collection, in rows, that is searched for orphans (hnsw_orphans.py)."""

    @property
    def broken(self) -> Set[str]:
        """Collections that can't be read since a process was killed; they can only be dropped."""

    @property
    def trouble(self) -> PlainError | None:
        """Why Chroma can't be reached now."""

    def watch(self, on_return: Callable[[], object]) -> None:
        """Starts to watch whether Chroma can be reached. `on_return` is called in a thread of its own when Chroma is
        back after a failure; it is called again until it raises nothing.
        """

    def stop_watching(self) -> None:
        """Also waits until `on_return` has ended."""

    def get(self, name: str) -> "Collection":
        """The collection of this name. Raises NotFoundError."""

    def get_or_create(self, name: str) -> "Collection":
        """The collection of this name, which is created if it does not exist."""

    def names(self) -> set[str]:
        """The names of all collections of this store."""

    def drop(self, name: str) -> None:
        """Also frees its disk space. Raises NotFoundError."""

    def searching(self) -> AbstractContextManager[None]:
        """Held while a search reads a collection."""

    def close(self) -> None: ...


def server_database(namespace: str) -> str:
    """The name of an installation's database on a Chroma server."""
    return f"glassbox-{namespace}"
