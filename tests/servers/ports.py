"""Ports for servers that must be told theirs."""

import random
import socket

PORTS = range(20_000, 32_000)
"""below the ports that systems give to connections: one of those could be taken between the choice and the start of the
server, or while it is restarted"""


def free_port() -> int:
    while True:
        port = random.choice(PORTS)
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:  # taken
                continue
        return port
