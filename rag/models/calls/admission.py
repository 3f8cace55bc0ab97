"""A fair queue for the model: it limits how many run at once, in total and per party.

It queues runs; their party is the person. It also queues calls of the model; their party is the run, and the run's
party is the person. So many runs of one person get no larger share than one run.
"""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(eq=False)
class _Waiting:
    parties: tuple[Hashable, ...]
    """the narrowest party first"""
    tell: Callable[[int], None]
    admitted: asyncio.Event = field(default_factory=asyncio.Event)


class Admission:
    """A queue within one event loop."""

    def __init__(self, at_once: float = math.inf, of_one_party: float = math.inf) -> None:
        self._at_once = at_once
        self._of_one_party = of_one_party
        self._allowed: dict[Hashable, float] = {}
        """limits of parties that differ from the general limit"""
        self._at_work = 0
        self._running: Counter[Hashable] = Counter()
        """number at work, by party"""
        self._latest: dict[Hashable, int] = {}
        """number of the latest turn, for parties that are at work or wait"""
        self._turns = 0
        self._queue: list[_Waiting] = []
        """in the order of arrival"""

    @asynccontextmanager
    async def turn(
        self,
        party: Hashable,
        tell: Callable[[int], None] = lambda before: None,
        *,
        within: Hashable = None,
        at_once: float | None = None,
    ) -> AsyncIterator[None]:
        """Waits for a turn. `tell`: gets the number of those before this one whenever it changes; at last 0.

        `at_once`: the party's limit from now on, if it differs from the general limit. `within`: a party of parties;
        these take turns first.
        """
        if at_once is not None:
            self._allowed[party] = at_once
        waiting = _Waiting((party,) if within is None else (party, within), tell)
        self._queue.append(waiting)
        self._admit()
        try:
            await waiting.admitted.wait()
            yield
        finally:
            if waiting.admitted.is_set():
                self._at_work -= 1
                self._running.subtract(waiting.parties)
            else:
                self._queue.remove(waiting)
            for each in waiting.parties:
                self._forget(each)
            self._admit()

    def _admit(self) -> None:
        order = self._order()
        while self._at_work < self._at_once and (first := next(filter(self._may, order), None)):
            order.remove(first)
            self._queue.remove(first)
            self._at_work += 1
            self._turns += 1
            for each in first.parties:
                self._running[each] += 1
                self._latest[each] = self._turns
            first.tell(0)
            first.admitted.set()
        for before, waiting in enumerate(order, start=1):
            waiting.tell(before)

    def _may(self, waiting: _Waiting) -> bool:
        return all(self._running[each] < self._allowed.get(each, self._of_one_party) for each in waiting.parties)

    def _order(self) -> list[_Waiting]:
        """The parties take turns, and so do the parties within one."""
        return self._in_turn(self._in_turn(self._queue, 0), -1)

    def _in_turn(self, queue: list[_Waiting], level: int) -> list[_Waiting]:
        return in_turn(queue, lambda waiting: waiting.parties[level], self._running, self._latest)

    def _forget(self, party: Hashable) -> None:
        """Forgets a party that is not at work and does not wait."""
        if self._running[party]:
            return
        del self._running[party]
        if all(party not in each.parties for each in self._queue):
            self._latest.pop(party, None)
            self._allowed.pop(party, None)


def in_turn(
    queue: Sequence[T], party_of: Callable[[T], Hashable], running: Mapping[Any, int], latest: Mapping[Any, int]
) -> list[T]:
    """Sorts the queue: first the party with the fewest at work and before it in the queue, then the party whose latest
    turn is oldest.

    `running`: number at work, by party; `latest`: number of the latest turn, by party.
    """
    counts = Counter(running)
    places = {}
    for waiting in queue:
        party = party_of(waiting)
        places[waiting] = (counts[party], latest.get(party, 0))
        counts[party] += 1
    return sorted(queue, key=places.__getitem__)
