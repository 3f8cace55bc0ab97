"""One tab of a browser, as the server sees it: Streamlit's own WebSocket protocol, without the browser.

It answers each message as Streamlit's page does (`App.tsx`, 1.67): it keeps the address, requests fragments at their
intervals until the page is drawn again, and remembers large messages. It draws nothing and opens no file.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Common_pb2 import ChatInputValue
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

NO_TOKEN = Subprotocol("none")
"""takes the place of a browser's XSRF token, which only uploads and sign-in need"""

PATIENCE = 120
"""seconds to wait for a complete page"""

DRAWN = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class PageFailed(Exception):
    """The page shows an error, or sends nothing more."""


@dataclass
class Page:
    """Elements since the last full redraw of the page, fragments included."""

    composer: str | None = None
    """id of the field for questions"""
    is_busy: bool = False
    """whether the field takes no question"""
    buttons: dict[str, str] = field(default_factory=dict)
    """ids by key"""
    links: list[str] = field(default_factory=list)
    """hashes of the pages to which the page links"""
    answers: int = 0
    """number of past answers, counted by their thumbs"""
    alerts: list[str] = field(default_factory=list)

    def add(self, element: Element) -> None:
        match element.WhichOneof("type"):
            case "chat_input":
                self.composer, self.is_busy = element.chat_input.id, element.chat_input.disabled
            case "button":
                self.buttons[element.button.id.split("-", 2)[-1]] = element.button.id  # $$ID-hash-key
            case "page_link":
                self.links.append(element.page_link.page_script_hash)
            case "feedback":
                self.answers += 1
            case "alert":
                self.alerts.append(element.alert.body)


class Tab:
    """Belongs to the event loop that opened it. What takes too long raises PageFailed."""

    def __init__(self, url: str) -> None:
        """`url`: the server's, such as http://localhost:8501."""
        self.url = url
        self.page = Page()
        self.refreshes: list[float] = []
        """seconds from each request of a fragment to the end of its run"""
        self.paces: list[float] = []
        """all intervals that fragments were told, in seconds"""
        self._drawn = Page()
        self.redraws = 0
        """of the whole page, complete ones"""
        self._session: str | None = None
        self._query = "lang=en"
        self._hash = ""
        self._kept: dict[str, ForwardMsg] = {}
        self._timers: dict[str, tuple[float, asyncio.Task[None]]] = {}
        """by fragment, with their seconds"""
        self._asked: float | None = None
        """when the oldest open refresh was requested"""
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    @property
    def pace(self) -> float | None:
        """Seconds between two automatic refreshes; None without any."""
        return min((seconds for seconds, _ in self._timers.values()), default=None)

    async def open(self) -> None:
        """Opens a new page, or the page that `leave` left."""
        entries = [Subprotocol("streamlit"), NO_TOKEN, *([Subprotocol(self._session)] if self._session else [])]
        stream = f"{self.url.replace('http', 'ws', 1)}/_stcore/stream"
        self._socket = await connect(stream, subprotocols=entries, origin=Origin(self.url), max_size=None)
        self._reader = asyncio.create_task(self._read(self._socket))
        await self._run()

    async def leave(self) -> None:
        """Like a lost network or a closed tab: the server can't tell these apart."""
        self._stop_timers()
        if self._socket and self._reader:
            await self._socket.close()
            await self._reader
        self._socket = self._reader = self._asked = None

    async def go(self, link: int) -> None:
        """Opens the page at this position in the sidebar."""
        self._hash = self.page.links[link]
        self._query = "lang=en"
        await self._run()

    async def press(self, key: str) -> None:
        await self._run(WidgetState(id=self.page.buttons[key], trigger_value=True))

    async def type(self, question: str) -> None:
        """Types into the field and sends it."""
        said = ChatInputValue(data=question)
        await self._run(WidgetState(id=self.page.composer or "", chat_input_value=said))

    async def read_answer(self) -> None:
        """Waits until the whole answer is on the page, with all that belongs to it."""
        await self._until(lambda: not self.page.is_busy)
        if not self.page.answers:
            raise PageFailed(self.page.alerts)

    async def _run(self, *changed: WidgetState) -> None:
        """Waits until the page is drawn again."""
        before = self.redraws
        await self._rerun(changed=changed)
        await self._until(lambda: self.redraws > before)

    async def _rerun(self, fragment: str = "", changed: tuple[WidgetState, ...] = ()) -> None:
        state = ClientState(
            query_string=self._query,
            page_script_hash=self._hash,
            fragment_id=fragment,
            is_auto_rerun=bool(fragment),
            widget_states=WidgetStates(widgets=changed),
            cached_message_hashes=self._kept,
        )
        assert self._socket
        await self._socket.send(BackMsg(rerun_script=state).SerializeToString())

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._changed.clear()
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._changed.wait()
            except TimeoutError:
                raise PageFailed(f"nothing for {PATIENCE} s") from None
            if self._reader is None or self._reader.done():
                raise PageFailed("the connection was closed")

    async def _read(self, socket: ClientConnection) -> None:
        try:
            async for data in socket:
                assert isinstance(data, bytes)
                self._take(ForwardMsg.FromString(data))
        except ConnectionClosed:
            pass
        finally:
            self._stop_timers()
            asyncio.get_running_loop().call_soon(self._changed.set)

    def _take(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "ref_hash":
            message = self._kept[message.ref_hash]
        elif message.metadata.cacheable:
            self._kept[message.hash] = message
        match message.WhichOneof("type"):
            case "new_session":
                self._session = message.new_session.initialize.session_id
                self._hash = message.new_session.page_script_hash
                if not message.metadata.run.fragment_ids:
                    self._stop_timers()
                    self._drawn = Page()
            case "delta":
                self._draw(message.delta)
            case "page_info_changed":
                self._query = message.page_info_changed.query_string
            case "auto_rerun":
                self._look_every(message.auto_rerun.interval, message.auto_rerun.fragment_id)
            case "stop_auto_rerun":
                for fragment in message.stop_auto_rerun.fragment_ids:
                    self._stop_timer(fragment)
            case "script_finished" if message.script_finished in DRAWN:
                self._end(is_whole=message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY)

    def _draw(self, delta: Delta) -> None:
        if delta.WhichOneof("type") == "new_element":
            self._drawn.add(delta.new_element)

    def _end(self, *, is_whole: bool) -> None:
        if self._asked is not None:
            self.refreshes.append(time.perf_counter() - self._asked)
            self._asked = None
        if is_whole:
            self.page = self._drawn
            self.redraws += 1
            self._changed.set()

    def _look_every(self, seconds: float, fragment: str) -> None:
        self.paces.append(seconds)
        if fragment in self._timers and self._timers[fragment][0] == seconds:
            return
        self._stop_timer(fragment)
        self._timers[fragment] = seconds, asyncio.create_task(self._look(seconds, fragment))

    async def _look(self, seconds: float, fragment: str) -> None:
        with suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(seconds)
                self._asked = self._asked or time.perf_counter()
                await self._rerun(fragment)

    def _stop_timer(self, fragment: str) -> None:
        if fragment in self._timers:
            self._timers.pop(fragment)[1].cancel()

    def _stop_timers(self) -> None:
        for fragment in list(self._timers):
            self._stop_timer(fragment)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Tab]:
    tab = Tab(url)
    await tab.open()
    try:
        yield tab
    finally:
        await tab.leave()
