"""The addresses to fetch, nearest to the start first; knows when a crawl is done."""

import asyncio
import heapq
import itertools
from dataclasses import dataclass, replace

WAITING = 100_000
"""addresses at most: ten for each page of the largest crawl"""
REQUESTS = 10
"""for each page of the limit, plus REQUESTS_MORE: an endless calendar of duplicates never reaches a limit of pages"""
REQUESTS_MORE = 100


@dataclass(frozen=True)
class CrawlVisit:
    url: str
    depth: int
    """links away from the start"""
    chain: tuple[str, ...] = ()
    """the addresses that redirected here, in order"""
    written: str = ""
    """the address as a redirect wrote it, if that is what the server wants to be asked for: with a session"""
    has_cookies: bool = False
    """whether the site led in a circle, and now gets its cookies"""
    is_start: bool = False
    stands_alone: bool = False
    """whether it counts as a page of its own, because the page that it duplicates did not come"""

    @property
    def first(self) -> str:
        return self.chain[0] if self.chain else self.url

    def moved_to(self, url: str) -> "CrawlVisit":
        return replace(self, url=url, written="", chain=(*self.chain, self.url))

    def back_at(self, url: str) -> "CrawlVisit":
        """The visit at an address of its chain again, with cookies."""
        chain = (*self.chain, self.url)
        return replace(self, url=url, written="", chain=chain[: chain.index(url)], has_cookies=True)

    def alone(self) -> "CrawlVisit":
        return replace(self, stands_alone=True)


class Frontier:
    def __init__(self, limit: int) -> None:
        """`limit`: pages."""
        self.seen: set[str] = set()
        self.pages = 0
        self._limit = limit
        self._requests = REQUESTS * limit + REQUESTS_MORE
        self._heap: list[tuple[int, int, CrawlVisit]] = []
        self._order = itertools.count()
        self._under_way: list[int] = []
        """depths of the addresses that are fetched"""
        self._is_closed = False
        self._has_dropped = False
        self._changed = asyncio.Condition()

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def met_a_limit(self) -> bool:
        """Whether an address was left out."""
        return self._has_dropped or self._is_closed or bool(self._heap)

    def add(self, visit: CrawlVisit) -> None:
        """Adds an address, unless it was added before."""
        if visit.url in self.seen:
            self._bring_nearer(visit)
            return
        if len(self._heap) >= WAITING:
            self._has_dropped = True
            return
        self.seen.add(visit.url)
        self.requeue(visit)

    def requeue(self, visit: CrawlVisit) -> None:
        """Adds an address even if it was added before."""
        heapq.heappush(self._heap, (visit.depth, next(self._order), visit))

    def _bring_nearer(self, visit: CrawlVisit) -> None:
        """A redirect may lead to an address that was found further away: its links count from the nearer place."""
        for at, (depth, order, waiting) in enumerate(self._heap):
            if waiting.url == visit.url and depth > visit.depth:
                self._heap[at] = (visit.depth, order, replace(waiting, depth=visit.depth))
                heapq.heapify(self._heap)
                return

    def close(self) -> None:
        """No address is taken any more."""
        self._is_closed = True

    async def take(self) -> CrawlVisit | None:
        """The next address; None if there is none and none can come. Call `done` for each."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_over or self._is_ready)
            if self._is_over:
                return None
            self._requests -= 1
            visit = heapq.heappop(self._heap)[-1]
            self._under_way.append(visit.depth)
            return visit

    async def done(self, visit: CrawlVisit, *, is_page: bool) -> None:
        async with self._changed:
            self._under_way.remove(visit.depth)
            self.pages += is_page
            self._changed.notify_all()

    @property
    def _is_over(self) -> bool:
        is_full = self._is_closed or self.pages >= self._limit or self._requests <= 0
        return is_full or not (self._heap or self._under_way)

    @property
    def _is_ready(self) -> bool:
        # Requests that are still running may become pages, so they count towards the limit.
        if not self._heap or self.pages + len(self._under_way) >= self._limit:
            return False
        # Ring by ring: a redirect that is still awaited may bring an address nearer.
        return self._heap[0][0] <= min(self._under_way, default=self._heap[0][0])
