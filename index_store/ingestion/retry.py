"""Waits for a service that is away for a moment: vectors took time to compute, and an upload exists nowhere else."""

import time
from collections.abc import Callable
from typing import TypeVar

from index_store.base.errors import PlainError
from index_store.ingestion.stop import Stop

RETRY_SECONDS = 60.0
"""seconds that the service may be away before documents fail"""

CHECK_SECONDS = 0.5
"""seconds between tries"""

T = TypeVar("T")


class Retry:
    """The retries of one job with one service. Once the time has run out, later documents fail at once."""

    def __init__(self, away: type[PlainError], stop: Stop) -> None:
        self._away = away
        self._stop = stop
        self._seconds = RETRY_SECONDS

    def call(self, attempt: Callable[[], T]) -> T:
        """Returns what `attempt` returns, and raises what it raises. `attempt` may be called any number of times."""
        until = time.monotonic() + self._seconds
        while True:
            try:
                given = attempt()
            except self._away:
                if time.monotonic() > until or self._stop.is_set:
                    self._seconds = 0.0
                    raise
                time.sleep(CHECK_SECONDS)
            else:
                self._seconds = RETRY_SECONDS
                return given
