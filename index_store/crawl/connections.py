"""Connections that go to the address that was checked, and to no other.

A name is resolved here, once for each connection; the guard sees what came, and the socket is opened to that. So a
name server that answers otherwise the next time changes nothing. Host header, SNI and certificate keep the name. For
the same reason there is no proxy, whatever the environment says: it would resolve names itself.
"""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any

import httpcore2

from index_store.crawl.errors import HostUnknown
from index_store.crawl.guard import AddressGuard, address_in

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""host and port to addresses; raises OSError when there is none"""

NEXT_ADDRESS = 5.0
"""seconds after which another address of the host is tried"""


async def resolve_by_system(host: str, port: int) -> list[str]:
    """As every program of this machine does: hosts file, search domains and all."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(addresses: list[str], error: OSError | None) -> None:
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
        with suppress(RuntimeError):  # the crawl has ended meanwhile
            loop.call_soon_threadsafe(settle, addresses, failure)

    # Not the loop's executor: a name server that hangs would hold up the end of the crawl.
    threading.Thread(target=ask, name="resolve", daemon=True).start()
    return await answer


class GuardedConnections(httpcore2.AsyncNetworkBackend):
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
