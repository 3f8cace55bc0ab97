"""Cleans up after apps that have ended: ends their runs, takes over their jobs, finishes their deletions."""

import logging
import time
from collections.abc import Callable, Set
from concurrent.futures import Future, ThreadPoolExecutor

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import PlainError
from index_store.base.replica import Replica
from index_store.store.index_store import IndexStore
from rag.runs.history.active_runs import ActiveRuns
from rag.runs.history.history import History
from rag.runs.history.noted import note_interrupted

log = logging.getLogger(__name__)

TIDY = 15.0
"""seconds between two checks for unfinished deletions; what two checks find, no app is working on"""


class DeadApps:
    """For one thread."""

    def __init__(
        self,
        store: IndexStore,
        history: History,
        active_runs: ActiveRuns,
        replica: Replica,
        on_removal: Callable[[], object],
    ) -> None:
        """`on_removal`: called when dead apps may have removed documents and not cleaned up."""
        self._store = store
        self._history = history
        self._active_runs = active_runs
        self._replica = replica
        self._on_removal = on_removal
        self._gone: Set[int] = frozenset()
        """at the last check"""
        self._unfinished: Set[object] = frozenset()
        """at the last check"""
        self._tidied = time.monotonic()
        self._patient = ThreadPoolExecutor(1, "jobs of replicas")
        """for work that may have to wait"""
        self._at_work: Future[None] = Future()
        self._at_work.set_result(None)

    def close(self) -> None:
        self._patient.shutdown()

    def take_over(self) -> bool:
        """Ends the runs of apps that are missing for the second time, and begins to take over their jobs. Returns
        whether there are such apps.
        """
        # The order matters: an app that has something was alive before. Alive apps are read last.
        there = self._active_runs.apps() | self._store.replicas()
        gone = there - self._replica.alive()
        for_good, self._gone = gone & self._gone, gone
        if not for_good:
            return False
        log.info("Unfinished work of apps that ended is taken over: %s", for_good)
        interrupted = self._history.close_interrupted_runs(for_good)
        note_interrupted(self._store.access.audit, interrupted)
        for run in interrupted:
            self._replica.notify(f"run {run.started.run_id}")
        self._replica.notify("turns")
        if self._at_work.done():
            self._at_work = self._patient.submit(self._take_over_jobs, for_good)
        return True

    def tidy(self) -> None:
        """Begins to finish deletions that a process began and could not finish, if it is time."""
        if time.monotonic() - self._tidied >= TIDY and self._at_work.done():
            self._at_work = self._patient.submit(self._finish_deletions)
            self._tidied = time.monotonic()

    def _take_over_jobs(self, gone: Set[int]) -> None:
        try:
            self._store.take_over(gone)
        except (PlainError, SQLAlchemyError, OSError) as error:  # the edge of the thread; the next check retries
            log.warning("The jobs of an app that ended can't be continued: %s", error)
        self._on_removal()

    def _finish_deletions(self) -> None:
        try:
            unfinished = self._store.unfinished()
            is_left, self._unfinished = unfinished & self._unfinished, unfinished
            if is_left:
                self._store.finish()
        except (PlainError, SQLAlchemyError, OSError) as error:  # the edge of the thread
            log.warning("Unfinished deletions of other apps are checked again later: %s", error)
