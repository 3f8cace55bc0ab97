"""The addresses in a site's sitemap (https://www.sitemaps.org/protocol.html), including nested sitemaps. Its protocol
also allows a feed, RSS or Atom.
"""

import asyncio
import gzip
import logging
import re
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from html import unescape
from http import HTTPStatus
from io import BufferedReader, RawIOBase
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lxml import etree

from index_store.base.errors import DocumentError
from index_store.base.settings.settings import MEGABYTE
from index_store.crawl.address import host_of, normalised, origin_of, path_of, site_of
from index_store.crawl.errors import PageFailed
from index_store.crawl.requests.fetch import PIECE, Fetcher, FetchResponse

log = logging.getLogger(__name__)

SIZE = 50 * MEGABYTE
"""bytes of one sitemap, according to its protocol"""
MAPS = 500
"""sitemaps that are read of one site; WordPress may have one for each month"""
SECONDS = 120.0
"""for all of them"""
DEPTH = 100
"""of elements inside each other; its protocol has 3"""
ADDRESSES = 50_000
"""taken of one site; one sitemap may hold as many"""


class SiteMap(NamedTuple):
    addresses: list[str]
    """normalised, of the same site"""
    is_whole: bool
    """False if a part of it could not be read, or was left out"""

    def in_folder(self, start: str, given: str) -> list[str]:
        """The addresses in the folder of the start: links show what belongs together, a sitemap lists everything.

        `start`: where redirects of the start lead; `given`: the start itself.
        """
        # Of example.com/, all is wanted though it redirects to /ja/; but /docs may be the folder /docs/.
        is_folder = given.endswith("/") and site_of(given) == site_of(start)
        folder = path_of(given if is_folder else start).rpartition("/")[0] + "/"
        return [url for url in self.addresses if path_of(url).startswith(folder)]


def places_of_sitemap(named: Iterable[str], start: str) -> list[str]:
    """Where the sitemap of the start's site may be. `named`: in robots.txt; it may name one on another host, which a
    crawl does not read.
    """
    places = []
    for place in named:
        try:
            address = normalised(place, start)
        except DocumentError:
            continue
        if site_of(address) == site_of(start):
            places.append(address)
    return places or [f"{origin_of(start)}/sitemap.xml"]


async def read_sitemap(
    places: Sequence[str], fetcher: Fetcher, get: Callable[[str, int], Awaitable[FetchResponse]]
) -> SiteMap:
    """Leaves out parts that can't be read. A site without a sitemap is no error."""
    waiting = deque(places)
    maps = dict.fromkeys(places)
    found: dict[str, None] = {}
    is_whole = True
    try:
        async with asyncio.timeout(SECONDS):
            while waiting and len(found) < ADDRESSES:
                place = waiting.popleft()
                try:
                    located = await _read(place, fetcher, get)
                except DocumentError as error:
                    log.info("a part of the site map was not read: %s", error)
                    is_whole = False
                    continue
                for is_map, address in _of_site(located, place):
                    known, most = (maps, MAPS) if is_map else (found, ADDRESSES)
                    if address in known:
                        continue
                    if len(known) >= most:
                        is_whole = False
                        break
                    known[address] = None
                    if is_map:
                        waiting.append(address)
    except TimeoutError:
        log.warning("the site map of %s takes longer than %g s, so the rest is left out", host_of(places[0]), SECONDS)
        is_whole = False
    return SiteMap(list(found), is_whole and not waiting)


async def _read(
    place: str, fetcher: Fetcher, get: Callable[[str, int], Awaitable[FetchResponse]]
) -> list[tuple[bool, str]]:
    answer = await get(place, SIZE)
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        raise PageFailed(url=place, status=answer.status)
    if not answer.body:
        return []
    try:
        return await asyncio.to_thread(_located, answer.body.path)
    finally:
        fetcher.discard(answer.body)


def _of_site(located: list[tuple[bool, str]], place: str) -> Iterator[tuple[bool, str]]:
    site = site_of(place)
    for is_map, text in located:
        try:
            address = normalised(text.strip(), place)
        except DocumentError:
            continue
        if site_of(address) == site:
            yield is_map, address


def _located(path: Path) -> list[tuple[bool, str]]:
    return list(islice(_locations(path), ADDRESSES + 1))


def _locations(path: Path) -> Iterator[tuple[bool, str]]:
    """Yields whether it is a sitemap, and its address. If the file breaks off, what came before counts."""
    with path.open("rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if is_packed else path.open("rb") as opened:
        file = BufferedReader(_Limited(opened))
        with suppress(EOFError, zlib.error, gzip.BadGzipFile):
            if b"<" in file.peek(1000)[:1000]:
                yield from _xml(file)
            else:
                yield from ((False, line.decode("utf-8-sig", "replace")) for line in file if line.strip())


def _xml(file: BufferedReader) -> Iterator[tuple[bool, str]]:
    locations = _Locations()
    parser = etree.XMLParser(  # type: ignore[call-overload]  # its stubs demand methods that lxml does not
        target=locations, resolve_entities=False, no_network=True, recover=True, huge_tree=False
    )
    with suppress(*_NOT_XML):
        while piece := file.read(PIECE):
            parser.feed(piece.replace(b"&", _AMPERSAND))
            yield from locations.take()
    with suppress(*_NOT_XML):
        parser.close()  # reads what it has put off because of an error
    yield from locations.take()


_NOT_XML = (etree.XMLSyntaxError, UnicodeDecodeError)
"""UnicodeDecodeError: half of a character"""

_AMPERSAND = b"\x7f"
"""stands for each & while the map is parsed: after any error, such as a bare & or an empty line before the declaration,
libxml2 leaves out every &amp;. No address contains it.
"""
_REFERENCE = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-f]{1,6});", re.I)
"""those of XML, no &region of a query"""


_RSS = ["item", "link"]
_ATOM = ["entry", "link"]


class _Locations:
    """What the parser reports to. It makes no tree, whose elements, and whose list of errors, take up to 60 times the
    memory of the text.
    """

    def __init__(self) -> None:
        self._found: list[tuple[bool, str]] = []
        self._open: list[str] = []
        """names of the elements around the present place, the innermost last"""
        self._text: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if len(self._open) == DEPTH:
            raise etree.XMLSyntaxError("nested too deeply", 0, 0, 0)
        self._open.append(tag.rpartition("}")[2])
        self._text.clear()
        if self._open[-2:] == _ATOM and attributes.get("rel", "alternate") == "alternate":
            self._text.append(attributes.get("href", ""))

    def data(self, text: str) -> None:
        if self._open[-1:] == ["loc"] or self._open[-2:] == _RSS:
            self._text.append(text)

    def end(self, _: str) -> None:
        self._open.pop()
        written = "".join(self._text).replace(_AMPERSAND.decode(), "&")
        self._text.clear()
        text = _REFERENCE.sub(lambda reference: unescape(reference[0]), written)
        if text and self._open and len(self._found) < ADDRESSES:
            self._found.append((self._open[-1] == "sitemap", text))

    def close(self) -> None:
        """The parser asks for it, though there is nothing to do."""

    def take(self) -> list[tuple[bool, str]]:
        """What was found since the last call."""
        found, self._found = self._found, []
        return found


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Limited(RawIOBase):
    """The first SIZE bytes of a file: the size of compressed content is not known before it is unpacked."""

    def __init__(self, file: _Readable) -> None:
        self._file = file
        self._left = SIZE

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read(min(len(buffer), self._left))
        self._left -= len(piece)
        buffer[: len(piece)] = piece
        return len(piece)
