"""Connections to a Chroma server: every call has a time limit, and failed calls are retried.

Every call that this app makes may be repeated: rows are put and deleted by id, and collections are made only if they
don't exist. So each call is retried when the connection breaks or the server fails.
"""

import json
import logging
import math
import random
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx

from index_store.base.errors import VectorsAway, VectorServerError, VectorsFailed
from index_store.base.services.service_address import host_of

CALL = 30.0
"""seconds that a call may take, including its retries"""

CONNECT = 5.0
"""seconds after which a server counts as away"""

PAUSES = (0.1, 0.4, 1.2)
"""seconds before each retry; up to half is added or subtracted, so that not all callers come back at once"""

LIMITS = httpx.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=40)

STANDING_BEFORE = (502, 503, 504)
"""statuses with which a proxy says that the server behind it is away"""

ANSWERS = (404, 409)
"""statuses that Chroma's client reads as answers: not found, already there"""

BUSY = 429
"""status of a server that asks to try again later"""

log = logging.getLogger(__name__)


class Connections(httpx.Client):
    """`url`: the value of CHROMA_URL. Its password goes into a header and never into an address."""

    def __init__(self, url: str, on_fault: Callable[[], object]) -> None:
        """`on_fault`: called when a call has failed after all retries, unless all calls are being refused."""
        parts = urlsplit(url)
        self.host = host_of(url)
        self.address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        """without a password"""
        self.refusing: VectorServerError | None = None
        """if not None, each call fails at once with this error"""
        self.has_failed = False
        """whether a call has failed since this was last reset"""
        self._on_fault = on_fault
        account = (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None
        # With its own transport, the client uses no proxy of the environment: that would get the password, and can't
        # reach this machine's loopback address. Certificates of the environment are still used.
        transport = httpx.HTTPTransport(limits=LIMITS)
        super().__init__(auth=account, transport=transport, headers={"Content-Type": "application/json"})

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Raises VectorServerError."""
        until = time.monotonic() + CALL
        pauses = iter((*PAUSES, math.inf))
        while True:
            if refusing := self.refusing:
                self.has_failed = True
                raise type(refusing)(**refusing.details)
            try:
                return self.once(request, until, **options)
            except VectorServerError as error:
                again = not isinstance(error, VectorsFailed) or error.status >= 500 or error.status == BUSY
                pause = next(pauses) * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
                if not again or time.monotonic() + pause > until:
                    self._fail(error)
                    raise
                log.info("Next try in %.1f s: %s", pause, error)
            time.sleep(pause)

    def _fail(self, error: VectorServerError) -> None:
        log.warning("%s", error)
        self.has_failed = True
        self._on_fault()

    def once(self, request: httpx.Request, until: float, **options: Any) -> httpx.Response:
        """One try. `until`: a time of time.monotonic. Raises VectorServerError."""
        left = max(until - time.monotonic(), 0.01)
        timeout = httpx.Timeout(left, connect=min(left, CONNECT))
        request.extensions = {**request.extensions, "timeout": timeout.as_dict()}
        try:
            streamed = super().send(request, **{**options, "stream": True})
            try:
                answer = _read(streamed, until)
            finally:
                streamed.close()
        except httpx.RequestError as error:
            # The error may quote the address, which has no password any more.
            raise VectorsAway(host=self.host) from error
        self._check(answer)
        return answer

    def _check(self, answer: httpx.Response) -> None:
        """Raises VectorServerError if this is not an answer of Chroma."""
        if answer.status_code in STANDING_BEFORE:
            raise VectorsAway(host=self.host)
        is_answer = answer.is_success or (answer.status_code in ANSWERS and _is_said_by_chroma(answer))
        if not is_answer or not answer.headers.get("content-type", "").startswith("application/json"):
            log.warning("Chroma at %s answered with status %d: %.300r", self.host, answer.status_code, answer.text)
            raise VectorsFailed(host=self.host, status=answer.status_code)


def _read(streamed: httpx.Response, until: float) -> httpx.Response:
    """Reads the whole answer. httpx's own timeout is per piece, and the number of pieces has no limit."""
    pieces = []
    for piece in streamed.iter_raw():
        pieces.append(piece)
        if time.monotonic() > until:
            raise httpx.ReadTimeout("The answer has not ended in time", request=streamed.request)
    return httpx.Response(
        streamed.status_code, headers=streamed.headers, content=b"".join(pieces), request=streamed.request
    )


def _is_said_by_chroma(answer: httpx.Response) -> bool:
    try:
        said = json.loads(answer.content)
    except ValueError:
        return False
    return isinstance(said, dict) and {"error", "message"} <= said.keys()
