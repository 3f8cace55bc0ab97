"""Exchanges runs between the apps on a database: announces those of this app, follows those of others, and looks for
dead apps.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import PlainError
from index_store.base.replica import Replica
from index_store.store.index_store import IndexStore
from rag.errors import NotSaved
from rag.runs.history.active_runs import ActiveRuns
from rag.runs.history.history import History
from rag.runs.replicas.dead_apps import DeadApps
from rag.runs.replicas.feed import Feed
from rag.runs.replicas.remote_runs import RemoteRuns
from rag.runs.replicas.shared_admission import SharedAdmission
from rag.runs.run.run import Run
from rag.trace.events import Event, RunFinished

log = logging.getLogger(__name__)

EVERY = 0.2
"""seconds between two times at which news of this app is published"""

IDLE = 1.0
"""seconds between two checks while nothing is published"""

SWEEP = 2.0
"""seconds between two checks which apps are alive; an app missing in two checks has ended"""

ENDING = 30.0
"""seconds to wait for the end of another app's run"""


class RunExchange:
    """Safe in any thread except the event loop's."""

    def __init__(
        self,
        store: IndexStore,
        history: History,
        active_runs: ActiveRuns,
        replica: Replica,
        *,
        loop: asyncio.AbstractEventLoop,
        at_once: float,
        of_one_party: float,
    ) -> None:
        """`loop`: executes the runs. `at_once`, `of_one_party`: as in SharedAdmission."""
        self._active_runs = active_runs
        self._replica = replica
        self._loop = loop
        self.feed = Feed(history, active_runs, replica)
        self.admission = SharedAdmission(active_runs, replica, at_once, of_one_party)
        self._remote_runs = RemoteRuns(active_runs, self._ask_to_stop)
        self._dead_apps = DeadApps(store, history, active_runs, replica, lambda: self._on_removal())
        self._here: Callable[[str], Run | None] = lambda run_id: None
        self._on_removal: Callable[[], object] = lambda: None
        self._forget_runs: Callable[[], object] = lambda: None
        self._lock = threading.Lock()
        """held while what other apps and threads ask for is noted or taken, below"""
        self._to_look: set[str] = set()
        self._to_stop: set[str] = set()
        """runs of other apps"""
        self._has_missed = False
        self._wants_turns = False
        self._woken = threading.Event()
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="runs of replicas", daemon=True)

    def begin(
        self,
        here: Callable[[str], Run | None],
        *,
        on_removal: Callable[[], object],
        forget_runs: Callable[[], object],
    ) -> None:
        """`here`: finds a run that this app works on, by its id; `on_removal`: called when other apps may have removed
        documents and not cleaned up; `forget_runs`: drops finished runs from memory, after another app has cleaned up.
        """
        self._here, self._on_removal, self._forget_runs = here, on_removal, forget_runs
        self._replica.subscribe(self._hear)
        self._thread.start()

    def close(self) -> None:
        """Call it after the last run of this app has ended; that end is still published."""
        if self._thread.is_alive():  # it has begun
            self._replica.unsubscribe(self._hear)
            self._is_closing.set()
            self._woken.set()
            self._thread.join()
        self._dead_apps.close()

    # Runs of other apps

    def run(self, run_id: str) -> Run | None:
        """Raises SQLAlchemyError."""
        return self._remote_runs.get(run_id)

    def of(self, conversation_id: str) -> list[Run]:
        """The conversation's runs, the earliest first. Raises SQLAlchemyError."""
        runs = [self.run(run_id) for run_id in self._active_runs.elsewhere(conversation_id)]
        return [run for run in runs if run and not run.is_finished]

    @property
    def count(self) -> int:
        """The number of runs that are watched here."""
        return self._remote_runs.count

    def stop(self, conversation_id: str) -> None:
        """Stops the runs of a conversation and waits until they end. Raises SQLAlchemyError."""
        runs = self.of(conversation_id)
        for run in runs:
            run.stop()
        until = time.monotonic() + ENDING
        for run in runs:
            if not run.wait(until - time.monotonic()):
                log.warning("Run %s of another app has not ended", run.id)

    def _ask_to_stop(self, run_id: str) -> None:
        with self._lock:
            self._to_stop.add(run_id)
        self._woken.set()

    # Publishing

    def save(self, run_id: str, event: Event) -> None:
        """For a run that this app works on. Raises RunEndedElsewhere, NotSaved, SQLAlchemyError."""
        self.feed.save(run_id, event)
        if isinstance(event, RunFinished):
            self.wake()

    def wake(self) -> None:
        """There is news that others wait for."""
        self._woken.set()

    def notify_of_removal(self) -> None:
        """Tells other apps that documents were removed from the history. Raises SQLAlchemyError."""
        self._replica.notify("removed")

    def _hear(self, word: str) -> None:
        kind, _, run_id = word.partition(" ")
        with self._lock:
            match kind:
                case "run" | "stop":
                    self._to_look.add(run_id)
                case "turns":
                    self._wants_turns = True
                case "":
                    self._has_missed = True
        if kind == "stop" and (run := self._here(run_id)):
            run.stop()
        if kind in ("removed", ""):
            self._forget_runs()
            self._remote_runs.forget()
        self._woken.set()

    # The thread

    def _work(self) -> None:
        published = swept = 0.0
        is_last = False
        while not is_last:
            self._woken.wait(EVERY if self.feed.is_busy else IDLE)
            self._woken.clear()
            is_last = self._is_closing.is_set()
            now = time.monotonic()
            try:
                if is_last or self.feed.has_ended or now - published >= EVERY:
                    self.feed.flush()
                    published = now
                self._look()
                if now - swept >= SWEEP and not is_last:
                    swept = now
                    self._sweep()
            except (NotSaved, PlainError, SQLAlchemyError) as error:  # the edge of the thread: it is tried again soon
                log.warning("This app can't exchange messages with the other apps: %s", error)
                with self._lock:
                    self._has_missed = True
                self._is_closing.wait(IDLE)

    def _look(self) -> None:
        with self._lock:
            to_look, to_stop, has_missed = self._to_look, set(self._to_stop), self._has_missed
            wants_turns = self._wants_turns or has_missed
            self._to_look = set()
            self._has_missed = self._wants_turns = False
        for run_id in to_stop:
            self._active_runs.stop(run_id)
            with self._lock:
                self._to_stop.discard(run_id)
        self._remote_runs.look(None if has_missed else to_look)
        if has_missed:
            self._stop_here()
        if wants_turns and self.admission.awaited:
            self.admission.look(self._loop)

    def _stop_here(self) -> None:
        """Stops runs that someone has stopped in another app, and waiting runs that another app has ended."""
        waiting = self.admission.awaited
        for run_id in {*self._active_runs.stopped(), *(waiting - self._active_runs.mine(waiting) if waiting else ())}:
            if run := self._here(run_id):
                run.stop()

    def _sweep(self) -> None:
        """Looks at everything that may have come without a word."""
        self._stop_here()
        self._remote_runs.look()
        has_taken_over = self._dead_apps.take_over()
        if self.admission.awaited and not has_taken_over:
            self.admission.look(self._loop)
        self._dead_apps.tidy()
