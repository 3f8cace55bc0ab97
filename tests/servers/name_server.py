"""A name server on UDP at 127.0.0.1 that may change its answers, and a resolver that asks only this server."""

import socket
import threading
from typing import Self

import dns.asyncresolver
import dns.exception
import dns.flags
import dns.message
import dns.rdatatype
import dns.resolver
import dns.rrset

PATIENCE = 60
"""seconds for an answer"""


class NameServer:
    """A context manager. `answers`: for each name, the addresses of its first answer, its second and so on; the last
    one stays. Time to live is 0, so that nobody stores an answer.
    """

    def __init__(self, answers: dict[str, list[list[str]]]) -> None:
        self._answers = {name: list(series) for name, series in answers.items()}
        self.asked: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, name="names", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self._socket.getsockname())  # an empty message ends it
        self._thread.join()
        self._socket.close()

    async def resolve(self, host: str, port: int) -> list[str]:
        """The `resolve` of a crawl."""
        resolver = dns.asyncresolver.Resolver(configure=False)
        resolver.nameservers = ["127.0.0.1"]
        resolver.port = self._socket.getsockname()[1]
        resolver.timeout = PATIENCE  # otherwise it asks again after 2 s, which takes the next answer of the series
        try:
            return [str(record) for record in await resolver.resolve(f"{host}.", "A", lifetime=PATIENCE)]
        except (dns.exception.Timeout, dns.resolver.NoAnswer, dns.resolver.NXDOMAIN) as error:
            raise OSError(str(error)) from error

    def _serve(self) -> None:
        while True:
            packet, client = self._socket.recvfrom(4096)
            if not packet:
                return
            query = dns.message.from_wire(packet)
            name = query.question[0].name
            series = self._answers.get(name.to_text(omit_final_dot=True), [[]])
            addresses = series.pop(0) if len(series) > 1 else series[0]
            self.asked.append(name.to_text(omit_final_dot=True))
            response = dns.message.make_response(query)
            response.flags |= dns.flags.RA
            if addresses:
                response.answer.append(dns.rrset.from_text(name, 0, "IN", "A", *addresses))
            else:
                response.set_rcode(3)  # NXDOMAIN: there is no such name
            self._socket.sendto(response.to_wire(), client)
