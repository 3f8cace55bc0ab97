"""The addresses that the crawler may connect to: public ones, and internal ones in CRAWL_ALLOWED.

The guard checks the IP addresses just before connecting, not names or texts, so no disguise can hide them; connections
go only to these addresses. One case it can't detect: a public address that the network itself routes to an internal
host.
"""

import asyncio
import re
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

import httpcore2

from index_store.base.errors import InvalidSetting
from index_store.base.settings.settings import NO_COMMAS
from index_store.crawl.address import host_of, normalised
from index_store.crawl.errors import AddressInside, BadAddress, HostUnknown, PortRefused

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Python's own is_global differs between versions. Sources: IANA's special-purpose address registries, RFC 6890.
_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this host
            "10.0.0.0/8",
            "100.64.0.0/10",  # carriers' NAT
            "127.0.0.0/8",
            "168.63.129.16/32",  # Azure's agent, on every virtual machine, at a public address
            "169.254.0.0/16",  # link-local, with the metadata of most clouds
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
        ),
    )
)
_PUBLIC_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocols: Teredo, benchmarks, ORCHID
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4: an IPv4 address in disguise
            "3fff::/20",  # documentation
        ),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
"""the prefix by which a network with IPv6 only names IPv4 addresses"""

# The networks of internal sites, which a host's name in CRAWL_ALLOWED opens.
_HOME = tuple(
    map(
        ip_network,
        ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"),
    )
)
_METADATA = tuple(map(ip_address, ("100.100.100.200", "fd00:ec2::254", "fd20:ce::254")))
"""of Alibaba, AWS and Google. They are in internal networks but must be allowed by address: otherwise the owner of a
name could reach them"""

# The Fetch standard's bad ports (https://fetch.spec.whatwg.org/#port-blocking) from 1024 up. Below 1024, only the web's
# two ports are allowed.
_OTHER_SERVICES = frozenset(
    (1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080)
)

PORTS = range(1, 65536)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""host and port to addresses; raises OSError if there is none"""

NEXT_ADDRESS = 5.0
"""seconds after which another address of the host is tried"""


class _Exemption(NamedTuple):
    host: str | None
    network: Network | None
    port: int | None


class AddressGuard:
    def __init__(self, allowed: str = "") -> None:
        """`allowed`: hosts, addresses and networks, separated by commas or spaces; a host or address may have a port.

        A host opens the private and loopback addresses that it resolves to. Link-local and metadata addresses must be
        named themselves. Raises InvalidSetting.
        """
        self._exemptions = [_exemption(entry) for entry in re.split(r"[\s,]+", allowed) if entry]

    def check(self, host: str, port: int, addresses: Sequence[Address]) -> None:
        """Checks all of a host's addresses, since any could be used. Raises AddressInside, PortRefused."""
        for address in map(_unwrapped, addresses):
            if self._is_exempt(host, port, address):
                continue
            if not is_public(address):
                raise AddressInside(host=host)
            if (port < 1024 and port not in (80, 443)) or port in _OTHER_SERVICES:
                raise PortRefused(host=host, port=port)

    def _is_exempt(self, host: str, port: int, address: Address) -> bool:
        is_site = is_public(address) or (address not in _METADATA and any(address in network for network in _HOME))
        return any(
            exemption.port in (None, port)
            and (address in exemption.network if exemption.network else is_site and exemption.host == host)
            for exemption in self._exemptions
        )


def is_public(address: Address) -> bool:
    address = _unwrapped(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _unwrapped(address: Address) -> Address:
    """The IPv4 address to which an IPv6 address leads."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(address.packed[-4:])
    return address


def address_in(text: str) -> Address | None:
    """None if the text is a name."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def _exemption(entry: str) -> _Exemption:
    network = _network_in(entry.strip("[]"))
    if network:
        return _Exemption(None, network, None)
    found = re.fullmatch(r"(\[[^\]]*\]|[^:/?#@*\[\]]+)(?::(\d{1,5}))?", entry)
    try:
        name = host_of(normalised(f"http://{found[1]}/")) if found else ""
    except BadAddress:
        name = ""
    if not found or not name or int(found[2] or 1) not in PORTS or NO_COMMAS & set(entry):
        raise InvalidSetting(
            variable="CRAWL_ALLOWED",
            allowed_en="hosts, host:port, addresses or networks such as 10.1.0.0/16, separated by commas",
            allowed_ja="ホスト、ホスト:ポート、アドレス、10.1.0.0/16 のようなネットワークをカンマで区切ったもの",
        )
    return _Exemption(name, _network_in(name.strip("[]")), int(found[2]) if found[2] else None)


def _network_in(text: str) -> Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


# Connections


async def resolve_by_system(host: str, port: int) -> list[str]:
    """Resolves as every program of this machine does, with its hosts file and search domains."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def give(addresses: list[str], error: OSError | None) -> None:
        if not answer.done():
            answer.set_exception(error) if error else answer.set_result(addresses)

    def ask() -> None:
        addresses: list[str] = []
        failure: OSError | None = None
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
        except (OSError, UnicodeError) as error:  # UnicodeError: a label that is too long
            failure = error if isinstance(error, OSError) else OSError(str(error))
        with suppress(RuntimeError):  # the crawl has ended in the meantime
            loop.call_soon_threadsafe(give, addresses, failure)

    # Not the loop's executor: a name server that hangs would delay the end of the crawl.
    threading.Thread(target=ask, name="resolve", daemon=True).start()
    return await answer


class GuardedConnections(httpcore2.AsyncNetworkBackend):
    """Connections that go only to the addresses that were checked.

    A name is resolved here, once per connection. The guard checks the addresses; the socket connects to one of them.
    So a name server that answers differently the next time changes nothing. Host header, SNI and certificate keep the
    name. For the same reason no proxy is used, whatever the environment says: it would resolve names itself.
    """

    def __init__(self, guard: AddressGuard, resolve: Resolve = resolve_by_system) -> None:
        self._guard = guard
        self._resolve = resolve
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Raises AddressInside, PortRefused, HostUnknown; httpcore2.ConnectError and ConnectTimeout."""
        addresses = await self._addresses(host, port)
        self._guard.check(host, port, [ip_address(address) for address in addresses])
        for address in addresses[:-1]:
            with suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return await self._network.connect_tcp(address, port, NEXT_ADDRESS, local_address, socket_options)
        return await self._network.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise httpcore2.ConnectError("a site is never behind a Unix socket")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        host = host.strip("[]")
        if host == "localhost" or host.endswith(".localhost"):  # RFC 6761: whatever a name server says
            return ["127.0.0.1", "::1"]
        if address_in(host):
            return [host]
        try:
            addresses = await self._resolve(host, port)
        except OSError:
            raise HostUnknown(host=host) from None
        if not addresses:
            raise HostUnknown(host=host)
        return addresses
