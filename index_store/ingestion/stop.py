"""Whether a job must stop before it is done."""

import threading


class Stop:
    """Whether a job must stop before it is done, and what happens to the rest of its sources."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._suspended = threading.Event()

    def cancel(self) -> None:
        """Drops the rest, as if it had not been given."""
        self._cancelled.set()

    def suspend(self) -> None:
        """Leaves the rest pending, unless the job was cancelled before."""
        if not self._cancelled.is_set():
            self._suspended.set()

    @property
    def is_set(self) -> bool:
        return self._cancelled.is_set() or self._suspended.is_set()

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.is_set()

    @property
    def is_suspended(self) -> bool:
        return self._suspended.is_set()
