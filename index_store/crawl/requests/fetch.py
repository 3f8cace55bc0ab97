"""Fetches one address to a file on disk, within limits of time and size.

Nothing that a server says is trusted: not its length, not its encoding, not its speed. A redirect is an answer like any
other here; the caller decides whether to follow it.
"""

import asyncio
import hashlib
import logging
import ssl
import uuid
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Self

import ada_url
import httpcore2
import httpx2

from index_store.base.errors.causes import causes
from index_store.base.settings.settings import MEGABYTE
from index_store.crawl.address import host_of
from index_store.crawl.errors import PageBroken, PagePacked, PageTimedOut, PageTooLarge, SiteUnreachable, SiteUntrusted
from index_store.crawl.requests.guard import GuardedConnections

log = logging.getLogger(__name__)
# It logs whole headers at DEBUG: cookies, and redirects to addresses with passwords.
logging.getLogger("httpcore2").setLevel(logging.INFO)

USER_AGENT = "glassbox-rag/0.1 (document crawler)"
SLOWEST = 64 * 1024
"""bytes per second that a long content must reach after its page's time is used up"""
DRAINED = 64 * 1024
"""bytes that are read of an answer without content (a redirect, an error), so that its connection can be used again"""

CONTENT = (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION)
"""statuses of an answer with its content; the second is from a proxy that has changed it"""

PIECE = 64 * 1024
"""bytes"""

_GZIP = b"\x1f\x8b"
_ANY = 32 + zlib.MAX_WBITS  # accepts a gzip or a zlib header
_RAW = -zlib.MAX_WBITS  # some servers call this deflate
_NOT_REQUESTED = ("br", "zstd", "compress", "x-compress", "dcb", "dcz")
"""encodings of the registry of IANA that are not requested and not decoded"""


@dataclass(frozen=True)
class Body:
    path: Path
    size: int
    """bytes"""
    digest: str


@dataclass(frozen=True)
class FetchResponse:
    url: str
    status: int
    headers: httpx2.Headers
    body: Body | None
    """None unless the status is one of CONTENT and the content was wanted"""


def everything(headers: httpx2.Headers) -> bool:
    return True


class Fetcher:
    """An async context manager. It creates files in `folder`; `files` are those that nobody has taken yet."""

    def __init__(self, connections: GuardedConnections, folder: Path, *, at_once: int, seconds: float) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=httpcore2.default_ssl_context(),
            max_connections=at_once,
            keepalive_expiry=15.0,
            network_backend=connections,
        )
        self._folder = folder
        self._seconds = seconds
        self.files: set[Path] = set()

    async def __aenter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.aclose()

    async def get(
        self,
        url: str,
        *,
        limit: int,
        cuts: bool = False,
        headers: Mapping[str, str] | None = None,
        wants: Callable[[httpx2.Headers], bool] = everything,
    ) -> FetchResponse:
        """`limit`: bytes of content. `cuts`: of a longer content, the beginning is kept; no PageTooLarge.
        `headers`: what is sent beside its own. `wants` is called with the headers before the content is read.

        Raises AddressInside, PortRefused, HostUnknown, SiteUnreachable, SiteUntrusted, PageTimedOut, PageBroken,
        PagePacked, PageTooLarge; OSError if the folder can't be written to.
        """
        sent = {
            "Host": host_of(url),
            "User-Agent": USER_AGENT,
            "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
            "Accept-Encoding": "gzip, deflate",
            **(headers or {}),
        }
        begun = asyncio.get_running_loop().time()
        with _said_plainly(url, self._seconds):
            async with (
                asyncio.timeout_at(begun + self._seconds) as time_limit,
                self._pool.stream("GET", _httpcore_url(url), headers=list(sent.items())) as response,
            ):
                answer = FetchResponse(url, response.status, httpx2.Headers(response.headers), None)
                log.debug("%s %s", response.status, url)
                async with aclosing(_pieces(response)) as pieces:
                    if answer.status not in CONTENT:
                        await _drain(pieces)
                        return answer
                    if not wants(answer.headers):
                        return answer
                    keeping = _Keeping(self, url, limit, answer.headers, cuts=cuts)
                    with keeping:
                        async for piece in pieces:
                            keeping.add(piece)
                            if keeping.is_cut:
                                break
                            time_limit.reschedule(begun + self._seconds + keeping.received / SLOWEST)
                        return FetchResponse(url, answer.status, answer.headers, keeping.finish())

    def new_file(self) -> Path:
        path = self._folder / uuid.uuid4().hex
        self.files.add(path)
        return path

    def discard(self, body: Body | None) -> None:
        if body and body.path in self.files:
            body.path.unlink(missing_ok=True)
            self.files.discard(body.path)


class _Keeping:
    """Writes a content to disk. Deletes the file unless the content was complete, or was to be cut."""

    def __init__(self, fetcher: Fetcher, url: str, limit: int, headers: httpx2.Headers, *, cuts: bool) -> None:
        self._fetcher = fetcher
        self._url = url
        self._limit = limit
        self._cuts = cuts
        self.is_cut = False
        """whether there is more than is kept"""
        named = [name.strip().lower() for name in headers.get("content-encoding", "").split(",")]
        encodings = [name for name in named if name in _Inflater.ENCODINGS or name in _NOT_REQUESTED]
        if not_requested := [name for name in encodings if name in _NOT_REQUESTED]:
            raise PagePacked(url=url, encoding=not_requested[0])
        if len(encodings) > 1:
            raise PageBroken(url=url)
        # Any other name (utf-8, none, binary) means no encoding, as in browsers.
        self._inflater = _Inflater() if encodings else None
        claimed = headers.get("content-length", "")
        if claimed.isdecimal() and int(claimed) > limit and not cuts:
            raise self._too_large()
        self._sha256 = hashlib.sha256()
        self._size = 0
        self.received = 0
        """bytes, before decoding"""

    def __enter__(self) -> None:
        self._path = self._fetcher.new_file()
        self._file = self._path.open("wb")
        self._is_whole = False

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if not self._is_whole:
            self._path.unlink(missing_ok=True)
            self._fetcher.files.discard(self._path)

    def add(self, data: bytes) -> None:
        self.received += len(data)
        for piece in self._inflater.feed(data) if self._inflater else (data,):
            self._write(piece)
            if self.is_cut:
                return

    def finish(self) -> Body:
        for piece in self._inflater.finish() if self._inflater and not self.is_cut else ():
            self._write(piece)
        self._is_whole = True
        return Body(self._path, self._size, self._sha256.hexdigest())

    def _write(self, piece: bytes) -> None:
        if self._size + len(piece) > self._limit:
            if not self._cuts:
                raise self._too_large()
            self.is_cut = True
            piece = piece[: self._limit - self._size]
        self._size += len(piece)
        self._sha256.update(piece)
        self._file.write(piece)

    def _too_large(self) -> PageTooLarge:
        return PageTooLarge(url=self._url, limit=self._limit / MEGABYTE)


def has_broken_off(error: PageBroken) -> bool:
    """Whether the connection failed, and not the content: another try may succeed."""
    return isinstance(error.__cause__, (httpcore2.NetworkError, httpcore2.ProtocolError))


def _httpcore_url(url: str) -> httpcore2.URL:
    """Taken apart here, because httpcore leaves out what follows a semicolon in the last segment of a path."""
    parsed = ada_url.URL(url)
    return httpcore2.URL(
        scheme=parsed.protocol.removesuffix(":"),
        host=parsed.hostname.strip("[]"),
        port=int(parsed.port) if parsed.port else None,
        target=parsed.pathname + parsed.search,
    )


async def _pieces(response: httpcore2.Response) -> AsyncGenerator[bytes, None]:
    async for piece in response.aiter_stream():
        yield piece


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    size = 0
    async for piece in pieces:
        size += len(piece)
        if size > DRAINED:
            return


@contextmanager
def _said_plainly(url: str, seconds: float) -> Iterator[None]:
    try:
        yield
    except (TimeoutError, httpcore2.TimeoutException) as error:
        raise PageTimedOut(url=url, seconds=seconds) from error
    except httpcore2.ConnectError as error:
        if any(isinstance(each, ssl.SSLError) for each in causes(error)):
            raise SiteUntrusted(host=host_of(url)) from error
        raise SiteUnreachable(host=host_of(url)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, _Broken) as error:
        raise PageBroken(url=url) from error


# Compressed content


class _Broken(Exception):
    """The content is incomplete, or not encoded as its server says."""


class _Inflater:
    """Decodes a Content-Encoding piece by piece, so that a small bomb never fills the memory.

    Only gzip and deflate: the fetcher accepts nothing else.
    """

    ENCODINGS = ("gzip", "x-gzip", "deflate")

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(_ANY)
        self._has_begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Pieces of at most PIECE bytes. Raises _Broken."""
        while data:
            if self._inflate.eof:
                if data[:1] != _GZIP[:1]:
                    return  # padding
                self._inflate = zlib.decompressobj(_ANY)  # a gzip file may have several parts
            piece = self._next(data)
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            if piece:
                yield piece

    def finish(self) -> Iterator[bytes]:
        """The rest. Raises _Broken if the content ends too early."""
        while piece := self._inflate.decompress(self._inflate.unconsumed_tail, PIECE):
            yield piece
        if self._has_begun and not self._inflate.eof:
            raise _Broken

    def _next(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, PIECE)
        except zlib.error as error:
            if self._has_begun:
                raise _Broken from error
            self._inflate = zlib.decompressobj(_RAW)
            self._has_begun = True
            return self._next(data)
        self._has_begun = True
        return piece
