"""The queue of runs for all apps that share a database, as rows; models/calls/admission.py is the queue of one app.

Any app that looks gives turns to the runs of all apps and notifies them, so it does not matter which app looks first.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.replica import Replica
from rag.models.calls.admission import in_turn
from rag.runs.history.active_runs import ActiveRuns, QueuedRun

log = logging.getLogger(__name__)

MOST = 2**31 - 1
"""what the database's column can hold: no limit"""


@dataclass(eq=False)
class _Waiting:
    tell: Callable[[int], None]
    before: int = -1
    admitted: asyncio.Event = field(default_factory=asyncio.Event)


class SharedAdmission:
    def __init__(self, active_runs: ActiveRuns, replica: Replica, at_once: float, of_one_party: float) -> None:
        """`at_once`: runs of all apps together; `of_one_party`: the limit if a run has none of its own."""
        self._active_runs = active_runs
        self._replica = replica
        self._at_once = at_once
        self._of_one_party = of_one_party
        self._waiting: dict[str, _Waiting] = {}
        """runs of this app"""

    @property
    def awaited(self) -> set[str]:
        """The runs of this app that wait."""
        return set(self._waiting)

    @asynccontextmanager
    async def turn(self, run_id: str, party: str, tell: Callable[[int], None], at_once: float) -> AsyncIterator[None]:
        """Waits for a turn, as `Admission.turn` does; the turn ends with the run. While the database is away, nobody
        waits: what can't be counted can't be limited.
        """
        waiting = self._waiting[run_id] = _Waiting(tell)
        loop = asyncio.get_running_loop()
        try:
            await asyncio.to_thread(self._active_runs.queue, run_id, party, int(min(at_once, MOST)))
            await asyncio.to_thread(self.look, loop)
            await waiting.admitted.wait()
        except SQLAlchemyError as error:
            log.warning("Run %s starts without waiting for its turn: %s", run_id, error)
        finally:
            self._waiting.pop(run_id, None)
        yield

    def look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Gives the free turns. `loop`: where the runs of this app wait. Raises SQLAlchemyError."""
        with self._active_runs.turns() as (queued, take):
            given, order = admitted(queued, self._at_once, self._of_one_party)
            number = max((each.turn for each in queued if each.turn is not None), default=0)
            take({each.run_id: number + place for place, each in enumerate(given, 1)})
        if any(each.app != self._replica.number for each in given):
            self._replica.notify("turns")
        places = {each.run_id: 0 for each in queued if each.turn is not None} | {each.run_id: 0 for each in given}
        places |= {each.run_id: before for before, each in enumerate(order, 1)}
        loop.call_soon_threadsafe(self._hear, places)

    def _hear(self, places: dict[str, int]) -> None:
        for run_id, waiting in list(self._waiting.items()):
            before = places.get(run_id, waiting.before)
            if before > 0 and before != waiting.before:
                waiting.tell(before)
            waiting.before = before
            if not before:
                waiting.admitted.set()


def admitted(
    queued: Sequence[QueuedRun], at_once: float, of_one_party: float
) -> tuple[list[QueuedRun], list[QueuedRun]]:
    """Who has their turn now and who still waits, each in order. `queued`: in the order of arrival."""
    allowed = {each.party: each.at_once if each.at_once is not None else of_one_party for each in queued}
    running = Counter(each.party for each in queued if each.turn is not None)
    latest = {each.party: each.turn for each in sorted(queued, key=lambda each: each.turn or 0) if each.turn}
    turns = max(latest.values(), default=0)
    waiting = [each for each in queued if each.turn is None]
    given: list[QueuedRun] = []
    while sum(running.values()) < at_once:
        order = in_turn(waiting, lambda each: each.party, running, latest)
        first = next((each for each in order if running[each.party] < allowed[each.party]), None)
        if first is None:
            break
        waiting.remove(first)
        given.append(first)
        turns += 1
        running[first.party] += 1
        latest[first.party] = turns
    return given, in_turn(waiting, lambda each: each.party, running, latest)
