"""Connections to a Chroma server: every call has a time limit, and calls that are safe to repeat are retried.

All that is asked of Chroma here may be done twice: rows are put by their ids and deleted by them, collections made
unless they are there. So each call is, where the connection breaks or the server stumbles.
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
from index_store.base.service import host_of

CALL = 30.0
"""seconds that a call may take, with all its tries"""

CONNECT = 5.0
"""seconds after which a server counts as away"""

PAUSES = (0.1, 0.4, 1.2)
"""seconds before each further try, of which chance takes some: all who wait would come back at once"""

LIMITS = httpx.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=40)

STANDING_BEFORE = (502, 503, 504)
"""statuses by which a proxy says that the server behind it is away"""

ANSWERS = (404, 409)
"""statuses that Chroma's client reads as answers: there is none, there is one already"""

BUSY = 429
"""status of a server that wants to be asked later"""

log = logging.getLogger(__name__)


class Connections(httpx.Client):
    """`url`: as CHROMA_URL has it. What it has of a password goes into a header, and into no address."""

    def __init__(self, url: str, on_fault: Callable[[], object]) -> None:
        """`on_fault`: is called when a call has failed in the end, unless all do."""
        parts = urlsplit(url)
        self.host = host_of(url)
        self.address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        """without a password"""
        self.refusing: VectorServerError | None = None
        """what each call fails with at once, if not None"""
        self.has_failed = False
        """whether a call has, since this was last set back"""
        self._on_fault = on_fault
        account = (unquote(parts.username or ""), unquote(parts.password or "")) if "@" in parts.netloc else None
        super().__init__(auth=account, limits=LIMITS, headers={"Content-Type": "application/json"})

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
        """A single try. `until`: on the clock of time.monotonic. Raises VectorServerError."""
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
            # Its words may quote the address, which has no password any more.
            raise VectorsAway(host=self.host) from error
        self._check(answer)
        return answer

    def _check(self, answer: httpx.Response) -> None:
        """Raises VectorServerError for what is no answer of Chroma's."""
        if answer.status_code in STANDING_BEFORE:
            raise VectorsAway(host=self.host)
        is_answer = answer.is_success or (answer.status_code in ANSWERS and _is_said_by_chroma(answer))
        if not is_answer or not answer.headers.get("content-type", "").startswith("application/json"):
            log.warning("Chroma at %s answered with status %d: %.300r", self.host, answer.status_code, answer.text)
            raise VectorsFailed(host=self.host, status=answer.status_code)


def _read(streamed: httpx.Response, until: float) -> httpx.Response:
    """All of it: httpx's own timeout is for each piece, of which there may be any number."""
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
