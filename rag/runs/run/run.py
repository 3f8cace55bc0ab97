"""One run, as its readers see it."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence

from rag.trace.events import Event, RunFinished, RunStarted, Token


class Run:
    """The events of one question, as they happen. Any number of threads may read it at once."""

    def __init__(self, started: RunStarted, reused: Sequence[Event] = ()) -> None:
        """`reused`: events that a fork takes from its origin."""
        self.id = started.run_id
        self.conversation_id = started.conversation_id
        self._events: list[Event] = [started, *reused]
        self._changed = threading.Condition()
        self._cancel: Callable[[], object] | None = None
        self._stopped = False
        self._writing: tuple[str, int] | None = None
        self._readers: dict[str, Callable[[], object]] = {}
        self.before = 0
        """runs before this one in the queue"""
        self.begun_at = started.at
        """seconds since 1970: when its turn came"""
        self.changed_at = started.at
        """seconds since 1970: the latest event or step forward in the queue"""

    @property
    def events(self) -> Sequence[Event]:
        """The events so far."""
        with self._changed:
            return tuple(self._events)

    @property
    def is_finished(self) -> bool:
        return isinstance(self._events[-1], RunFinished)

    def stream(self) -> Iterator[Event]:
        """All events from the first to `run_finished`, waiting for each."""
        position = 0
        while True:
            with self._changed:
                while len(self._events) == position:
                    self._changed.wait()
                fresh = self._events[position:]
            yield from fresh
            position += len(fresh)
            if isinstance(fresh[-1], RunFinished):
                return

    def result(self) -> RunFinished:
        """Waits for the end."""
        for event in self.stream():
            if isinstance(event, RunFinished):
                return event
        raise AssertionError("A run ends with run_finished.")

    def wait(self, seconds: float) -> bool:
        """Waits at most so long for the end; True if it has come."""
        with self._changed:
            return self._changed.wait_for(lambda: self.is_finished, max(0, seconds))

    def stop(self) -> None:
        """Ends the run and the model's work for it at once. Does nothing if the run is finished."""
        with self._changed:
            self._stopped = True
            if self._cancel and not self.is_finished:
                self._cancel()

    def on_stop(self, cancel: Callable[[], object]) -> None:
        """`cancel`: ends the work; called at once if `stop` came first."""
        with self._changed:
            self._cancel = cancel
            if self._stopped:
                cancel()

    def wait_behind(self, before: int) -> None:
        """`before`: number of runs before it in the queue; 0 when its turn has come."""
        if before != self.before:
            self.changed_at = time.time()
        self.before = before
        if not before:
            self.begun_at = time.time()

    def tell_when_it_writes_or_ends(self, reader: str, tell: Callable[[], object]) -> None:
        """Calls `tell` when an attempt to write an answer begins and when the run ends, in a thread of the engine.

        `tell` may neither raise nor wait. Each reader has one.
        """
        with self._changed:
            self._readers[reader] = tell

    def append(self, event: Event) -> None:
        with self._changed:
            self._events.append(event)
            self.changed_at = time.time()
            self._changed.notify_all()
            readers = list(self._readers.values()) if self._is_told(event) else []
        for tell in readers:
            tell()

    def _is_told(self, event: Event) -> bool:
        """Whether readers are told of the event."""
        if isinstance(event, RunFinished):
            return True
        if not isinstance(event, Token) or not event.text or (event.step, event.attempt) == self._writing:
            return False
        self._writing = event.step, event.attempt
        return True
