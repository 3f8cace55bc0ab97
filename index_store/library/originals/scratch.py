"""Temporary files, in a folder of this process, which is deleted after the process has ended."""

import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STAGING = "staging"
STAGED_SECONDS = 24 * 3600
"""after which a file that one of several processes has staged counts as left by a killed one"""


class Scratch:
    def __init__(self, folder: Path, *, is_alone: bool) -> None:
        """`is_alone`: whether this is the only process. Raises OSError."""
        self._folder = folder / (STAGING if is_alone else f"{STAGING}-{uuid.uuid4().hex}")
        if is_alone:
            shutil.rmtree(self._folder, ignore_errors=True)
        for left in folder.glob(f"{STAGING}*"):
            with suppress(FileNotFoundError):  # another process has just ended
                if time.time() - left.stat().st_mtime > STAGED_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
        self._folder.mkdir(parents=True)

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def new(self) -> Path:
        """A path where no file exists yet."""
        return self._folder / uuid.uuid4().hex

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        folder = self.new()
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
