"""An HTTP server on 127.0.0.1, at a free port, in threads of this process.

It records each request, shows the faults that a test asks for, and notices immediately when a client leaves. It has no
TLS and no protocol: a subclass defines what its routes answer.
"""

import codecs
import json
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Self

PATIENCE = 60
"""seconds that a test waits for what must come"""


class Fault(Enum):
    """What a broken service does."""

    HANGS = "takes the request and says nothing until the client leaves or the server stops"
    CLOSES = "takes the request and closes the connection without a word"
    CLOSES_MIDWAY = "begins its answer and closes the connection in the middle of it"
    MALFORMED = "answers 200 with JSON that ends too early"


@dataclass(frozen=True)
class Refusal:
    """An answer with an error status. For `fails`, or as the answer to a single request."""

    status: int
    message: str = ""
    retry_after: float | None = None
    """seconds, sent as Retry-After"""
    code: str | None = None
    """the service's own code for it, such as insufficient_quota"""


@dataclass(eq=False)
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    """names in lower case"""
    body: dict
    arrived: float
    """seconds on the clock of `time.monotonic`"""
    disconnected: threading.Event = field(default_factory=threading.Event)
    """set when the client left before it had the whole answer"""
    finished: threading.Event = field(default_factory=threading.Event)
    """set when nothing more will be sent, for any reason"""

    @property
    def text(self) -> str:
        """The request as text, for conditions such as `word in request.text`."""
        return json.dumps(self.body, ensure_ascii=False)


class ClientLeft(Exception):
    """The connection was closed from the other side."""


class Connection:
    """The connection to one client, for its answer."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._handler = handler

    def wait(self, seconds: float | None) -> None:
        """Waits, for ever if None, unless the client leaves."""
        end = None if seconds is None else time.monotonic() + seconds
        while end is None or (left := end - time.monotonic()) > 0:
            readable, _, _ = select.select([self._handler.connection], [], [], end and left)
            if readable:
                self._check_that_client_is_there()
                time.sleep(max(0.0, end - time.monotonic()) if end else 0.01)  # the client sent more, not read yet

    def wait_for(self, event: threading.Event | threading.Semaphore) -> None:
        """Waits, unless the client leaves. Of a semaphore, it takes one."""
        is_there = event.wait if isinstance(event, threading.Event) else partial(event.acquire, True)
        while not is_there(timeout=0.02):
            self._check_that_client_is_there()

    def send_json(
        self,
        status: int,
        body: object,
        *,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
        fault: Fault | None = None,
    ) -> None:
        """Sends a whole response, or one that is broken as `fault` says."""
        payload = json.dumps(body, ensure_ascii=False).encode()
        half = payload[: len(payload) // 2]
        if fault is Fault.MALFORMED:
            payload = half
        self._check_that_client_is_there()
        self._handler.send_response(status)
        self._handler.send_header("Content-Type", content_type)
        self._handler.send_header("Content-Length", str(len(payload)))
        for name, value in (headers or {}).items():
            self._handler.send_header(name, value)
        self._handler.end_headers()
        self._write(half if fault is Fault.CLOSES_MIDWAY else payload)
        if fault is Fault.CLOSES_MIDWAY:
            self.close()

    def start_events(self, *, byte_order_mark: bool = False) -> None:
        self._handler.send_response(HTTPStatus.OK)
        self._handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()
        if byte_order_mark:
            self._write(b"3\r\n%s\r\n" % codecs.BOM_UTF8)

    def send_event(self, data: str) -> None:
        """Sends one server-sent event. A surrogate such as \\udcff in it is sent as the byte ff."""
        self._check_that_client_is_there()
        line = f"data: {data}\n\n".encode(errors="surrogateescape")
        self._write(b"%x\r\n%s\r\n" % (len(line), line))

    def end_events(self) -> None:
        self._write(b"0\r\n\r\n")

    def close(self) -> None:
        self._handler.close_connection = True
        _shut(self._handler.connection)

    def _check_that_client_is_there(self) -> None:
        readable, _, _ = select.select([self._handler.connection], [], [], 0)
        try:
            if readable and not self._handler.connection.recv(1, socket.MSG_PEEK):
                raise ClientLeft
        except ConnectionError as error:
            raise ClientLeft from error

    def _write(self, payload: bytes) -> None:
        try:
            self._handler.wfile.write(payload)
            self._handler.wfile.flush()
        except ConnectionError as error:
            raise ClientLeft from error


@dataclass
class _Trouble:
    what: Fault | Refusal
    left: int | None
    path: str | None


Route = Callable[[Request, Connection, Fault | None], None]


class LoopbackServer:
    """A context manager: it serves from `__enter__` to `__exit__`, which also ends the open requests.

    A subclass fills `routes`: by method and path, a function that gets the request, the connection, and None or the
    fault that its answer must show (CLOSES_MIDWAY or MALFORMED).
    """

    request_type: ClassVar[type[Request]] = Request

    def __init__(self, *, key: str | None = None) -> None:
        """`key`: what a client must send as bearer token; None accepts any."""
        self.key = key
        self.routes: dict[tuple[str, str], Route] = {}
        self._requests: list[Request] = []
        self._troubles: list[_Trouble] = []
        self._open = 0
        self._most_at_once = 0
        self._changed = threading.Condition()
        self._connections: set[socket.socket] = set()
        self._stopped = False
        self._http = _ThreadingServer(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="loopback", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        with self._changed:
            self._stopped = True
            for connection in self._connections:
                _shut(connection)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """All requests so far, in the order of arrival."""
        with self._changed:
            return list(self._requests)

    @property
    def most_at_once(self) -> int:
        """The largest number of requests that were open at the same time."""
        with self._changed:
            return self._most_at_once

    def wait_for_requests(self, count: int, timeout: float = PATIENCE) -> list[Request]:
        """Waits until `count` have arrived; AssertionError after `timeout` seconds."""
        with self._changed:
            arrived = self._changed.wait_for(lambda: len(self._requests) >= count, timeout)
            assert arrived, f"{len(self._requests)} of {count} requests came within {timeout} s"
            return list(self._requests)

    def wait_for_clients_to_leave(self, timeout: float = PATIENCE) -> None:
        """Waits until no connection is open; AssertionError after `timeout` seconds."""
        with self._changed:
            left = self._changed.wait_for(lambda: not self._connections, timeout)
            assert left, f"{len(self._connections)} connections are still open after {timeout} s"

    def fails(self, what: Fault | Refusal, *, times: int | None = None, on: str | None = None) -> None:
        """The next `times` requests (None: all) get a fault; with `on`, only those whose path ends with it."""
        with self._changed:
            self._troubles.append(_Trouble(what, times, on))

    def recovers(self) -> None:
        """Ends all faults."""
        with self._changed:
            self._troubles.clear()

    def refusal_body(self, refusal: Refusal) -> dict:
        """The body of an error response of this service."""
        return {"error": refusal.message or HTTPStatus(refusal.status).phrase}

    def refuse(self, connection: Connection, refusal: Refusal) -> None:
        headers = {} if refusal.retry_after is None else {"Retry-After": f"{refusal.retry_after:g}"}
        connection.send_json(refusal.status, self.refusal_body(refusal), headers=headers)

    def respond(self, request: Request, connection: Connection, trouble: Fault | Refusal | None) -> None:
        """Answers with the route, or shows the fault or refusal `trouble`."""
        route = self.routes.get((request.method, request.path))
        if isinstance(trouble, Refusal):
            self.refuse(connection, trouble)
        elif trouble is Fault.HANGS:
            connection.wait(None)
        elif trouble is Fault.CLOSES:
            connection.close()
        elif self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            self.refuse(connection, Refusal(HTTPStatus.UNAUTHORIZED, "Incorrect API key provided."))
        elif route is None:
            self.refuse(connection, Refusal(HTTPStatus.NOT_FOUND, f"No such address: {request.method} {request.path}"))
        else:
            route(request, connection, trouble)

    def _serve(self, request: Request, connection: Connection) -> None:
        with self._recorded(request):
            try:
                self.respond(request, connection, self._next_trouble(request))
            except ClientLeft:
                if not self._stopped:
                    request.disconnected.set()

    def _next_trouble(self, request: Request) -> Fault | Refusal | None:
        with self._changed:
            for trouble in self._troubles:
                if trouble.left != 0 and request.path.endswith(trouble.path or ""):
                    trouble.left = None if trouble.left is None else trouble.left - 1
                    return trouble.what
        return None

    @contextmanager
    def _connected(self, connection: socket.socket) -> Iterator[None]:
        with self._changed:
            self._connections.add(connection)
        try:
            yield
        finally:
            with self._changed:
                self._connections.discard(connection)
                self._changed.notify_all()

    @contextmanager
    def _recorded(self, request: Request) -> Iterator[None]:
        with self._changed:
            self._requests.append(request)
            self._open += 1
            self._most_at_once = max(self._most_at_once, self._open)
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._open -= 1
            request.finished.set()


class _ThreadingServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client may leave between two requests
            super().handle_error(request, client_address)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # the other side was faster
        connection.shutdown(socket.SHUT_RDWR)


def _handler_of(server: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def handle(self) -> None:
            with server._connected(self.connection):
                super().handle()

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def do_DELETE(self) -> None:
            self._serve()

        def _serve(self) -> None:
            payload = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            request = server.request_type(
                method=self.command,
                path=self.path,
                headers={name.lower(): value for name, value in self.headers.items()},
                body=json.loads(payload) if payload else {},
                arrived=time.monotonic(),
            )
            server._serve(request, Connection(self))

        def log_message(self, format: str, *args: object) -> None:
            """Tests read `requests`; the terminal is for the tests' own output."""

    return Handler
