"""Politeness to a host: its rate, retries when it was busy, and its robots.txt."""

import asyncio
import re
import threading
import time
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import NamedTuple

import httpx2
from protego import Protego, RequestRate

from index_store.base.errors import DocumentError
from index_store.crawl.address import absolute, host_of, normalised, origin_of
from index_store.crawl.errors import PageBroken, PagePacked, PageTimedOut, RobotsUnavailable, SiteBusy, SiteUnavailable
from index_store.crawl.requests.fetch import Fetcher, FetchResponse, everything, has_broken_off

TRIES = 3
"""for a page whose server is busy, or whose connection broke"""
RETRY_AFTER = 1.0
"""seconds, doubled each time, if the server names no time"""
LONGEST_WAIT = 60.0
"""seconds; if a server asks for more, the crawl leaves it alone"""
FILE_HOPS = 6
"""addresses in a row for robots.txt (RFC 9309, 2.3.1.2: at least five redirects) and sitemaps"""

MOVED = (301, 302, 303, 307, 308)
MOVED_FOR_GOOD = (301, 308)
SHAKY = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.GATEWAY_TIMEOUT,
)
_BUSY = SHAKY[:2]

AGENT = "glassbox-rag"
"""the name of this crawler in a robots.txt"""
ROBOTS_SIZE = 512_000
"""bytes; a crawler must read at least 500 KiB (RFC 9309, 2.5)"""
LONGEST_DELAY = 60.0
"""seconds; with more, a site would take longer than a day"""

_USER_AGENT = re.compile(r"\s*user[\s-]*agent(?:\s*:|\s)([^#]*)", re.IGNORECASE)
"""a line that names a crawler, in every spelling that Protego reads"""


class Pace:
    """The pace at one host: requests `interval` seconds apart. Crawls in several threads share it."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self._lock = threading.Lock()
        self._next = 0.0
        self._pause = 0.0
        """until when nobody has a turn, as a time of time.monotonic"""

    async def turn(self) -> None:
        """Waits for the next free turn."""
        with self._lock:
            turn = max(time.monotonic(), self._next)
            self._next = turn + self.interval
        await asyncio.sleep(max(0.0, turn - time.monotonic()))
        await self.paused()

    async def paused(self) -> None:
        """Waits until the pause is over."""
        while (left := self._pause - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def pause(self, seconds: float) -> None:
        """Gives nobody a turn for so long."""
        with self._lock:
            self._pause = max(self._pause, time.monotonic() + seconds)
            self._next = max(self._next, self._pause)


class Paces:
    """One pace per host, shared by all crawls."""

    def __init__(self) -> None:
        self._paces: dict[str, Pace] = {}

    def of(self, host: str, interval: float) -> Pace:
        """`interval`: seconds, used if the host is new."""
        return self._paces.setdefault(host, Pace(interval))


class PoliteFetcher:
    def __init__(self, fetcher: Fetcher, interval: float, paces: Paces) -> None:
        """`interval`: seconds between requests to one host, unless the host asks for more."""
        self._fetcher = fetcher
        self._interval = interval
        self._paces = paces

    def slow_down(self, url: str, delay: float) -> None:
        """`delay`: seconds between requests that the host of this address asks for."""
        self._pace(url).interval = max(self._interval, delay)

    async def get(
        self,
        url: str,
        limit: int,
        *,
        cuts: bool = False,
        headers: Mapping[str, str] | None = None,
        wants: Callable[[httpx2.Headers], bool] = everything,
    ) -> FetchResponse:
        """Raises SiteBusy, SiteUnavailable and the errors of Fetcher.get."""
        pace = self._pace(url)
        wait = RETRY_AFTER
        for tries_left in reversed(range(TRIES)):
            await pace.turn()
            try:
                answer = await self._fetcher.get(url, limit=limit, cuts=cuts, headers=headers, wants=wants)
            except PageBroken as error:
                if not tries_left or not has_broken_off(error):
                    raise
                await asyncio.sleep(wait)
            else:
                if answer.status not in SHAKY or not tries_left:
                    return answer
                said = _retry_after(answer.headers)
                if said is not None and said > LONGEST_WAIT:
                    kind = SiteBusy if answer.status == HTTPStatus.TOO_MANY_REQUESTS else SiteUnavailable
                    raise kind(host=host_of(url))
                if answer.status in _BUSY:
                    await pace.pause(wait if said is None else said)
                else:
                    await asyncio.sleep(wait)
            wait *= 2
        raise AssertionError("the last try returns or raises")

    async def get_file(self, url: str, size: int, *, cuts: bool = False) -> FetchResponse:
        """A file about the site itself (robots.txt, its sitemap); follows redirects. Raises the errors of `get`."""
        for _ in range(FILE_HOPS):
            answer = await self.get(url, size, cuts=cuts)
            target = target_of(answer) if answer.status in MOVED else None
            if not target:
                break
            url = target.written
        return answer

    def _pace(self, url: str) -> Pace:
        return self._paces.of(host_of(url), self._interval)


class RedirectTarget(NamedTuple):
    address: str
    """normalised"""
    written: str
    """as the server wrote it, absolute"""


def target_of(answer: FetchResponse) -> RedirectTarget | None:
    """The target of a redirect, if it is an address of the web."""
    try:
        location = _location(answer.headers)
        return RedirectTarget(normalised(location, answer.url), absolute(location, answer.url))
    except (KeyError, DocumentError):
        return None


def _location(headers: httpx2.Headers) -> str:
    """Raises KeyError. Bytes that are not UTF-8, such as Shift_JIS, are escaped one by one, as browsers do."""
    location = headers["location"]
    if headers.encoding != "iso-8859-1":
        return location
    return "".join(each if each.isascii() else f"%{ord(each):02X}" for each in location)


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds."""
    said = headers.get("retry-after", "").strip()
    if said.isdecimal():
        return float(said)
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):  # TypeError: a date without a zone; OverflowError: no such year
        return None


# robots.txt, according to RFC 9309


@dataclass(frozen=True)
class Rules:
    robots: Protego
    delay: float
    """seconds between two requests that the site asks for"""

    def allow(self, url: str) -> bool:
        return self.robots.can_fetch(url, AGENT)


class Robots:
    """The rules of each origin, fetched once."""

    def __init__(self, fetcher: Fetcher, get: Callable[[str, int], Awaitable[FetchResponse]]) -> None:
        """`get`: asks politely, with redirects; takes an address, and the bytes after which the content is cut."""
        self._fetcher = fetcher
        self._get = get
        self._asked: dict[str, asyncio.Task[Rules]] = {}

    async def rules(self, url: str) -> Rules:
        """Raises RobotsUnavailable, and the errors of Fetcher.get if the site can't be reached at all."""
        origin = origin_of(url)
        if origin not in self._asked:
            self._asked[origin] = asyncio.create_task(self._ask(origin))
        return await asyncio.shield(self._asked[origin])

    async def aclose(self) -> None:
        """Ends requests for which nobody waits any more."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)

    async def _ask(self, origin: str) -> Rules:
        try:
            answer = await self._get(f"{origin}/robots.txt", ROBOTS_SIZE)
        except (PageTimedOut, PageBroken, PagePacked, SiteBusy, SiteUnavailable) as error:
            raise RobotsUnavailable(host=host_of(origin)) from error
        if answer.body:
            content = answer.body.path.read_bytes()
            # As Notepad saves "Unicode".
            encoding = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
            lines = content.decode(encoding, "replace").splitlines(keepends=True)
            if answer.body.size >= ROBOTS_SIZE:
                lines = lines[:-1]  # the last one may be cut: "Disallow: /a" must not become "Disallow: /"
            self._fetcher.discard(answer.body)
            return _rules("".join(lines))
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
            raise RobotsUnavailable(host=host_of(origin))
        return _rules("")  # no file, or not allowed to read it: then everything is allowed (RFC 9309, 2.3.1.3)


def _rules(text: str) -> Rules:
    robots = Protego.parse("\n".join(map(_with_one_name_for_others, text.splitlines())))
    rate = robots.request_rate(AGENT)
    delay = max(robots.crawl_delay(AGENT) or 0.0, _seconds_between(rate) if rate else 0.0)
    return Rules(robots, min(delay, LONGEST_DELAY))


def _with_one_name_for_others(line: str) -> str:
    """Protego keeps each rule once for each crawler that it is for. Half a megabyte of names and rules would fill the
    memory. Our own name may stand as in a log, with a version that Protego would not pass over.
    """
    named = _USER_AGENT.match(line)
    if not named:
        return line
    name = named[1].partition("/")[0].strip()
    is_ours = AGENT.startswith(name.lower().replace("*", ""))
    return f"User-agent: {name if is_ours else 'others'}"


def _seconds_between(rate: RequestRate) -> float:
    try:
        return rate.seconds / rate.requests
    except OverflowError:  # a number of hundreds of digits
        return LONGEST_DELAY
