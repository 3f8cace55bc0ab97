"""Lets work that people wait for go before background work."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Precedence:
    """Questions go before documents that are being added. Thread-safe."""

    def __init__(self) -> None:
        self._count = 0
        self._none = threading.Condition()

    @contextmanager
    def question(self) -> Iterator[None]:
        """While a question is answered."""
        with self._none:
            self._count += 1
        try:
            yield
        finally:
            with self._none:
                self._count -= 1
                self._none.notify_all()

    def give_way(self, seconds: float) -> None:
        """Waits until no question is being answered, `seconds` at most, so that many questions can't stop an import."""
        with self._none:
            self._none.wait_for(lambda: not self._count, seconds)
