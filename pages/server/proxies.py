"""Which peers are reverse proxies of ours, and what is believed of them about the browser's own connection.

Anybody can write `X-Forwarded-…`. Of a proxy that is trusted the last value counts, which it wrote itself; from anybody
else these headers are taken away, so that nothing further in can be deceived by them. uvicorn has a look at them of its
own, which would let whoever is on this machine name any address as theirs: `forwarded_allow_ips` has to be empty.
"""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from index_store.base.errors import PlainError

Network = IPv4Network | IPv6Network

SCHEMES = {"http": {"http": "http", "https": "https"}, "websocket": {"http": "ws", "https": "wss"}}
"""by kind of connection: what a proxy says -> what ASGI calls it"""


class OtherProxies(PlainError):
    en = (
        "The server beneath the app believes proxies of its own choice, so TRUSTED_PROXIES would not hold. Start the "
        "app with `make run`, or with the environment variable FORWARDED_ALLOW_IPS set to nothing."
    )
    ja = (
        "下のサーバーが別の設定でプロキシを信用するため、TRUSTED_PROXIES が守られません。`make run` で起動するか、"
        "環境変数 FORWARDED_ALLOW_IPS を空に設定して起動してください。"
    )


def read_networks(written: str) -> tuple[Network, ...]:
    """Of addresses and networks (CIDR) separated by commas. Raises ValueError for what is neither or all."""
    networks = tuple(ip_network(part.strip()) for part in written.split(",") if part.strip())
    if any(network.prefixlen == 0 for network in networks):
        raise ValueError("every address would be a proxy")
    return networks


def is_within(address: str, networks: Iterable[Network]) -> bool:
    """`address`: of a peer as ASGI gives it; what is no IP address is in no network."""
    try:
        peer = ip_address(address)
    except ValueError:
        return False
    if isinstance(peer, IPv6Address) and peer.ipv4_mapped:  # a socket that listens on both
        peer = peer.ipv4_mapped
    return any(peer in network for network in networks)


class Proxies:
    """ASGI middleware, before all other: gives each request the scheme and `Host` that its browser used."""

    def __init__(self, app: ASGIApp, networks: Sequence[Network] = ()) -> None:
        self._app = app
        self._networks = networks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(self._as_the_browser_has_it(scope) if scope["type"] in SCHEMES else scope, receive, send)

    def _as_the_browser_has_it(self, scope: Scope) -> Scope:
        told = Headers(scope=scope)
        headers = [each for each in scope["headers"] if not _is_forwarded(each[0])]
        if not scope.get("client") or not is_within(scope["client"][0], self._networks):
            return {**scope, "headers": headers}
        scheme = SCHEMES[scope["type"]].get(_last(told, "x-forwarded-proto").lower(), scope["scheme"])
        if host := _last(told, "x-forwarded-host"):
            headers = [(b"host", host.encode("latin-1")), *(each for each in headers if each[0] != b"host")]
        return {**scope, "scheme": scheme, "headers": headers}


def _is_forwarded(name: bytes) -> bool:
    return name == b"forwarded" or name.startswith(b"x-forwarded-")


def _last(headers: Headers, name: str) -> str:
    """What the peer has written; before it may stand what it was sent."""
    return ",".join(headers.getlist(name)).rpartition(",")[2].strip()
