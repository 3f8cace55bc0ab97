"""Memory and threads of this process, read at intervals. Linux only: they are read from /proc."""

import os
import statistics
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

MEGABYTE = 1024 * 1024
MOST_LOOKS = 120
"""reads in the whole time"""
LEAST_PAUSE = 0.2
"""seconds"""


@dataclass(frozen=True)
class Look:
    at: float
    """seconds since the start of the watch"""
    memory: float
    """resident megabytes"""
    threads: int


def look(at: float = 0.0) -> Look:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 - only names are needed
    return Look(at, pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE, threads)


class Watch:
    """`with Watch(600) as watch: ...`, then `watch.looks`."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: about how long it will run."""
        self.looks: list[Look] = []
        self._pause = max(LEAST_PAUSE, seconds / MOST_LOOKS)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watch")

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        begun = time.monotonic()
        while True:
            self.looks.append(look(time.monotonic() - begun))
            if self._is_over.wait(self._pause):
                return

    def between(self, begin: float, end: float) -> list[Look]:
        """`begin` and `end`: from 0 to 1, parts of the whole time. Returns at least one look."""
        last = self.looks[-1].at
        return [each for each in self.looks if begin * last <= each.at <= end * last] or self.looks[-1:]

    def memory(self, begin: float, end: float) -> float:
        """The median in megabytes."""
        return statistics.median(each.memory for each in self.between(begin, end))

    def threads(self, begin: float, end: float) -> int:
        """The largest number."""
        return max(each.threads for each in self.between(begin, end))
