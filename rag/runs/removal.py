"""Removes passages from the history, and checkpoints, when documents or runs are removed."""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.database.database import backend_of
from index_store.store.index_store import IndexStore
from rag.errors import NotSaved
from rag.runs.fork.checkpoints import Checkpoints
from rag.runs.history.history import History
from rag.settings import Settings

log = logging.getLogger(__name__)

DAY = 24 * 60 * 60
"""seconds"""


class Removal:
    """Safe in any thread. If something can't be removed, its record stays, and the next start tries again."""

    def __init__(
        self, settings: Settings, store: IndexStore, history: History, checkpoints: Checkpoints | None
    ) -> None:
        self._settings = settings
        self._store = store
        self._history = history
        self._checkpoints = checkpoints
        self._blanking = ThreadPoolExecutor(1, "blanking")
        self._forget_runs: Callable[[], None] = lambda: None
        self._tell: Callable[[], None] = lambda: None

    def begin(self, forget_runs: Callable[[], None], tell: Callable[[], None] = lambda: None) -> None:
        """Starts to watch for removals, and handles earlier ones.

        `forget_runs`: drops finished runs from memory, so that they are read from the history; `tell`: tells other apps
        to do the same.
        """
        self._forget_runs = forget_runs
        self._tell = tell
        self._store.watch_removals(self.look)
        self.look()

    def close(self) -> None:
        self._store.watch_removals(lambda: None)
        self._blanking.shutdown()

    def after_run(self, run_id: str) -> None:
        """Deletes the checkpoints of a run if a document that it read was removed meanwhile."""
        try:
            if (
                self._checkpoints
                and not self._settings.keep_removed
                and self._history.redaction.has_been_read_by(run_id)
            ):
                self._checkpoints.delete([run_id])
        except SQLAlchemyError as error:
            log.warning("The checkpoints of run %s can't be deleted: %s", run_id, error)

    def sweep(self) -> None:
        """Deletes the checkpoints of runs that were deleted or are too old."""
        if not self._checkpoints:
            return
        try:
            kept = self._checkpoints.run_ids()
            since = time.time() - self._settings.keep_checkpoints_days * DAY
            self._checkpoints.delete(kept - self._history.known_runs(kept, since=since))
        except SQLAlchemyError as error:
            log.warning("Checkpoints of deleted runs can't be deleted: %s", error)

    def clear_log(self) -> None:
        """Clears the log of the history's database, so that its file contains no deleted data."""
        backend_of(self._history.database).clear_log(self._history.database)

    def look(self) -> None:
        """Removes what is recorded as removed but still in the history. May be called in any thread, also in the
        store's jobs.
        """
        with suppress(RuntimeError):  # the engine is closing; the records stay for the next start
            self._blanking.submit(self._blank_removed)

    def _blank_removed(self) -> None:
        """Deletes passages of removed documents from the traces, also of those that an earlier process removed."""
        removed = self._store.removed()
        if not removed:
            return
        try:
            is_done = self._settings.keep_removed or self._blank(removed)
            if not self._settings.keep_removed:
                self._tell()
        except (NotSaved, SQLAlchemyError) as error:  # the edge of the thread; the records stay for the next time
            log.warning("The passages of removed documents can't be removed from the history: %s", error)
            return
        if not self._settings.keep_removed:
            self._forget_runs()
        if is_done:
            self._store.forget_removed(removed)

    def _blank(self, removed: Sequence[str]) -> bool:
        """True if the passages are gone from all files. Raises NotSaved, SQLAlchemyError."""
        is_dropped = True

        def drop(run_ids: set[str]) -> None:
            nonlocal is_dropped
            is_dropped = not self._checkpoints or self._checkpoints.delete(run_ids)

        return self._history.redaction.redact(removed, drop) and is_dropped
