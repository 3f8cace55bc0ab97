"""Work that people wait for goes before background work."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Precedence:
    """Questions go before documents that are being added. Safe from any thread."""

    def __init__(self) -> None:
        self._count = 0
        self._none = threading.Condition()

    @contextmanager
    def question(self) -> Iterator[None]:
        """While it is at work."""
        with self._none:
            self._count += 1
        try:
            yield
        finally:
            with self._none:
                self._count -= 1
                self._none.notify_all()

    def give_way(self, seconds: float) -> None:
        """Until no question is at work, and no longer than that: many who ask don't stop one who adds."""
        with self._none:
            self._none.wait_for(lambda: not self._count, seconds)
