"""Removes passages from the history, and checkpoints, when documents or runs are removed."""

import logging
import threading
import time
from collections.abc import Callable, Sequence

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

UNTIL_TRIED_AGAIN = 60
"""seconds, after passages could not be removed"""


class Removal:
    """Safe in any thread. If something can't be removed, its record stays, and it is tried again after a pause."""

    def __init__(
        self, settings: Settings, store: IndexStore, history: History, checkpoints: Checkpoints | None
    ) -> None:
        self._settings = settings
        self._store = store
        self._history = history
        self._checkpoints = checkpoints
        self._forget_runs: Callable[[], None] = lambda: None
        self._tell: Callable[[], None] = lambda: None
        self._is_wanted = threading.Event()
        """there may be something to remove"""
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="removal", daemon=True)

    def begin(self, forget_runs: Callable[[], None], tell: Callable[[], None] = lambda: None) -> None:
        """Starts to watch for removals, and handles earlier ones.

        `forget_runs`: drops finished runs from memory, so that they are read from the history; `tell`: tells other apps
        to do the same.
        """
        self._forget_runs = forget_runs
        self._tell = tell
        self._store.watch_removals(self.look)
        self.look()
        self._thread.start()

    def close(self) -> None:
        self._store.watch_removals(lambda: None)
        self._is_closing.set()
        self.look()
        if self._thread.ident:  # else it was never begun
            self._thread.join()

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
        self._is_wanted.set()

    def _work(self) -> None:
        pause: float | None = None
        is_last = False
        while not is_last:
            self._is_wanted.wait(pause)
            self._is_wanted.clear()
            is_last = self._is_closing.is_set()
            try:
                pause = None if self._blank_removed() else UNTIL_TRIED_AGAIN
            except (NotSaved, SQLAlchemyError) as error:  # the edge of the thread
                log.warning(
                    "The passages of removed documents can't be removed from the history. It is tried again in a "
                    "minute, or at the next start: %s",
                    error,
                )
                pause = UNTIL_TRIED_AGAIN

    def _blank_removed(self) -> bool:
        """Deletes passages of removed documents from the traces, also of those that an earlier process removed.

        False if something is left. Raises NotSaved, SQLAlchemyError.
        """
        removed = self._store.removed()
        if removed and not self._settings.keep_removed:
            is_done = self._blank(removed)
            self._forget_runs()
            self._tell()
            if not is_done:
                return False
        if removed:
            self._store.forget_removed(removed)
        return True

    def _blank(self, removed: Sequence[str]) -> bool:
        """True if the passages are gone from all files. Raises NotSaved, SQLAlchemyError."""

        def drop(run_ids: set[str]) -> bool:
            return not self._checkpoints or self._checkpoints.delete(run_ids)

        return self._history.redaction.redact(removed, drop)
