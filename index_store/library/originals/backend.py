"""What differs between originals in a folder and in S3, as one interface: folder.py and s3.py have one of each.

A file has a name, such as `3f/3f…-12`; put there it is whole, and never changed.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from index_store.base.errors import PlainError


class StagedFile(NamedTuple):
    """A file that is brought there whole and has no name of a document yet."""

    name: str
    size: int
    digest: str
    """SHA-256, in hex"""


class OriginalsBackend(Protocol):
    """Each method raises OSError; where there is a service, OriginalsError too."""

    @property
    def place(self) -> str:
        """Where it is, fit to be shown: without keys."""

    @property
    def trouble(self) -> PlainError | None:
        """Why it can't be asked just now."""

    def begin(self) -> None:
        """Before anything is brought; after it is known whose the place is."""

    def close(self) -> None: ...

    def watch(self, on_return: Callable[[], object]) -> None:
        """`on_return`: called, in a thread of its own, when it can be asked again after something went wrong."""

    def stop_watching(self) -> None:
        """And waits for the end of `on_return`."""

    def owner(self) -> str | None:
        """Who has put a mark there."""

    def mark(self, owner: str) -> None: ...

    def work_folder(self) -> AbstractContextManager[Path]:
        """On this machine, for files that are about to be staged."""

    def stage(self, path: Path, *, move: bool) -> StagedFile:
        """`move`: whether `path` may be gone then."""

    def keep(self, staged: StagedFile, name: str) -> None: ...

    def drop(self, staged: StagedFile) -> None:
        """Whether it was kept or not."""

    def copy(self, name: str, new: str) -> None:
        """Raises FileNotFoundError."""

    def size(self, name: str) -> int | None:
        """Bytes; None where there is no such file."""

    def digest(self, name: str) -> str:
        """SHA-256, in hex. Raises FileNotFoundError."""

    def local(self, name: str) -> AbstractContextManager[Path]:
        """A file of this machine with the same content, for as long as it lasts. Raises FileNotFoundError."""

    def open(self, name: str) -> BinaryIO:
        """To be read from anywhere in it. Raises FileNotFoundError."""

    def delete(self, names: Iterable[str]) -> None:
        """Those that are there."""

    def names(self) -> Iterator[str]:
        """Of all files but staged ones."""

    def sweep_staged(self) -> None:
        """Removes what processes that died have left staged."""
