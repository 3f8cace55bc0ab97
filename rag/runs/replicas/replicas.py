"""One app among several on a database: announces its runs, follows those of others, ends runs of dead apps."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Set
from concurrent.futures import Future, ThreadPoolExecutor

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import PlainError
from index_store.base.replica import Replica
from index_store.store import IndexStore
from rag.errors import NotSaved
from rag.runs.history.active_runs import ActiveRuns
from rag.runs.history.history import History
from rag.runs.replicas.feed import Feed
from rag.runs.replicas.remote_runs import RemoteRuns
from rag.runs.replicas.shared_admission import SharedAdmission
from rag.runs.run.run import Run
from rag.trace.events import Event, RunFinished

log = logging.getLogger(__name__)

EVERY = 0.2
"""seconds between two times that what was written here is told"""

IDLE = 1.0
"""seconds between two looks where nothing is told"""

SWEEP = 2.0
"""seconds between two looks at who is there; who is gone at two of them is gone"""

TIDY = 15.0
"""seconds between two looks at what is to be deleted; what is there at two of them, nobody is about to"""

ENDING = 30.0
"""seconds that the end of a run of another app is waited for"""


class Replicas:
    """Safe from any thread but the event loop's."""

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
        """`loop`: that works on the runs. The others: of SharedAdmission."""
        self._store = store
        self._history = history
        self._active_runs = active_runs
        self._replica = replica
        self._loop = loop
        self.feed = Feed(history, active_runs, replica)
        self.admission = SharedAdmission(active_runs, replica, at_once, of_one_party)
        self._remote_runs = RemoteRuns(active_runs, self._ask_to_stop)
        self._here: Callable[[str], Run | None] = lambda run_id: None
        self._on_removal: Callable[[], object] = lambda: None
        self._forget_runs: Callable[[], object] = lambda: None
        self._telling = threading.Lock()
        self._to_look: set[str] = set()
        self._to_stop: set[str] = set()
        """runs of others"""
        self._has_missed = False
        self._wants_turns = False
        self._gone: Set[int] = frozenset()
        """at the last look"""
        self._unfinished: Set[object] = frozenset()
        """at the last look"""
        self._tidied = time.monotonic()
        self._patient = ThreadPoolExecutor(1, "jobs of replicas")
        """for what may have to wait"""
        self._taking_over: Future[None] = Future()
        self._taking_over.set_result(None)
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
        """`here`: the run of that id, where this app works on it; `on_removal`: other apps may have removed documents,
        and not seen to it; `forget_runs`: another one has, so those in memory that are over are to go.
        """
        self._here, self._on_removal, self._forget_runs = here, on_removal, forget_runs
        self._replica.subscribe(self._hear)
        self._thread.start()

    def close(self) -> None:
        """After the last run of this app has ended, which is told."""
        self._replica.unsubscribe(self._hear)
        self._is_closing.set()
        self._woken.set()
        self._thread.join()
        self._patient.shutdown()

    # Runs of others

    def run(self, run_id: str) -> Run | None:
        """Raises SQLAlchemyError."""
        return self._remote_runs.get(run_id)

    def of(self, conversation_id: str) -> list[Run]:
        """The earliest first. Raises SQLAlchemyError."""
        runs = [self.run(run_id) for run_id in self._active_runs.elsewhere(conversation_id)]
        return [run for run in runs if run and not run.is_finished]

    @property
    def count(self) -> int:
        """Of those that are looked at here."""
        return self._remote_runs.count

    def stop(self, conversation_id: str) -> None:
        """Those of a conversation, and waits for their ends. Raises SQLAlchemyError."""
        runs = self.of(conversation_id)
        for run in runs:
            run.stop()
        until = time.monotonic() + ENDING
        for run in runs:
            if not run.wait(until - time.monotonic()):
                log.warning("Run %s of another app has not ended", run.id)

    def _ask_to_stop(self, run_id: str) -> None:
        with self._telling:
            self._to_stop.add(run_id)
        self._woken.set()

    # What is told

    def save(self, run_id: str, event: Event) -> None:
        """Of a run that this app works on. Raises RunEndedElsewhere, NotSaved, SQLAlchemyError."""
        self.feed.save(run_id, event)
        if isinstance(event, RunFinished):
            self.wake()

    def wake(self) -> None:
        """There is something to tell that others wait for."""
        self._woken.set()

    def notify_of_removal(self) -> None:
        """Documents are taken out of the history. Raises SQLAlchemyError."""
        self._replica.notify("removed")

    def _hear(self, word: str) -> None:
        kind, _, run_id = word.partition(" ")
        with self._telling:
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
        told = swept = 0.0
        is_last = False
        while not is_last:
            self._woken.wait(EVERY if self.feed.is_busy else IDLE)
            self._woken.clear()
            is_last = self._is_closing.is_set()
            now = time.monotonic()
            try:
                if is_last or self.feed.has_ended or now - told >= EVERY:
                    self.feed.flush()
                    told = now
                self._look()
                if now - swept >= SWEEP and not is_last:
                    swept = now
                    self._sweep()
            except (NotSaved, PlainError, SQLAlchemyError) as error:  # the edge of the thread: tried again soon
                log.warning("This app can't exchange messages with the other apps: %s", error)
                with self._telling:
                    self._has_missed = True
                self._is_closing.wait(IDLE)

    def _look(self) -> None:
        with self._telling:
            to_look, to_stop, has_missed = self._to_look, set(self._to_stop), self._has_missed
            wants_turns = self._wants_turns or has_missed
            self._to_look = set()
            self._has_missed = self._wants_turns = False
        for run_id in to_stop:
            self._active_runs.stop(run_id)
            with self._telling:
                self._to_stop.discard(run_id)
        self._remote_runs.look(None if has_missed else to_look)
        if has_missed:
            self._stop_here()
        if wants_turns and self.admission.awaited:
            self.admission.look(self._loop)

    def _stop_here(self) -> None:
        """What someone has stopped elsewhere; and what waits for its turn though another app has ended it."""
        waiting = self.admission.awaited
        for run_id in {*self._active_runs.stopped(), *(waiting - self._active_runs.mine(waiting) if waiting else ())}:
            if run := self._here(run_id):
                run.stop()

    def _sweep(self) -> None:
        """Ends the runs of apps that are gone, and goes on with their jobs."""
        self._stop_here()
        self._remote_runs.look()
        # In this order: whoever has something was there before.
        there = self._active_runs.apps() | self._store.replicas()
        gone = there - self._replica.alive()
        for_good, self._gone = gone & self._gone, gone
        if for_good:
            log.warning("Unfinished work of apps that ended can't be finished yet: %s", for_good)
            for run_id in self._history.close_interrupted_runs(for_good):
                self._replica.notify(f"run {run_id}")
            self._replica.notify("turns")
            if self._taking_over.done():
                self._taking_over = self._patient.submit(self._take_over, for_good)
        elif self.admission.awaited:
            self.admission.look(self._loop)
        if time.monotonic() - self._tidied >= TIDY and self._taking_over.done():
            self._taking_over = self._patient.submit(self._tidy)
            self._tidied = time.monotonic()

    def _tidy(self) -> None:
        """Deletes what a process was about to that has ended since, or that it could not."""
        try:
            unfinished = self._store.unfinished()
            is_left, self._unfinished = unfinished & self._unfinished, unfinished
            if is_left:
                self._store.finish()
        except (PlainError, SQLAlchemyError, OSError) as error:  # the edge of the thread
            log.warning("Unfinished deletions of other apps are checked again later: %s", error)

    def _take_over(self, gone: Set[int]) -> None:
        try:
            self._store.take_over(gone)
        except (PlainError, SQLAlchemyError, OSError):  # the edge of the thread; the next look finds them again
            log.exception("The jobs of an app that ended can't be continued")
        self._on_removal()
