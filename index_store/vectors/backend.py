"""The differences between Chroma over a folder and a Chroma server, as one interface.

local/folder.py and server/server.py have one of each; `backend_of` in chroma.py knows which.
"""

from collections.abc import Callable, Set
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from index_store.base.errors import PlainError

if TYPE_CHECKING:
    from chromadb.api.collection_configuration import CreateCollectionConfiguration
    from chromadb.api.models.Collection import Collection

SPACE: "CreateCollectionConfiguration" = {"hnsw": {"space": "cosine", "ef_search": 200}}
"""how each collection is made"""


class ChromaBackend(Protocol):
    """Each method raises VectorServerError where there is a server, and ChromaError."""

    @property
    def batch(self) -> int:
        """Records that are best written or deleted in one call."""

    @property
    def holds(self) -> float:
        """Seconds for which what was read of a collection is true while this process changes nothing in it."""

    @property
    def combed(self) -> int:
        """Rows up to which a collection is looked through for what its graph does not lead to."""

    @property
    def broken(self) -> Set[str]:
        """Collections that can't be read since a process was killed; they can only be dropped."""

    @property
    def trouble(self) -> PlainError | None:
        """Why it can't be asked just now."""

    def watch(self, on_return: Callable[[], object]) -> None:
        """From now on it is known whether it can be asked. `on_return`: called, in a thread of its own, when it can
        again after something went wrong, and until it raises nothing.
        """

    def stop_watching(self) -> None:
        """And waits for the end of `on_return`."""

    def found(self, name: str) -> "Collection":
        """Raises NotFoundError."""

    def made(self, name: str) -> "Collection":
        """The one that is there, or a new one."""

    def names(self) -> set[str]:
        """Of all collections that are this store's."""

    def drop(self, name: str) -> None:
        """Gives its disk space back. Raises NotFoundError."""

    def searching(self) -> AbstractContextManager[None]:
        """While a collection is read for a search."""

    def close(self) -> None: ...
