"""Documents as they came: opened from a citation, tried again, or read again for another model."""

import logging
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from index_store.base.errors import OriginalsError, OriginalsNotThere, OriginalsOfAnother, PlainError
from index_store.library.originals.backend import OriginalsBackend, StagedFile

log = logging.getLogger(__name__)


class Original:
    """The file of a document as it came."""

    def __init__(
        self, backend: OriginalsBackend, file: str, size: int, *, name: str, kind: str, charset: str | None
    ) -> None:
        """`charset`: the one named by the server that sent the file."""
        self._backend = backend
        self.id = file
        """differs for each version"""
        self.size = size
        """in bytes"""
        self.name = name
        self.kind = kind
        self.charset = charset

    def open(self) -> BinaryIO:
        """A stream in which any position can be read. Raises FileNotFoundError, OSError, OriginalsError."""
        return self._backend.open(self.id)


class Originals:
    """One file per version of a document. Files that the catalogue does not know are deleted at the next start.

    Each method raises OSError and, if a service keeps the files, OriginalsError.
    """

    def __init__(
        self, backend: OriginalsBackend, owner: str | None, versions: Callable[[], Set[tuple[str, int]]]
    ) -> None:
        """`owner`: id of the catalogue that owns the place; None if no other could use it. `versions`: returns those
        that the catalogue knows.

        Raises OriginalsOfAnother, OriginalsNotThere, OSError.
        """
        self._backend = backend
        self._owner = owner
        self._versions = versions
        self._is_ours = owner is None
        try:
            self._claim()
        except (OriginalsOfAnother, OriginalsNotThere):
            raise
        except OriginalsError as error:
            log.warning("%s", error)  # the owner is checked again before anything is changed there
        backend.begin()

    def close(self) -> None:
        self._backend.close()

    @property
    def place(self) -> str:
        return self._backend.place

    @property
    def trouble(self) -> PlainError | None:
        return self._backend.trouble

    def watch(self, on_return: Callable[[], object]) -> None:
        """Calls `on_return`, in a thread of its own, when the store is back after a failure."""
        self._backend.watch(on_return)

    def stop_watching(self) -> None:
        self._backend.stop_watching()

    def work_folder(self) -> AbstractContextManager[Path]:
        """A folder on this machine for the files of a crawl or an archive."""
        return self._backend.work_folder()

    def stage(self, path: Path, *, move: bool) -> StagedFile:
        self._claim()
        return self._backend.stage(path, move=move)

    def drop(self, staged: StagedFile) -> None:
        """Deletes the staged file, after it was kept or if it is not wanted."""
        try:
            self._backend.drop(staged)
        except OriginalsError as error:
            log.info("Originals will be deleted later: %s", error)

    def keep(self, staged: StagedFile, document_id: str, revision: int) -> None:
        self._backend.keep(staged, name_of(document_id, revision))

    def keep_same(self, document_id: str, before: int, revision: int) -> None:
        """Stores the same file for a newer version. Raises FileNotFoundError."""
        self._claim()
        self._backend.copy(name_of(document_id, before), name_of(document_id, revision))

    def size(self, document_id: str, revision: int) -> int | None:
        """Bytes; None if there is no file."""
        return self._backend.size(name_of(document_id, revision))

    def digest(self, document_id: str, revision: int) -> str:
        """SHA-256, in hex. Raises FileNotFoundError."""
        return self._backend.digest(name_of(document_id, revision))

    def local(self, document_id: str, revision: int) -> AbstractContextManager[Path]:
        """A file on this machine with its content, until the block ends. Raises FileNotFoundError."""
        return self._backend.local(name_of(document_id, revision))

    def original(
        self, document_id: str, revision: int, *, name: str, kind: str, charset: str | None
    ) -> Original | None:
        file = name_of(document_id, revision)
        size = self._backend.size(file)
        return None if size is None else Original(self._backend, file, size, name=name, kind=kind, charset=charset)

    def discard(self, *versions: tuple[str, int]) -> None:
        """`versions`: document and revision of each."""
        try:
            self._backend.delete(name_of(*version) for version in versions)
        except OriginalsError as error:
            log.warning("Originals will be deleted later: %s", error)

    def kept(self) -> Iterator[tuple[str, int]]:
        """Document and revision of every file. Skips other files, such as those of a desktop (.DS_Store)."""
        return _versions_of(self._backend.names())

    def sweep(self) -> None:
        """Deletes all files that the catalogue does not know."""
        self._claim()
        kept = list(self.kept())  # listed first: files that come in the meantime are not touched
        known = self._versions()
        self._backend.delete(name_of(*version) for version in kept if version not in known)
        self._backend.sweep_staged()

    def _claim(self) -> None:
        """Checks that these originals are ours: with another app's catalogue, a sweep would delete all of them."""
        if self._is_ours and (self._owner is None or self._backend.is_marked()):
            return
        owner = self._backend.owner()
        if owner is None:
            known, kept = self._versions(), set(self.kept())
            if (known or kept) and not known & kept:
                raise OriginalsNotThere(place=self._backend.place)
            self._backend.mark(self._owner or "")
        elif owner != self._owner:
            raise OriginalsOfAnother(place=self._backend.place)
        self._is_ours = True


def name_of(document_id: str, revision: int) -> str:
    # Spread over 256 folders: some tools are slow in a folder with 10,000 files.
    return f"{document_id[:2]}/{document_id}-{revision}"


def _versions_of(names: Iterable[str]) -> Iterator[tuple[str, int]]:
    for name in names:
        document_id, _, revision = name.rpartition("/")[2].rpartition("-")
        if document_id and revision.isdecimal():
            yield document_id, int(revision)
