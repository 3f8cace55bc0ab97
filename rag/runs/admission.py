"""Whose turn it is: so many runs at once as the model can serve, so many of them of one person, the others in a fair
queue.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(eq=False)
class _Waiting:
    person: str
    tell: Callable[[int], None]
    admitted: asyncio.Event = field(default_factory=asyncio.Event)


class Admission:
    """Of one event loop."""

    def __init__(self, at_once: int, of_one_person: int) -> None:
        self._at_once = at_once
        self._of_one_person = of_one_person
        self._running: Counter[str] = Counter()
        """by person"""
        self._latest: dict[str, int] = {}
        """the number of their latest turn, of those who are at work or wait"""
        self._turns = 0
        self._queue: list[_Waiting] = []
        """in the order in which they came"""

    @asynccontextmanager
    async def turn(self, person: str, tell: Callable[[int], None]) -> AsyncIterator[None]:
        """Waits for it. `tell` hears how many are before this one, whenever that changes, and 0 at last."""
        waiting = _Waiting(person, tell)
        self._queue.append(waiting)
        self._admit()
        try:
            await waiting.admitted.wait()
            yield
        finally:
            if waiting.admitted.is_set():
                self._running[person] -= 1
            else:
                self._queue.remove(waiting)
            if not self._running[person] and all(each.person != person for each in self._queue):
                self._latest.pop(person, None)
            self._admit()

    def _admit(self) -> None:
        order = self._order()
        while order and self._running.total() < self._at_once and self._running[order[0].person] < self._of_one_person:
            first = order.pop(0)
            self._queue.remove(first)
            self._running[first.person] += 1
            self._turns += 1
            self._latest[first.person] = self._turns
            first.tell(0)
            first.admitted.set()
        for before, waiting in enumerate(order, start=1):
            waiting.tell(before)

    def _order(self) -> list[_Waiting]:
        """Each person in turn: who has least at work or before, then whose latest turn is longest ago."""
        counts = self._running.copy()
        places = {}
        for waiting in self._queue:
            places[waiting] = (counts[waiting.person], self._latest.get(waiting.person, 0))
            counts[waiting.person] += 1
        return sorted(self._queue, key=places.__getitem__)
