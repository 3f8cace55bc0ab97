"""Adding many documents in a thread of its own, so that no page waits for it and none can lose it."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from index_store.errors import PlainError
from index_store.records import Added, AddStatus
from index_store.store import IndexStore


class Source(NamedTuple):
    path: Path
    name: str | None = None
    """what the document is known by, where that is not its path"""


class Ingestion:
    """Adds `sources` to `index`, one after another; one that fails does not stop the others."""

    def __init__(
        self, store: IndexStore, index: str, sources: Sequence[Source], on_end: Callable[[], None] = lambda: None
    ) -> None:
        self.index = index
        self.sources = tuple(sources)
        self._store = store
        self._on_end = on_end
        self._results: list[Added] = []
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"ingestion of {index}", daemon=True)
        self._thread.start()

    @property
    def results(self) -> tuple[Added, ...]:
        """Of the sources that are done, in their order."""
        return tuple(self._results)

    @property
    def current(self) -> Source | None:
        """The one that is being added."""
        done = len(self._results)
        return self.sources[done] if done < len(self.sources) and not self.is_finished else None

    @property
    def is_finished(self) -> bool:
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Leaves out the sources that have not begun."""
        self._cancelled.set()

    def wait(self) -> tuple[Added, ...]:
        self._thread.join()
        return self.results

    def _work(self) -> None:
        try:
            for source in self.sources:
                if self._cancelled.is_set():
                    return
                self._results.append(self._add(source))
        finally:
            self._on_end()

    def _add(self, source: Source) -> Added:
        try:
            return self._store.add(self.index, source.path, source.name)
        except PlainError as error:
            return Added(
                source=source.name or str(source.path),
                status=AddStatus.FAILED,
                document_id=None,
                chunks=0,
                sections=0,
                error=error.as_failure(),
            )
