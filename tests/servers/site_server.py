"""A web site on a loopback address, with the pages of a test, in threads of this process.

It can behave as badly as real sites, see `Misbehaviour`. It records requests and their times.
"""

import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class Misbehaviour(Enum):
    HANGS = "takes the request and never answers"
    DRIPS = "sends a byte every tenth of a second, for ever"
    NEVER_ENDS = "sends as much as the client takes, without a length"
    RESETS = "resets the connection without a word"
    BREAKS_OFF = "promises more than it sends"
    SPEAKS_NOISE = "answers with what is not HTTP"
    HEADERS_NEVER_END = "sends one header after the other"


@dataclass(frozen=True)
class Reply:
    body: str | bytes = ""
    status: int = HTTPStatus.OK
    content_type: str | None = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    claimed_length: int | None = None
    """wrong value of Content-Length"""
    delay: float = 0
    """seconds before it is sent"""

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    """names in lower case"""
    at: float
    """seconds on the clock of `time.monotonic`"""


Page = Reply | Misbehaviour | Callable[[Asked], Reply | Misbehaviour]


def html(title: str, *links: str, head: str = "", text: str = "") -> Reply:
    """A page that links to others."""
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return Reply(
        f"<!doctype html><html><head><title>{title}</title>{head}</head>"
        f"<body><h1>{title}</h1><p>{text or title}</p><ul>{anchors}</ul></body></html>"
    )


def moved(to: str, status: int = HTTPStatus.FOUND) -> Reply:
    return Reply(status=status, headers={"Location": to})


def with_etag(reply: Reply) -> Callable[[Asked], Reply]:
    """Answers 304 to clients that already have it."""
    tag = f'"{sha256(reply.content).hexdigest()[:16]}"'

    def page(asked: Asked) -> Reply:
        if asked.headers.get("if-none-match") == tag:
            return Reply(status=HTTPStatus.NOT_MODIFIED, content_type=None, headers={"ETag": tag})
        return Reply(reply.body, reply.status, reply.content_type, {**reply.headers, "ETag": tag})

    return page


class SiteServer:
    """A context manager. `pages`: by path with query. Other paths get `otherwise`, or 404."""

    def __init__(
        self,
        pages: dict[str, Page] | None = None,
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.pages: dict[str, Page] = dict(pages or {})
        self.otherwise: Page = Reply("<p>There is no such page.</p>", HTTPStatus.NOT_FOUND)
        self._scheme = "https" if tls else "http"
        self._asked: list[Asked] = []
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._under_way = 0
        self._most_at_once = 0
        self._is_stopped = threading.Event()
        self._http = _Server((address, port), _handler_of(self))
        if tls:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="site", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # the client was faster
                    connection.shutdown(socket.SHUT_RDWR)

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    def url(self, path: str = "/", host: str | None = None) -> str:
        return f"{self._scheme}://{host or self._http.server_address[0]}:{self.port}{path}"

    @property
    def asked(self) -> list[Asked]:
        with self._lock:
            return list(self._asked)

    @property
    def paths(self) -> list[str]:
        """Requested paths, in order."""
        return [asked.path for asked in self.asked]

    @property
    def open_connections(self) -> int:
        with self._lock:
            return len(self._open)

    @property
    def most_at_once(self) -> int:
        """The largest number of requests that were open at the same time."""
        with self._lock:
            return self._most_at_once

    def wait_for(self, path: str, seconds: float = 60) -> None:
        """Waits until it is requested; AssertionError after `seconds`."""
        end = time.monotonic() + seconds
        while path not in self.paths:
            assert time.monotonic() < end, f"{path} was not asked for within {seconds} s"
            time.sleep(0.01)

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = Asked(handler.path, headers, time.monotonic())
        with self._lock:
            self._asked.append(asked)
            self._under_way += 1
            self._most_at_once = max(self._most_at_once, self._under_way)
        try:
            page = self.pages.get(handler.path, self.otherwise)
            reply = page(asked) if callable(page) else page
            if isinstance(reply, Misbehaviour):
                handler.close_connection = True
                self._misbehave(handler, reply)
            else:
                self._is_stopped.wait(reply.delay)
                _send(handler, reply)
        except (ConnectionError, ssl.SSLError):
            handler.close_connection = True  # the client left
        finally:
            with self._lock:
                self._under_way -= 1

    def _misbehave(self, handler: BaseHTTPRequestHandler, how: Misbehaviour) -> None:
        match how:
            case Misbehaviour.HANGS:
                self._wait_for_the_client_to_leave(handler.connection)
            case Misbehaviour.RESETS:
                # With no time to linger, closing sends a reset instead of a normal end.
                handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                handler.rfile.close()
                handler.wfile.close()
                handler.connection.close()
            case Misbehaviour.BREAKS_OFF:
                handler.wfile.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>Half"
                )
            case Misbehaviour.SPEAKS_NOISE:
                handler.wfile.write(b"\x00\x01SSH-2.0-OpenSSH_9.9\r\n\r\n")
            case Misbehaviour.HEADERS_NEVER_END:
                handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
                while not self._is_stopped.is_set():
                    handler.wfile.write(b"X-More: " + b"x" * 1000 + b"\r\n")
            case Misbehaviour.DRIPS | Misbehaviour.NEVER_ENDS:
                handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
                while not self._is_stopped.wait(0.1 if how is Misbehaviour.DRIPS else 0):
                    handler.wfile.write(b"x" if how is Misbehaviour.DRIPS else b"x" * 65536)

    def _wait_for_the_client_to_leave(self, connection: socket.socket) -> None:
        while not self._is_stopped.is_set():
            readable, _, _ = select.select([connection], [], [], 0.05)
            if readable and not connection.recv(1):
                return

    def _connected(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)

    def _disconnected(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is not reported; other errors appear in the test that misses its answer."""


def _send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    has_content = reply.status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
    handler.send_response(reply.status)
    if reply.content_type is not None:
        handler.send_header("Content-Type", reply.content_type)
    if has_content:
        length = len(reply.content) if reply.claimed_length is None else reply.claimed_length
        handler.send_header("Content-Length", str(length))
    for name, value in reply.headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    if has_content:
        handler.wfile.write(reply.content)
    handler.wfile.flush()


def _handler_of(site: SiteServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            site._connected(self.connection)

        def finish(self) -> None:
            site._disconnected(self.connection)
            with suppress(ValueError, OSError):  # already closed, to reset it
                super().finish()

        def do_GET(self) -> None:
            site._answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Tests read `asked`; the terminal is for the tests' own output."""

    return Handler
