"""Temporary files, in a folder of this process, which is deleted after the process has ended."""

import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

STAGING = "staging"
STAGED_SECONDS = 24 * 3600
"""after which a file that one of several processes has staged counts as left by a killed one"""

LOCK = "lock"
"""the file in the folder of one of several processes that is locked while the process lives"""


class Scratch:
    def __init__(self, folder: Path, *, is_alone: bool) -> None:
        """`is_alone`: whether this is the only process. Raises OSError."""
        self._folder = folder / (STAGING if is_alone else f"{STAGING}-{uuid.uuid4().hex}")
        self._lock = _lock_of(self._folder)
        if is_alone:
            shutil.rmtree(self._folder, ignore_errors=True)
        for left in folder.glob(f"{STAGING}*"):
            with suppress(FileNotFoundError):  # another process has just ended
                if time.time() - left.stat().st_mtime > STAGED_SECONDS and not _is_in_use(left):
                    shutil.rmtree(left, ignore_errors=True)
        self._folder.mkdir(parents=True)
        if not is_alone:
            with suppress(OSError):  # some shares have no locks
                self._lock.acquire(timeout=0)

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._lock.release()

    def new(self) -> Path:
        """A path where no file exists yet. Raises OSError."""
        self._folder.mkdir(exist_ok=True)  # where locks don't reach other machines, these may have deleted it
        return self._folder / uuid.uuid4().hex

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        folder = self.new()
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _lock_of(folder: Path) -> FileLock:
    return FileLock(folder / LOCK, thread_local=False)


def _is_in_use(folder: Path) -> bool:
    """Also if that can't be told. A process that gets no file for a day writes nothing into its folder."""
    try:
        with _lock_of(folder).acquire(timeout=0):
            return False
    except (Timeout, OSError):
        return True
