"""Checks requests: the right host name and origin, so that no page of another site can use the app.

Even if a server listens only on this machine, every page that is open in a browser here can reach it; with sign-in,
such a page could send requests in the person's name. But a page can't make the browser forge `Host` (the requested
host name) or `Origin` (the page that sends the request). So the gate comes before Streamlit and all routes. It refuses
foreign names that point to this machine (DNS rebinding) and pages of other sites. The reasons, and what Streamlit
itself does: docs/decisions/pages/hosts-and-origins.md
"""

import logging
import re
from collections.abc import Iterable, Set

from ada_url import URL
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from index_store.base.errors import PlainError
from index_store.base.settings.settings import NO_COMMAS
from pages.server.requests.browser_rules import content_policy, tell_browser
from pages.server.requests.proxies import is_within, read_networks
from pages.server.requests.refusal import Refused, refuse

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""names that always mean the machine itself"""
LOOPBACK_NETWORKS = read_networks("127.0.0.0/8,::1")

SHUT = re.compile(
    r"/(?:_stcore/(?!(?:health|host-config|stream|upload_file/[^/]+/[^/]+)\Z)|component/|auth/|oauth2callback\Z)"
)
"""routes of Streamlit that no page needs: metrics, the API for agents, components and sign-in. Under /_stcore/ the
needed paths are listed, so that new paths of later versions are closed too"""
SIGN_IN = re.compile(r"/(?:auth/login|auth/logout|oauth2callback)\Z")
"""routes that are open if people sign in with a provider"""

log = logging.getLogger(__name__)


class Shut(Refused):
    status = 404
    en = "There is nothing at this address. Open the app at /."
    ja = "このアドレスには何もありません。アプリは / で開けます。"


class UnreadableHost(Refused):
    en = "This request has no valid host name. Open the app at its address, such as http://localhost:8501."
    ja = "要求に正しいホスト名がありません。http://localhost:8501 のようなアドレスでアプリを開いてください。"


class ForeignHost(Refused):
    en = "“{name}” is not a host name of this app. To allow it, add it to ALLOWED_HOSTS in .env and restart the app."
    ja = (
        "「{name}」はこのアプリのホスト名として登録されていません。使う場合は .env の ALLOWED_HOSTS に加え、"
        "アプリを再起動してください。"
    )


class ForeignOrigin(Refused):
    en = (
        "This request came from a page of “{name}”, but only the app's own pages may send requests. If “{name}” is a "
        "host name of this app, add it to ALLOWED_HOSTS in .env and restart the app."
    )
    ja = (
        "「{name}」のページからの要求は受け付けません。このアプリのホスト名であれば .env の ALLOWED_HOSTS に加え、"
        "アプリを再起動してください。"
    )


class NotForOthers(Refused):
    en = (
        "This app has no sign-in, so everyone who reaches it can read, change and delete everything. Therefore it "
        "listens only on this machine, and not on {address}. Turn on sign-in (AUTH in .env), or set "
        "ALLOW_ANONYMOUS=true to open it to everybody there. Then restart the app."
    )
    ja = (
        "このアプリにはサインインがないため、接続できる人は誰でもすべてを閲覧・変更・削除できます。そのため "
        "{address} では待ち受けず、この PC からだけ使えます。.env の AUTH でサインインを有効にするか、接続できる全員に"
        "公開してよい場合は ALLOW_ANONYMOUS=true と書き、アプリを再起動してください。"
    )


class BelowTheRoot(PlainError):
    en = (
        "This app works only at the root of a host name: below a path, it would not ask for a sign-in everywhere. "
        "Remove baseUrlPath (.streamlit/config.toml, STREAMLIT_SERVER_BASE_URL_PATH or --server.baseUrlPath), and give "
        "the app a host name of its own."
    )
    ja = (
        "このアプリは、ホスト名の直下(/)でだけ使えます。その下のパスに置くと、サインインを求めない箇所ができるため"
        "です。baseUrlPath の設定(.streamlit/config.toml、STREAMLIT_SERVER_BASE_URL_PATH または "
        "--server.baseUrlPath)を消し、アプリ専用のホスト名を使ってください。"
    )


def refuse_others(address: str | None) -> None:
    """Raises NotForOthers unless `address` is reachable only from its own machine. None means all addresses."""
    if not address or not _is_loopback(address):
        raise NotForOthers(address=address or "0.0.0.0")  # noqa: S104 - it is named, not listened on


def host_name(written: str) -> str | None:
    """An entry of ALLOWED_HOSTS as it appears in `Host`: a name or IP address without a port. None if it is neither."""
    url = _read("http:", written)
    is_other = "*" in written or NO_COMMAS & set(written) or re.search(r":\d*$|[\"']", written)
    return None if url is None or is_other else _name(url)


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
        """`names`: host names of the app besides LOOPBACK, as `host_name` returns them. `scripts`: for
        `content_policy`. `for_others`: whether connections to other addresses than loopback are accepted. `signs_in`:
        whether people sign in with a provider.
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
        if not self._for_others and scope.get("server"):  # the real address of the connection
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
        if not origins:  # not a browser, or it loads a page of the app or follows a link to it
            return scope
        scheme, _, authority = origins[0].partition("//")
        origin = _read(scheme, authority) if len(origins) == 1 and scheme in ("http:", "https:") else None
        if origin is None:
            raise ForeignOrigin(name="null")
        # On this machine, other ports are other programs. For a name in the settings, a proxy may change the port.
        is_named = _name(origin) in self._names
        # Behind TLS, a page without TLS is not ours: anybody on the network may have written it.
        if not (is_named or _is_same(origin, hosts[0])) or (_is_tls(scope) and origin.protocol != "https:"):
            raise ForeignOrigin(name=_name(origin))
        return _by_the_name_of_its_origin(scope, authority) if scope["type"] == "websocket" else scope


def _read(scheme: str, authority: str) -> URL | None:
    """Parsed as in browsers. None unless it is a name or IP address, with or without a port."""
    if not re.fullmatch(r"[^\s/\\?#@]+", authority):
        return None
    try:
        return URL(f"{scheme}//{authority}")
    except (ValueError, UnicodeEncodeError):
        return None


def _name(url: URL) -> str:
    return url.hostname.removesuffix(".")


def _is_same(origin: URL, host: str) -> bool:
    """Compares name and port. Without a port, it is the one of the origin's scheme."""
    same = _read(origin.protocol, host)
    return same is not None and (_name(same), same.port) == (_name(origin), origin.port)


def _by_the_name_of_its_origin(scope: Scope, authority: str) -> Scope:
    """Sets `Host` to the browser's, in case a proxy has rewritten it. If `Origin` and `Host` differ, Streamlit would
    compare its own addresses and ask an outside server for one of them, while everything waits.
    """
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [(b"host", authority.encode("latin-1")), *headers]}


def _is_tls(scope: Scope) -> bool:
    return scope["scheme"] in ("https", "wss")


def _is_loopback(address: str) -> bool:
    return address == "localhost" or is_within(address, LOOPBACK_NETWORKS)
