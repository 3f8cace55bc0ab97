"""HTTP without a client: exactly the bytes that a test sends."""

import socket
from typing import NamedTuple

WAIT = 60
"""seconds"""


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: str

    def header(self, name: str) -> list[str]:
        return [value for each, value in self.headers if each == name.lower()]


def send(port: int, lines: list[str], path: str = "/", method: str = "GET", version: str = "1.1") -> Answer:
    """`lines`: the request's headers, exactly; no client adds or corrects any."""
    request = "\r\n".join([f"{method} {path} HTTP/{version}", *lines, "", ""])
    with socket.create_connection(("localhost", port), timeout=WAIT) as connection:
        connection.sendall(request.encode("latin-1"))
        answer = connection.makefile("rb")
        status = int(answer.readline().split()[1])
        pairs = [line.decode("latin-1").rstrip().partition(": ") for line in iter(answer.readline, b"\r\n")]
        headers = [(name.lower(), value) for name, _, value in pairs]
        length = next((int(value) for name, value in headers if name == "content-length"), 0)
        return Answer(status, headers, answer.read(length).decode(errors="replace"))


def open_socket(port: int, *lines: str) -> Answer:
    """The WebSocket handshake with which every page begins."""
    key = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    return send(port, [*lines, *key, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="], "/_stcore/stream")
