"""Originals in a folder: in the data folder, or on a share that several machines use."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from index_store.base.folders import make_private, write_note
from index_store.library.originals.backend import StagedFile
from index_store.library.originals.scratch import Scratch

MARK = "catalogue.id"
"""the file that names the owner of the folder"""


class Folder:
    """See OriginalsBackend."""

    trouble: None = None
    _scratch: Scratch

    def __init__(self, folder: Path, *, is_alone: bool) -> None:
        self._folder = folder
        self._is_alone = is_alone

    @property
    def place(self) -> str:
        return str(self._folder)

    def begin(self) -> None:
        self._scratch = Scratch(self._folder, is_alone=self._is_alone)

    def close(self) -> None:
        self._scratch.close()

    def watch(self, on_return: Callable[[], object]) -> None:
        """Does nothing: a folder can always be reached."""

    def stop_watching(self) -> None:
        """Does nothing."""

    def owner(self) -> str | None:
        try:
            return (self._folder / MARK).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def mark(self, owner: str) -> None:
        make_private(self._folder)
        write_note(self._folder / MARK, owner)

    def is_marked(self) -> bool:
        # A share that is unmounted leaves an empty folder: what is stored there is gone when it is mounted again.
        return (self._folder / MARK).exists()

    def work_folder(self) -> AbstractContextManager[Path]:
        return self._scratch.work_folder()

    def stage(self, path: Path, *, move: bool) -> StagedFile:
        staged = self._scratch.new()
        try:
            if move:
                # Not os.rename: an upload may be on another disk.
                shutil.move(path, staged)
            else:
                shutil.copyfile(path, staged)
            return StagedFile(str(staged), staged.stat().st_size, digest_of(staged))
        except OSError:
            # On a full disk, only a part of the file was written.
            staged.unlink(missing_ok=True)
            raise

    def keep(self, staged: StagedFile, name: str) -> None:
        place = self._folder / name
        place.parent.mkdir(exist_ok=True)
        Path(staged.name).replace(place)

    def drop(self, staged: StagedFile) -> None:
        Path(staged.name).unlink(missing_ok=True)

    def copy(self, name: str, new: str) -> None:
        try:
            os.link(self._folder / name, self._folder / new)
        except FileExistsError:
            return
        except OSError:
            # Some file systems have no links.
            shutil.copyfile(self._folder / name, self._folder / new)

    def size(self, name: str) -> int | None:
        try:
            return (self._folder / name).stat().st_size
        except FileNotFoundError:
            return None

    def digest(self, name: str) -> str:
        return digest_of(self._folder / name)

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        path = self._folder / name
        if not path.exists():
            raise FileNotFoundError(name)
        yield path

    def open(self, name: str) -> BinaryIO:
        return (self._folder / name).open("rb")

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            (self._folder / name).unlink(missing_ok=True)

    def names(self) -> Iterator[str]:
        for path in self._folder.glob("??/*"):
            yield f"{path.parent.name}/{path.name}"

    def sweep_staged(self) -> None:
        """Deletes empty folders. Staged files are deleted at the start."""
        for folder in self._folder.glob("??"):
            with suppress(OSError):  # not empty
                folder.rmdir()


def digest_of(path: Path) -> str:
    """SHA-256, in hex. Raises OSError."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
