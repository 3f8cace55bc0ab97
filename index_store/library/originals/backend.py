"""One interface for originals in a folder and in S3; folder.py and s3.py implement it.

A file has a name, such as `3f/3f…-12`. It is there complete or not at all, and it never changes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from index_store.base.errors import PlainError


class StagedFile(NamedTuple):
    """A complete file in the store that does not belong to a document yet."""

    name: str
    size: int
    digest: str
    """SHA-256, in hex"""


class OriginalsBackend(Protocol):
    """Each method raises OSError and, if there is a service, OriginalsError."""

    @property
    def place(self) -> str:
        """The place of the files, in a form that may be shown: without keys."""

    @property
    def trouble(self) -> PlainError | None:
        """Why the store can't be reached now."""

    def begin(self) -> None:
        """Called before any file is stored, after the owner of the place is known."""

    def close(self) -> None: ...

    def watch(self, on_return: Callable[[], object]) -> None:
        """Calls `on_return`, in a thread of its own, when the store is back after a failure."""

    def stop_watching(self) -> None:
        """Also waits until `on_return` has ended."""

    def owner(self) -> str | None:
        """The owner that the mark in the store names; None if there is no mark."""

    def mark(self, owner: str) -> None: ...

    def is_marked(self) -> bool:
        """Whether a mark that was there still is, if that can change while the store answers."""

    def work_folder(self) -> AbstractContextManager[Path]:
        """A folder on this machine for files that will be staged."""

    def stage(self, path: Path, *, move: bool) -> StagedFile:
        """Copies a file into the store. `move`: whether it may delete `path`."""

    def keep(self, staged: StagedFile, name: str) -> None: ...

    def drop(self, staged: StagedFile) -> None:
        """Deletes the staged file, whether it was kept or not."""

    def copy(self, name: str, new: str) -> None:
        """Raises FileNotFoundError."""

    def size(self, name: str) -> int | None:
        """Bytes; None if there is no such file."""

    def digest(self, name: str) -> str:
        """SHA-256, in hex. Raises FileNotFoundError."""

    def local(self, name: str) -> AbstractContextManager[Path]:
        """A file on this machine with the same content, until the block ends. Raises FileNotFoundError."""

    def open(self, name: str) -> BinaryIO:
        """A stream in which any position can be read. Raises FileNotFoundError."""

    def delete(self, names: Iterable[str]) -> None:
        """Deletes files; names without a file are skipped."""

    def names(self) -> Iterator[str]:
        """The names of all files except staged ones."""

    def sweep_staged(self) -> None:
        """Deletes staged files of processes that died."""
