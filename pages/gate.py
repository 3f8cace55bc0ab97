"""Who may speak with the app: a browser that opened it by one of its names, and no page but its own.

There is no sign-in, and a server on this machine alone is still within reach of every page that is open in a browser
here. What a browser can't be made to say falsely is `Host`, by which name it came, and `Origin`, whose page asks. So
this stands before Streamlit and all routes, and refuses a name that someone else has pointed here (DNS rebinding) and
the pages of others. Why it is so, with what Streamlit itself does: docs/decisions/hosts-and-origins.md
"""

import logging
import re
from collections.abc import Set

from ada_url import URL
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from index_store.base.errors import PlainError
from pages.texts import preferred_language

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""names that lead nowhere but to the machine on which they are said"""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",  # frame-ancestors for what does not know that
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""of every answer that has none of its own"""

POLICY = (
    "default-src 'self' 'unsafe-inline' data: blob:; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'self'"
)
"""beside the policy that an answer may have: a browser keeps both. Nothing is loaded from or sent to anywhere else,
whatever a text on the page might be read as. Streamlit's page has scripts and styles of its own in it."""

log = logging.getLogger(__name__)


class Refused(PlainError):
    pass


class UnreadableHost(Refused):
    en = "This request does not say by which name it came. Open the app by its address, such as http://localhost:8501."
    ja = "どの名前への要求か読み取れません。http://localhost:8501 のようなアドレスでアプリを開いてください。"


class ForeignHost(Refused):
    en = "“{name}” is not a name of this app. If it should be, add it to ALLOWED_HOSTS in .env and restart the app."
    ja = (
        "「{name}」はこのアプリの名前として登録されていません。使う場合は .env の ALLOWED_HOSTS に加え、"
        "アプリを再起動してください。"
    )


class ForeignOrigin(Refused):
    en = (
        "A page of “{name}” asked for this, and only the app's own pages may. If that is a name of this app, add it to "
        "ALLOWED_HOSTS in .env and restart the app."
    )
    ja = (
        "「{name}」のページからの要求は受け付けません。このアプリの名前であれば .env の ALLOWED_HOSTS に加え、"
        "アプリを再起動してください。"
    )


def host_name(written: str) -> str | None:
    """What ALLOWED_HOSTS may hold, as `Host` has it: a name or an IP address without a port. None: it is neither."""
    url = _read("http:", written)
    return None if url is None or "*" in written or re.search(r":\d*$", written) else _name(url)


class Gate:
    def __init__(self, app: ASGIApp, names: Set[str] = frozenset()) -> None:
        """`names`: of the app beside LOOPBACK, each as `host_name` returns it."""
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.append("Content-Security-Policy", POLICY)
            await send(message)

        try:
            admitted = self._admitted(scope)
        except Refused as refusal:
            log.warning("Refused %s %.200r: %s", scope["type"], scope["path"], refusal)
            await _refuse(refusal, scope, receive, send_with_headers)
        else:
            await self._app(admitted, receive, send_with_headers)

    def _admitted(self, scope: Scope) -> Scope:
        """Raises Refused."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        host = _read("http:", hosts[0]) if len(hosts) == 1 else None
        if host is None:
            raise UnreadableHost
        if _name(host) not in LOOPBACK | self._names:
            raise ForeignHost(name=_name(host))
        if not origins:  # no browser, or one that shows a page of the app, or follows a link to it
            return scope
        scheme, _, authority = origins[0].partition("//")
        origin = _read(scheme, authority) if len(origins) == 1 and scheme in ("http:", "https:") else None
        if origin is None:
            raise ForeignOrigin(name="null")
        # On this machine ports belong to different people and programs; to a name that was set, a proxy may add one.
        if _name(origin) not in self._names and not _is_same(origin, hosts[0]):
            raise ForeignOrigin(name=_name(origin))
        return _by_the_name_of_its_origin(scope, authority) if scope["type"] == "websocket" else scope


def _read(scheme: str, authority: str) -> URL | None:
    """As browsers read it. None where it is no name or IP address with or without a port."""
    if not re.fullmatch(r"[^\s/\\?#@]+", authority):
        return None
    try:
        return URL(f"{scheme}//{authority}")
    except (ValueError, UnicodeEncodeError):
        return None


def _name(url: URL) -> str:
    return url.hostname.removesuffix(".")


def _is_same(origin: URL, host: str) -> bool:
    """Name and port; no port is that of the origin's scheme."""
    same = _read(origin.protocol, host)
    return same is not None and (_name(same), same.port) == (_name(origin), origin.port)


def _by_the_name_of_its_origin(scope: Scope, authority: str) -> Scope:
    """With `Host` as the browser has it, where a proxy has written another: to an `Origin` that differs from `Host`
    Streamlit would compare its own addresses, and ask one of them of a server outside, while everything waits.
    """
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [(b"host", authority.encode("latin-1")), *headers]}


async def _refuse(refusal: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})  # a server of this kind says 403 by itself
        return
    language = preferred_language(Headers(scope=scope))
    await PlainTextResponse(f"{refusal.sentence(language)}\n", 403)(scope, receive, send)
