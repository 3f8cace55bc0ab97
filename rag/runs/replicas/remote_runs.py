"""Runs of other apps: a `Run` here whose events are read when the other app announces them."""

import threading
import time
from collections.abc import Callable, Collection
from weakref import WeakKeyDictionary, WeakValueDictionary

from rag.runs.history.active_runs import ActiveRuns, ReadPosition, RunUpdate
from rag.runs.run.run import Run
from rag.runs.run.summary import summarize_run
from rag.trace.events import RunStarted

ASKED = 10.0
"""seconds for which a run is followed although nobody holds it"""


class RemoteRuns:
    """Runs of other apps, each followed while somebody looks at it. Safe in any thread."""

    def __init__(self, active_runs: ActiveRuns, ask_to_stop: Callable[[str], object]) -> None:
        """`ask_to_stop`: asks the app that works on the run to stop it; returns at once."""
        self._active_runs = active_runs
        self._ask_to_stop = ask_to_stop
        self._runs: WeakValueDictionary[str, Run] = WeakValueDictionary()
        self._places: WeakKeyDictionary[Run, ReadPosition] = WeakKeyDictionary()
        self._asked: dict[Run, float] = {}
        """when it was last asked for; a page does so at each rerun"""
        self._reading = threading.Lock()

    def get(self, run_id: str) -> Run | None:
        """A run that another app works on, or that was watched here when it ended. Raises SQLAlchemyError."""
        with self._reading:
            run = self._runs.get(run_id) or self._begin(run_id)
            if run and not run.is_finished:
                self._asked[run] = time.monotonic()
            return run

    def _begin(self, run_id: str) -> Run | None:
        if not self._active_runs.is_elsewhere(run_id):
            return None
        update = self._active_runs.read(run_id)
        if not update.events or not isinstance(update.events[0], RunStarted):
            return None  # deleted just now
        run = Run(update.events[0])
        run.on_stop(lambda: self._ask_to_stop(run_id))
        self._take(run, update._replace(events=update.events[1:]))
        self._runs[run_id] = run
        return run

    @property
    def count(self) -> int:
        """The number of unfinished runs."""
        return len(self._going_on())

    def look(self, run_ids: Collection[str] | None = None) -> None:
        """Reads new events of these runs, or of all. Raises SQLAlchemyError."""
        with self._reading:
            since = time.monotonic() - ASKED
            self._asked = {run: at for run, at in self._asked.items() if at > since}
            # With the lock: otherwise the news of a run that is just being read would be lost.
            going_on = self._going_on()
        for run in going_on:
            if run_ids is None or run.id in run_ids:
                with self._reading:
                    if not run.is_finished:
                        self._take(run, self._active_runs.read(run.id, self._places[run]))

    def forget(self) -> None:
        """Drops finished runs, so that they are read from the history."""
        with self._reading:
            for run in [each for each in self._runs.values() if each.is_finished]:
                del self._runs[run.id]

    def _going_on(self) -> list[Run]:
        return [run for run in list(self._runs.values()) if not run.is_finished]

    def _take(self, run: Run, update: RunUpdate) -> None:
        self._places[run] = update.place
        if update.is_live:
            run.before, run.begun_at = update.before, update.begun_at
        for event in update.events:
            run.append(event)
        if not update.is_live and not run.is_finished:  # it was deleted; nobody should wait for its end
            run.append(summarize_run(run.events, "stopped", None, 0))
