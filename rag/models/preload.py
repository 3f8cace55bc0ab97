"""Starts the chat model before the first question, to shorten the wait."""

import logging
import threading
import time
from collections.abc import Callable

from index_store.base.errors import PlainError
from rag.models.chat_model import ModelSource

log = logging.getLogger(__name__)


class Preload:
    """Safe in any thread."""

    def __init__(self, source: ModelSource, *, is_wanted: Callable[[], bool]) -> None:
        """`is_wanted`: True if somebody may soon ask."""
        self._source = source
        self._is_wanted = is_wanted
        self._thread: threading.Thread | None = None
        """started at most once"""
        self._since: float | None = None
        self._beginning = threading.Lock()

    @property
    def since(self) -> float | None:
        """A time of time.monotonic; None if the chat model is not being preloaded now."""
        return self._since

    def begin(self) -> None:
        """Starts the chat model if that takes time. An error is only logged; the next question tries again and reports
        it.
        """
        if self._thread or self._source.is_ready() or not self._is_wanted():
            return
        with self._beginning:
            if not self._thread:
                self._since = time.monotonic()
                self._thread = threading.Thread(target=self._start, name="preload", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Waits for a start in progress."""
        if self._thread:
            self._thread.join()

    def _start(self) -> None:
        try:
            self._source.open()
        except PlainError as error:
            log.warning("The chat model could not be started before the first question: %s", error)
        finally:
            self._since = None
