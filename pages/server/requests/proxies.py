"""Trusted reverse proxies, and which of their headers the app accepts.

Anybody can send `X-Forwarded-…`. From a trusted proxy, the last value counts, because the proxy wrote it. From other
peers these headers are removed, so that no later code can be deceived by them. If another peer sends a header that says
who is signed in, the request is refused. uvicorn also reads these headers, and would let every program on this machine
claim any address, so `forwarded_allow_ips` must be empty.
"""

import logging
from collections.abc import Iterable, Sequence, Set
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from index_store.base.errors import PlainError
from pages.server.requests.refusal import Refused, refuse

Network = IPv4Network | IPv6Network

SCHEMES = {"http": {"http": "http", "https": "https"}, "websocket": {"http": "ws", "https": "wss"}}
"""by kind of connection: the name in the header -> the name in ASGI"""


class OtherProxies(PlainError):
    en = (
        "uvicorn, the web server of the app, trusts proxies by its own setting, so TRUSTED_PROXIES would have no "
        "effect. Start the app with `make run`, or with the environment variable FORWARDED_ALLOW_IPS set to nothing."
    )
    ja = (
        "アプリの Web サーバー(uvicorn)が別の設定でプロキシを信用するため、TRUSTED_PROXIES が効きません。`make run` で"
        "起動するか、環境変数 FORWARDED_ALLOW_IPS を空に設定して起動してください。"
    )


class NotOfAProxy(Refused):
    en = "This request says who you are, but only the proxy may do that. Open the app at the proxy's address."
    ja = (
        "利用者を名乗る要求は、アプリの前にあるプロキシからだけ受け付けます。プロキシのアドレスでアプリを開いて"
        "ください。"
    )


log = logging.getLogger(__name__)


def read_networks(written: str) -> tuple[Network, ...]:
    """`written`: addresses and networks (CIDR) separated by commas. Raises ValueError, also for all addresses."""
    networks = tuple(ip_network(part.strip()) for part in written.split(",") if part.strip())
    if any(network.prefixlen == 0 for network in networks):
        raise ValueError("every address would be a proxy")
    return networks


def is_within(address: str, networks: Iterable[Network]) -> bool:
    """`address`: of a peer, from ASGI. A text that is no IP address is in no network."""
    try:
        peer = ip_address(address)
    except ValueError:
        return False
    if isinstance(peer, IPv6Address) and peer.ipv4_mapped:  # a socket that listens on both
        peer = peer.ipv4_mapped
    return any(peer in network for network in networks)


class Proxies:
    """The first ASGI middleware: gives each request the scheme and `Host` that its browser used."""

    def __init__(self, app: ASGIApp, networks: Sequence[Network] = (), identity: Set[str] = frozenset()) -> None:
        """`identity`: headers in which a proxy says who the person is, in lower case."""
        self._app = app
        self._networks = networks
        self._identity = frozenset(name.encode() for name in identity)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in SCHEMES:
            await self._app(scope, receive, send)
            return
        try:
            seen = self._as_the_browser_has_it(scope)
        except NotOfAProxy as refusal:
            log.warning("Refused %s %.200r of %.100s: %s", scope["type"], scope["path"], scope.get("client"), refusal)
            await refuse(refusal, scope, receive, send, refusal.status)
        else:
            await self._app(seen, receive, send)

    def _as_the_browser_has_it(self, scope: Scope) -> Scope:
        """Raises NotOfAProxy."""
        told = Headers(scope=scope)
        headers = [each for each in scope["headers"] if not _is_forwarded(each[0]) or each[0] in self._identity]
        if not scope.get("client") or not is_within(scope["client"][0], self._networks):
            if any(name in self._identity for name, _ in headers):
                raise NotOfAProxy
            return {**scope, "headers": headers}
        scheme = SCHEMES[scope["type"]].get(_last(told, "x-forwarded-proto").lower(), scope["scheme"])
        if host := _last(told, "x-forwarded-host"):
            headers = [(b"host", host.encode("latin-1")), *(each for each in headers if each[0] != b"host")]
        return {**scope, "scheme": scheme, "headers": headers}


def _is_forwarded(name: bytes) -> bool:
    return name == b"forwarded" or name.startswith(b"x-forwarded-")


def _last(headers: Headers, name: str) -> str:
    """The value that the peer wrote itself. Values before it may come from the browser."""
    return ",".join(headers.getlist(name)).rpartition(",")[2].strip()
