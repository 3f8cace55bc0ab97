"""The connection of a page with its server, which a test can cut."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import WebSocketRoute

from tests.browser.visitor import Visitor


class Connection:
    def __init__(self, visitor: Visitor) -> None:
        """Loads the page again, because only then does its WebSocket go through here."""
        self._visitor = visitor
        self._is_down = False
        self._sockets: list[WebSocketRoute] = []
        visitor.page.route_web_socket("**/_stcore/stream", self._pass_on)
        visitor.page.reload()
        visitor.settle()

    def _pass_on(self, socket: WebSocketRoute) -> None:
        if self._is_down:
            socket.close()
            return
        socket.connect_to_server()
        self._sockets.append(socket)

    @property
    def count(self) -> int:
        """How often the page has reached its server."""
        return len(self._sockets)

    @contextmanager
    def lost(self, seconds: float) -> Iterator[None]:
        """In the block, and for so long after it."""
        before = self.count
        self._is_down = True
        self._sockets[-1].close()
        yield
        self._visitor.page.wait_for_timeout(seconds * 1000)
        assert self.count == before
        self._is_down = False

    def forget_complaints(self) -> None:
        """Those of Streamlit about a lost connection; the browser must have had no others."""
        assert [each for each in self._visitor.complaints if "disconnected" not in each] == []
        self._visitor.complaints.clear()
