"""Whose turn it is at the model: so many at once as it can serve, so many of them of one party, the others in a fair
queue. Runs wait so, of which a person is the party, and their calls, of which the run is.
"""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(eq=False)
class _Waiting:
    party: Hashable
    tell: Callable[[int], None]
    admitted: asyncio.Event = field(default_factory=asyncio.Event)


class Admission:
    """Of one event loop."""

    def __init__(self, at_once: float = math.inf, of_one_party: float = math.inf) -> None:
        self._at_once = at_once
        self._of_one_party = of_one_party
        self._allowed: dict[Hashable, float] = {}
        """at once, of those with another number than all"""
        self._running: Counter[Hashable] = Counter()
        """by party"""
        self._latest: dict[Hashable, int] = {}
        """the number of their latest turn, of those who are at work or wait"""
        self._turns = 0
        self._queue: list[_Waiting] = []
        """in the order in which they came"""

    @asynccontextmanager
    async def turn(
        self,
        party: Hashable,
        tell: Callable[[int], None] = lambda before: None,
        *,
        at_once: float | None = None,
    ) -> AsyncIterator[None]:
        """Waits for it. `tell` hears how many are before this one, whenever that changes, and 0 at last. `at_once`: how
        many this party may have from now on, where it is not as all.
        """
        if at_once is not None:
            self._allowed[party] = at_once
        waiting = _Waiting(party, tell)
        self._queue.append(waiting)
        self._admit()
        try:
            await waiting.admitted.wait()
            yield
        finally:
            if waiting.admitted.is_set():
                self._running[party] -= 1
            else:
                self._queue.remove(waiting)
            if not self._running[party]:
                del self._running[party]
                if all(each.party != party for each in self._queue):
                    self._latest.pop(party, None)
                    self._allowed.pop(party, None)
            self._admit()

    def _admit(self) -> None:
        order = self._order()
        while self._running.total() < self._at_once and (first := next(filter(self._may, order), None)):
            order.remove(first)
            self._queue.remove(first)
            self._running[first.party] += 1
            self._turns += 1
            self._latest[first.party] = self._turns
            first.tell(0)
            first.admitted.set()
        for before, waiting in enumerate(order, start=1):
            waiting.tell(before)

    def _may(self, waiting: _Waiting) -> bool:
        return self._running[waiting.party] < self._allowed.get(waiting.party, self._of_one_party)

    def _order(self) -> list[_Waiting]:
        """Each party in turn: which has least at work or before, then whose latest turn is longest ago."""
        counts = self._running.copy()
        places = {}
        for waiting in self._queue:
            places[waiting] = (counts[waiting.party], self._latest.get(waiting.party, 0))
            counts[waiting.party] += 1
        return sorted(self._queue, key=places.__getitem__)
