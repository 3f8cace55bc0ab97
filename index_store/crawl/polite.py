"""Asking a host no faster than it likes, and again when it was busy or the connection broke."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx2

from index_store.base.errors import DocumentError
from index_store.crawl.address import host_of, normalised
from index_store.crawl.errors import PageBroken, SiteBusy
from index_store.crawl.fetch import Answer, Fetcher, everything, has_broken_off
from index_store.crawl.pace import Pace

TRIES = 3
"""of a page whose server is busy, or whose connection broke"""
RETRY_AFTER = 1.0
"""seconds, doubled each time, when the server does not say"""
LONGEST_WAIT = 60.0
"""seconds; a server that wants more is left alone"""
FILE_HOPS = 6
"""addresses in a row for robots.txt (RFC 9309, 2.3.1.2: five redirects at least) and site maps"""

MOVED = (301, 302, 303, 307, 308)
SHAKY = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.GATEWAY_TIMEOUT,
)
_BUSY = SHAKY[:2]


class PoliteFetcher:
    def __init__(self, fetcher: Fetcher, interval: float) -> None:
        """`interval`: seconds between requests to one host, unless it asks for more."""
        self._fetcher = fetcher
        self._interval = interval
        self._paces: dict[str, Pace] = {}

    def slow_down(self, url: str, delay: float) -> None:
        """`delay`: seconds between requests that the host of this address asks for."""
        self._pace(url).interval = max(self._interval, delay)

    async def get(
        self,
        url: str,
        limit: int,
        *,
        conditions: Mapping[str, str] | None = None,
        wants: Callable[[httpx2.Headers], bool] = everything,
    ) -> Answer:
        """Raises as Fetcher.get, SiteBusy."""
        pace = self._pace(url)
        wait = RETRY_AFTER
        for tries_left in reversed(range(TRIES)):
            await pace.turn()
            try:
                answer = await self._fetcher.get(url, limit=limit, conditions=conditions, wants=wants)
            except PageBroken as error:
                if not tries_left or not has_broken_off(error):
                    raise
                await asyncio.sleep(wait)
            else:
                if answer.status not in SHAKY or not tries_left:
                    return answer
                said = _retry_after(answer.headers)
                if said is not None and said > LONGEST_WAIT:
                    raise SiteBusy(host=host_of(url))
                if answer.status in _BUSY:
                    pace.pause(wait if said is None else said)
                else:
                    await asyncio.sleep(wait)
            wait *= 2
        raise AssertionError("the last try returns or raises")

    async def get_file(self, url: str, size: int) -> Answer:
        """Of the site itself (robots.txt, its map), with redirects. Raises as `get`."""
        for _ in range(FILE_HOPS):
            answer = await self.get(url, size)
            target = target_of(answer) if answer.status in MOVED else None
            if not target:
                break
            url = target
        return answer

    def _pace(self, url: str) -> Pace:
        return self._paces.setdefault(host_of(url), Pace(self._interval))


def target_of(answer: Answer) -> str | None:
    """Where a redirect leads, if that is an address of the web."""
    try:
        return normalised(answer.headers["location"], answer.url)
    except (KeyError, DocumentError):
        return None


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds."""
    said = headers.get("retry-after", "").strip()
    if said.isdecimal():
        return float(said)
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):  # TypeError: a date without a zone
        return None
