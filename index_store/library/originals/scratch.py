"""Files on their way, in a folder of this process's own, which is cleared when the process is gone."""

import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STAGING = "staging"
STAGED_SECONDS = 24 * 3600
"""after which what one of several processes has staged is what it left when it was killed"""


class Scratch:
    def __init__(self, folder: Path, *, is_alone: bool) -> None:
        """`is_alone`: rather than one of several processes. Raises OSError."""
        self._folder = folder / (STAGING if is_alone else f"{STAGING}-{uuid.uuid4().hex}")
        if is_alone:
            shutil.rmtree(self._folder, ignore_errors=True)
        for left in folder.glob(f"{STAGING}*"):
            with suppress(FileNotFoundError):  # another has just ended
                if time.time() - left.stat().st_mtime > STAGED_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
        self._folder.mkdir(parents=True)

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def new(self) -> Path:
        """Where nothing is yet."""
        return self._folder / uuid.uuid4().hex

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        folder = self.new()
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
