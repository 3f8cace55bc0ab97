"""Checks requests: the right host name and origin, so that no page of another site can use the app.

A server on this machine alone, where nobody signs in, is still within reach of every page that is open in a browser
here; and where people sign in, such a page asks in their name. What a browser can't be made to say falsely is `Host`,
by which name it came, and `Origin`, whose page asks. So this stands before Streamlit and all routes, and refuses a name
that someone else has pointed here (DNS rebinding) and the pages of others. Why it is so, with what Streamlit itself
does: docs/decisions/hosts-and-origins.md
"""

import logging
import re
from collections.abc import Iterable, Set

from ada_url import URL
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.server.browser_rules import content_policy, tell_browser
from pages.server.proxies import is_within, read_networks
from pages.server.refusal import Refused, refuse

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""names that lead nowhere but to the machine on which they are said"""
LOOPBACK_NETWORKS = read_networks("127.0.0.0/8,::1")

SHUT = re.compile(
    r"/(?:_stcore/(?!(?:health|host-config|stream|upload_file/[^/]+/[^/]+)\Z)|component/|auth/|oauth2callback\Z)"
)
"""what Streamlit serves and no page of ours needs: metrics, the API for agents, components and signing in. Of its own
paths those that are needed are named: what a later version adds is shut too."""
SIGN_IN = re.compile(r"/(?:auth/login|auth/logout|oauth2callback)\Z")
"""what is open all the same where people sign in with a provider"""

log = logging.getLogger(__name__)


class Shut(Refused):
    status = 404
    en = "There is nothing at this address. Open the app at /."
    ja = "このアドレスには何もありません。アプリは / で開けます。"


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


class NotForOthers(Refused):
    en = (
        "Nobody signs in to this app, and whoever reaches it may read, change and delete everything, so it does not "
        "listen on {address}, only on this machine. Let people sign in (AUTH in .env), or, if it is meant to be open "
        "to everybody there, set ALLOW_ANONYMOUS=true; then restart the app."
    )
    ja = (
        "サインインなしで動いているため、アプリに届く人は誰でもすべてを閲覧・変更・削除できます。そのため "
        "{address} では待ち受けず、この PC からだけ使えます。.env の AUTH でサインインを有効にするか、そこに届く全員に"
        "公開してよい場合は ALLOW_ANONYMOUS=true と書き、アプリを再起動してください。"
    )


def refuse_others(address: str | None) -> None:
    """Raises NotForOthers unless a server of this address is reached from its own machine alone. None: of all."""
    if not address or not _is_loopback(address):
        raise NotForOthers(address=address or "0.0.0.0")  # noqa: S104 - it is named, not listened on


def host_name(written: str) -> str | None:
    """What ALLOWED_HOSTS may hold, as `Host` has it: a name or an IP address without a port. None: it is neither."""
    url = _read("http:", written)
    return None if url is None or "*" in written or re.search(r":\d*$", written) else _name(url)


class RequestGate:
    def __init__(
        self,
        app: ASGIApp,
        names: Set[str] = frozenset(),
        scripts: Iterable[str] = (),
        *,
        for_others: bool = False,
        signs_in: bool = False,
    ) -> None:
        """`names`: of the app beside LOOPBACK, each as `host_name` returns it. `scripts`: for `content_policy`.
        `for_others`: whether connections that did not come to an address of loopback are let in. `signs_in`: whether
        people sign in with a provider.
        """
        self._app = app
        self._names = names
        self._policy = content_policy(scripts)
        self._for_others = for_others
        self._signs_in = signs_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                tell_browser(MutableHeaders(scope=message), self._policy, is_tls=_is_tls(scope))
            await send(message)

        try:
            admitted = self._admitted(scope)
        except Refused as refusal:
            log.warning("Refused %s %.200r: %s", scope["type"], scope["path"], refusal)
            await refuse(refusal, scope, receive, send_with_headers, refusal.status)
        else:
            await self._app(admitted, receive, send_with_headers)

    def _admitted(self, scope: Scope) -> Scope:
        """Raises Refused."""
        if not self._for_others and scope.get("server"):  # where it listens, whatever it was told to
            refuse_others(scope["server"][0])
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        host = _read("http:", hosts[0]) if len(hosts) == 1 else None
        if host is None:
            raise UnreadableHost
        if _name(host) not in LOOPBACK | self._names:
            raise ForeignHost(name=_name(host))
        if SHUT.search(scope["path"]) and not (self._signs_in and SIGN_IN.match(scope["path"])):
            raise Shut
        if not origins:  # no browser, or one that shows a page of the app, or follows a link to it
            return scope
        scheme, _, authority = origins[0].partition("//")
        origin = _read(scheme, authority) if len(origins) == 1 and scheme in ("http:", "https:") else None
        if origin is None:
            raise ForeignOrigin(name="null")
        # On this machine ports belong to different people and programs; to a name that was set, a proxy may add one.
        is_named = _name(origin) in self._names
        # To TLS a page without it is someone else's: whoever is on the way may have written it.
        if not (is_named or _is_same(origin, hosts[0])) or (_is_tls(scope) and origin.protocol != "https:"):
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


def _is_tls(scope: Scope) -> bool:
    return scope["scheme"] in ("https", "wss")


def _is_loopback(address: str) -> bool:
    return address == "localhost" or is_within(address, LOOPBACK_NETWORKS)
