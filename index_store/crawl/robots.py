"""What a site's robots.txt lets be crawled, as RFC 9309 has it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

from protego import Protego

from index_store.crawl.address import host_of, origin_of
from index_store.crawl.errors import PageBroken, PageTimedOut, PageTooLarge, RobotsUnavailable, SiteBusy
from index_store.crawl.fetch import Answer, Fetcher

AGENT = "glassbox-rag"
"""the name that a robots.txt calls this crawler by"""
SIZE = 512_000
"""bytes; a crawler has to read 500 KiB at least (RFC 9309, 2.5)"""
LONGEST_DELAY = 60.0
"""seconds; a site that asks for more would not be done within a day"""


@dataclass(frozen=True)
class Rules:
    robots: Protego
    delay: float
    """seconds between two requests that the site asks for"""

    def allow(self, url: str) -> bool:
        return self.robots.can_fetch(url, AGENT)


class Robots:
    """The rules of each origin, asked for once."""

    def __init__(self, fetcher: Fetcher, get: Callable[[str, int], Awaitable[Answer]]) -> None:
        """`get`: asks politely, with redirects; for an address, and at most so many bytes."""
        self._fetcher = fetcher
        self._get = get
        self._asked: dict[str, asyncio.Task[Rules]] = {}

    async def rules(self, url: str) -> Rules:
        """Raises RobotsUnavailable; what Fetcher.get raises when the site can't be reached at all."""
        origin = origin_of(url)
        if origin not in self._asked:
            self._asked[origin] = asyncio.create_task(self._ask(origin))
        return await asyncio.shield(self._asked[origin])

    async def aclose(self) -> None:
        """Ends the requests that nobody waits for any more."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)

    async def _ask(self, origin: str) -> Rules:
        try:
            answer = await self._get(f"{origin}/robots.txt", SIZE)
        except (PageTimedOut, PageBroken, SiteBusy) as error:
            raise RobotsUnavailable(host=host_of(origin)) from error
        except PageTooLarge:
            return _rules("")
        if answer.body:
            text = answer.body.path.read_text("utf-8-sig", "replace")
            self._fetcher.discard(answer.body)
            return _rules(text)
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            raise RobotsUnavailable(host=host_of(origin))
        return _rules("")  # there is none, or it may not be read: everything may (RFC 9309, 2.3.1.3)


def _rules(text: str) -> Rules:
    robots = Protego.parse(text)
    rate = robots.request_rate(AGENT)
    delay = max(robots.crawl_delay(AGENT) or 0.0, rate.seconds / rate.requests if rate else 0.0)
    return Rules(robots, min(delay, LONGEST_DELAY))
