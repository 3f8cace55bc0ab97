"""Whether a browser stays with one of several apps. Streamlit needs this: a page belongs to the app that drew it.

Each app that answers a browser puts its number into a cookie, in front of those that answered before. If a number
appears again after another one, both apps are running and the load balancer alternates between them. If an app dies,
its users change to another app once and stay there.
"""

import logging
import re
import time
from itertools import groupby

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.server.process import replica_number

COOKIE = "answered_by"
KEPT = 60
"""seconds for which it is known who answered last"""
LAST = 3
"""numbers in the cookie: one, another, and the first once more"""
AGAIN = 600
"""seconds between two lines in the log"""

_NUMBERS = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,10}){0,2}")

log = logging.getLogger(__name__)


def is_sent_around(cookie: str | None, number: int) -> bool:
    """Whether several apps answer a browser in turn. `number`: of this app; 0 if there is only one."""
    if not number:
        return False
    answered = _answered(cookie, number)
    return len(answered) > len(set(answered))


def _answered(cookie: str | None, number: int) -> list[str]:
    """Numbers of the apps that answered a browser, the last one first; the same one twice in a row counts once."""
    before = cookie.split(".") if cookie and _NUMBERS.fullmatch(cookie) else []
    return [each for each, _ in groupby([str(number), *before])]


class Sticky:
    """ASGI middleware, behind the gate: writes the cookie, and a line in the log if sessions are not sticky."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._told = -float(AGAIN)
        """when, by the monotonic clock"""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        number = replica_number() if scope["type"] == "http" else 0
        if not number:
            await self._app(scope, receive, send)
            return
        cookie = HTTPConnection(scope).cookies.get(COOKIE)
        answered = ".".join(_answered(cookie, number)[:LAST])
        if is_sent_around(cookie, number):
            self._tell()

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = f"{COOKIE}={answered}; Max-Age={KEPT}; Path=/; HttpOnly; SameSite=Lax"
                MutableHeaders(scope=message).append("Set-Cookie", kept)
            await send(message)

        # Files that caches may keep get no cookie, unless the browser has come from another app.
        is_known = cookie == answered or (not cookie and scope["path"].startswith("/static/"))
        await self._app(scope, receive, send if is_known else send_with_cookie)

    def _tell(self) -> None:
        if time.monotonic() - self._told >= AGAIN:
            self._told = time.monotonic()
            log.warning(
                "A browser is sent to several apps in turn, so uploads fail and pages start again. The load balancer "
                "must keep each browser on one app, with a cookie: docs/growing.md, Sticky sessions"
            )
