"""Stored original files: opened from a citation, retried, and read again for another model."""

import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

STAGING = "staging"
STAGED_SECONDS = 24 * 3600
"""after which what one of several processes has staged is what it left when it was killed"""


class Original(BaseModel, frozen=True):
    """The original file of a document."""

    path: Path
    name: str
    kind: str
    charset: str | None
    """what the server that sent it claimed"""


class StagedFile(NamedTuple):
    """A stored file that does not belong to a document yet."""

    path: Path
    size: int
    digest: str
    """SHA-256, in hex"""


class Originals:
    """One file per version of a document. The next start deletes files that the catalogue does not name."""

    def __init__(self, folder: Path, *, is_alone: bool = True) -> None:
        """`is_alone`: rather than one of several processes."""
        self._folder = folder
        self._staging = folder / (STAGING if is_alone else f"{STAGING}-{uuid.uuid4().hex}")
        if is_alone:
            shutil.rmtree(self._staging, ignore_errors=True)
        for left in folder.glob(f"{STAGING}*"):
            with suppress(FileNotFoundError):  # another has just ended
                if time.time() - left.stat().st_mtime > STAGED_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
        self._staging.mkdir(parents=True)

    def close(self) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """For a crawl or an archive to put its files into."""
        folder = self._staging / uuid.uuid4().hex
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def stage(self, path: Path, *, move: bool) -> StagedFile:
        """Raises OSError."""
        staged = self._staging / uuid.uuid4().hex
        try:
            if move:
                # Not os.rename: an upload may lie on another disk.
                shutil.move(path, staged)
            else:
                shutil.copyfile(path, staged)
            return StagedFile(staged, staged.stat().st_size, digest(staged))
        except OSError:
            # Half a file on a full disk.
            staged.unlink(missing_ok=True)
            raise

    def keep(self, staged: Path, document_id: str, revision: int) -> None:
        place = self.path(document_id, revision)
        place.parent.mkdir(exist_ok=True)
        staged.replace(place)

    def keep_same(self, document_id: str, before: int, revision: int) -> None:
        """The same file for a newer version. Raises FileNotFoundError."""
        old, new = self.path(document_id, before), self.path(document_id, revision)
        try:
            os.link(old, new)
        except FileExistsError:
            return
        except OSError:
            # Some file systems have no links.
            shutil.copyfile(old, new)

    def path(self, document_id: str, revision: int) -> Path:
        # In 256 folders: some tools are slow over one of 10,000 files.
        return self._folder / document_id[:2] / f"{document_id}-{revision}"

    def discard(self, document_id: str, revision: int) -> None:
        self.path(document_id, revision).unlink(missing_ok=True)

    def kept(self) -> Iterator[tuple[str, int]]:
        """Document and revision of every file; others, such as a desktop leaves (.DS_Store), are not ours."""
        for path in self._folder.glob("??/*"):
            document_id, _, revision = path.name.rpartition("-")
            if document_id and revision.isdecimal():
                yield document_id, int(revision)

    def sweep(self, versions: Set[tuple[str, int]]) -> None:
        """Removes all but these."""
        for document_id, revision in list(self.kept()):
            if (document_id, revision) not in versions:
                self.discard(document_id, revision)
        for folder in self._folder.glob("??"):
            with suppress(OSError):  # not empty
                folder.rmdir()


def digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
