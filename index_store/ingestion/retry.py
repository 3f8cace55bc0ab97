"""A service that is away for a moment is waited for: what was embedded has cost time, an upload is nowhere else."""

import time
from collections.abc import Callable
from typing import TypeVar

from index_store.base.errors import PlainError
from index_store.ingestion.stop import Stop

RETRY_SECONDS = 60.0
"""seconds that it may be away before documents fail of it"""

LOOK = 0.5
"""seconds between tries"""

T = TypeVar("T")


class Retry:
    """Of one job, with one service. After it has run out, the next documents are told at once."""

    def __init__(self, away: type[PlainError], stop: Stop) -> None:
        self._away = away
        self._stop = stop
        self._seconds = RETRY_SECONDS

    def call(self, attempt: Callable[[], T]) -> T:
        """What `attempt` gives, which may be called any number of times. Raises what it raises."""
        until = time.monotonic() + self._seconds
        while True:
            try:
                given = attempt()
            except self._away:
                if time.monotonic() > until or self._stop.is_set:
                    self._seconds = 0.0
                    raise
                time.sleep(LOOK)
            else:
                self._seconds = RETRY_SECONDS
                return given
