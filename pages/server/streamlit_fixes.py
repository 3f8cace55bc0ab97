"""What is different here in Streamlit's own server."""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar
from weakref import WeakValueDictionary

import uvicorn
from streamlit import config
from streamlit.config_option import ConfigOption
from streamlit.elements.lib import options_selector_utils
from streamlit.elements.widgets import selectbox
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, script_runner
from streamlit.runtime.session_manager import ActiveSessionInfo
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.watcher.local_sources_watcher import LocalSourcesWatcher

PRESSES = {"trigger_value", "string_trigger_value", "json_trigger_value", "chat_input_value"}
"""values that the browser sends for one act, such as a press, and then forgets"""

ASKED_BY_PAGES = {
    "rerun_script",
    "stop_script",
    "file_urls_request",
    "app_heartbeat",
    "deferred_file",
    "dataframe_chunk",
}
"""what the browser of a page asks the server; listed, so that what later versions add is closed too"""

SOON = 0.02
"""seconds"""

LAST_REQUESTS = 5
"""seconds that requests have to end when the server ends"""

log = logging.getLogger(__name__)

T = TypeVar("T")


class StillEnding(Exception):
    """The last script of a session has ended, and what it said has not been sent yet."""


@dataclass(frozen=True)
class SessionLock:
    """The lock of a session, as one of its scripts takes it. It may be taken again while it is held."""

    lock: AbstractContextManager[bool]
    stop_if_told: Callable[[], None]  # raises an exception of Streamlit

    def __enter__(self) -> None:
        self.lock.__enter__()
        try:
            self.stop_if_told()
        except BaseException:
            self.lock.__exit__(None, None, None)
            raise

    def __exit__(self, *error: object) -> None:
        self.lock.__exit__(None, None, None)


def apply() -> None:
    """Call it once, before the server starts."""
    _answer_only_pages()
    _look_up_no_files()
    _leave_the_import_path_alone()
    _make_the_theme_once()
    _read_options_without_a_lock()
    _send_to_the_latest_connection()
    _rerun_in_turn()
    _redraw_the_page_for_a_fragment_that_is_gone()
    _change_a_session_in_turn()
    _tell_the_browser_new_texts_of_what_is_chosen()
    _wait_a_moment_for_the_last_requests()


def _answer_only_pages() -> None:
    """Streamlit answers every connection, before a sign-in too, also what only the tools of developers ask. It told the
    branch of the app's checkout and the names of changed files there, by ten processes while everybody waited.
    """
    handle = AppSession.handle_backmsg

    def handle_if_asked_by_pages(session: AppSession, message: BackMsg) -> None:
        kind: str | None = message.WhichOneof("type")
        if kind == "backend_operation_request":
            kind = message.backend_operation_request.WhichOneof("payload")
        if kind in ASKED_BY_PAGES:
            handle(session, message)
        else:
            log.warning("Refused a message of a connection: no page asks for %s", kind)

    AppSession.handle_backmsg = handle_if_asked_by_pages  # type: ignore[method-assign, assignment]


def _look_up_no_files() -> None:
    """With `fileWatcherType = "none"` no file is watched. Still, whenever a page is opened or connects again, and for
    every open page when a module was loaded, Streamlit looks up the files of all modules: 0.1 to 0.2 s of the event
    loop, for which everybody waits.
    """
    LocalSourcesWatcher.update_watched_modules = _nothing  # type: ignore[method-assign, assignment]


def _leave_the_import_path_alone() -> None:
    """Whenever Streamlit draws a page, it inserts a folder into `sys.path` and removes it afterwards. Another thread
    that was just looking for a module left out a folder then: the first question after a start could fail, because an
    installed module was not found. No page needs the folder: what they import is in the one above.
    """
    script_runner.modified_sys_path = nullcontext  # type: ignore[attr-defined, assignment]


def _make_the_theme_once() -> None:
    """For every drawing of a page or a fragment, Streamlit reads all options of the theme again and makes a message of
    them: 7% of the processor time while twenty people ask. They stay the same while the server runs.
    """
    make_theme = app_session._populate_theme_msg  # noqa: SLF001 - no public name

    @cache
    def made(section: str) -> CustomThemeConfig:
        theme = CustomThemeConfig()
        make_theme(theme, section)
        return theme

    def take_theme(msg: CustomThemeConfig, section: str = "theme") -> None:
        msg.MergeFrom(made(section))

    app_session._populate_theme_msg = take_theme  # noqa: SLF001


def _read_options_without_a_lock() -> None:
    """For each element that a page draws, Streamlit takes a lock of the whole process several times, to read an option.
    While twenty people ask, the threads of their pages waited for it, and nearly every read changed threads.
    """
    read = config.get_option
    complete: dict[str, ConfigOption] = {}

    def read_option(key: str) -> object:
        nonlocal complete
        options = config._config_options  # noqa: SLF001 - the public way takes the lock
        if options is not complete:
            # When the files of the options are read again, others see a new dictionary before it has their values.
            with config._config_lock:  # noqa: SLF001
                complete = config.get_config_options()
        return complete[key].value if key in complete else read(key)

    config.get_option = read_option


def _send_to_the_latest_connection() -> None:
    """Streamlit notes the connections of all pages, then sends to one after the other. What was written for a page that
    connected again meanwhile went to its old connection and was lost: the page stood still until it was reloaded.
    """
    send = Runtime._send_message  # noqa: SLF001 - no public method knows the connections

    def send_to_latest(runtime: Runtime, noted: ActiveSessionInfo, message: ForwardMsg) -> None:
        latest = runtime._session_mgr.get_active_session_info(noted.session.id)  # noqa: SLF001
        send(runtime, latest or noted, message)

    Runtime._send_message = send_to_latest  # type: ignore[method-assign, assignment]  # noqa: SLF001


def _rerun_in_turn() -> None:
    """Four things that the browser asks for at a moment at which Streamlit does the wrong thing.

    - When a fragment is to be drawn and the script has just ended, Streamlit starts another script and drops what the
      one that ended still has to say: that the page is complete. The browser then kept what was drawn before, such as
      the button that stops an answer, beside the finished answer. Here, the fragment waits for it.
    - A page may be told to look at a fragment just after it was left, because a run has ended. Its browser then asked
      for nothing, twenty times a second. Here, it is told to stop.
    - The browser sends a press a moment after it was made. When a fragment's interval ended in this moment, the browser
      sent the press with the fragment too, and it counted twice: a playback was paused and went on.
    - Streamlit drops what a person does in a fragment that the page has replaced. Here, the page is drawn.
    """
    rerun, start = AppSession.request_rerun, AppSession._create_scriptrunner  # noqa: SLF001 - no public way

    def start_in_turn(session: AppSession, rerun_data: RerunData) -> None:
        # Only here it is sure that the last script takes no request any more: it may end at any moment before.
        if rerun_data.fragment_id and session._scriptrunner:  # noqa: SLF001
            raise StillEnding
        start(session, rerun_data)

    def rerun_in_turn(session: AppSession, client_state: ClientState | None) -> None:
        if client_state and client_state.fragment_id:
            is_gone = not session.has_fragment(client_state.fragment_id)
            if client_state.is_auto_rerun and is_gone:
                session._enqueue_forward_msg(_stop_looking(client_state.fragment_id))  # noqa: SLF001 - no public way
                return
            if client_state.is_auto_rerun:
                client_state = _without_presses(client_state)
            elif is_gone:
                client_state = _for_page(client_state)
        try:
            rerun(session, client_state)
        except StillEnding:
            asyncio.get_running_loop().call_later(SOON, rerun_in_turn, session, client_state)

    AppSession._create_scriptrunner = start_in_turn  # type: ignore[method-assign, assignment]  # noqa: SLF001
    AppSession.request_rerun = rerun_in_turn  # type: ignore[method-assign, assignment]


def _redraw_the_page_for_a_fragment_that_is_gone() -> None:
    """The same for what a person does while the page is being drawn: Streamlit looks for the fragment after that."""
    run = ScriptRunner._run_script  # noqa: SLF001 - no public way

    def run_fragments_or_page(runner: ScriptRunner, rerun_data: RerunData) -> None:
        fragments = runner._fragment_storage  # noqa: SLF001
        if _is_by_person(rerun_data) and not all(map(fragments.contains, rerun_data.fragment_id_queue)):
            rerun_data = replace(rerun_data, fragment_id_queue=[])
        run(runner, rerun_data)

    ScriptRunner._run_script = run_fragments_or_page  # type: ignore[method-assign, assignment]  # noqa: SLF001


def _change_a_session_in_turn() -> None:
    """When somebody acts again while a page is being drawn, its script is told to stop and another one starts. Each has
    a lock of its own for the same values: the second replaced those that the first was just comparing. That one failed,
    and no callback was called for what had changed. Here, they have one lock, and a script that was told to stop stops
    when it gets it, instead of changing what the next one has begun with.
    """
    prepare = SafeSessionState.__init__
    # By the identity of the values, which have no room for it. While a script has its lock, it has the values too.
    locks: WeakValueDictionary[int, AbstractContextManager[bool]] = WeakValueDictionary()

    def prepare_with_one_lock(
        of_script: SafeSessionState, state: SessionState, yield_callback: Callable[[], None]
    ) -> None:
        prepare(of_script, state, yield_callback)
        lock = locks.setdefault(id(state), threading.RLock())
        object.__setattr__(of_script, "_lock", SessionLock(lock, stop_if_told=yield_callback))

    SafeSessionState.__init__ = prepare_with_one_lock  # type: ignore[method-assign, assignment]


def _tell_the_browser_new_texts_of_what_is_chosen() -> None:
    """In a selectbox, the browser knows what is chosen by its text only. When the texts change, with the language or a
    count, it went on showing the old text and sent it with the next act, whatever that was. It is none of the options
    then, and Streamlit took it for a new choice: callbacks got the text itself, or the choice was lost.
    """
    resolve, serialize = options_selector_utils.resolve_value_against_options, selectbox.SelectboxSerde.serialize

    def text_as_drawn(drawn: selectbox.SelectboxSerde[T], chosen: T | str | None) -> str | None:
        """Not as `format_func` would name it now, which may be in another language."""
        if chosen in drawn.options:
            return drawn.formatted_options[drawn.options.index(chosen)]
        return serialize(drawn, chosen)

    def resolve_and_compare(
        chosen: T | None,
        options: Sequence[T],
        numbers: dict[str, int],
        default: int | None,
        key: str | int | None,
        text_of: Callable[[T], str] = str,
        sent: str | None = None,
    ) -> tuple[T | None, bool]:
        """Returns the choice and whether the browser has to be told. `sent`: the text that the browser knows."""
        chosen, is_reset = resolve(chosen, options, numbers, default, key, text_of, sent)
        has_new_text = chosen is not None and sent is not None and text_of(chosen) != sent
        return chosen, is_reset or has_new_text

    selectbox.SelectboxSerde.serialize = text_as_drawn  # type: ignore[method-assign, assignment]
    selectbox.resolve_value_against_options = resolve_and_compare  # type: ignore[attr-defined, assignment]


def _wait_a_moment_for_the_last_requests() -> None:
    """Streamlit lets uvicorn wait for all requests without a limit: an upload over a slow line kept the app from
    closing its data until it was killed.
    """
    shutdown = uvicorn.Server.shutdown

    async def shutdown_soon(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        server.config.timeout_graceful_shutdown = LAST_REQUESTS
        await shutdown(server, sockets)

    uvicorn.Server.shutdown = shutdown_soon  # type: ignore[method-assign, assignment]


def _is_by_person(rerun_data: RerunData) -> bool:
    """Whether a person did something. Requests that waited are one, and `is_auto_rerun` is that of the last."""
    states = rerun_data.widget_states
    return not rerun_data.is_auto_rerun or (states is not None and any(map(_is_press, states.widgets)))


def _is_press(widget: WidgetState) -> bool:
    return widget.WhichOneof("value") in PRESSES


def _without_presses(client_state: ClientState) -> ClientState:
    without = ClientState()
    without.CopyFrom(client_state)
    del without.widget_states.widgets[:]
    without.widget_states.widgets.extend(each for each in client_state.widget_states.widgets if not _is_press(each))
    return without


def _for_page(client_state: ClientState) -> ClientState:
    """The same for the whole page instead of a fragment."""
    whole = ClientState()
    whole.CopyFrom(client_state)
    whole.ClearField("fragment_id")
    return whole


def _stop_looking(fragment: str) -> ForwardMsg:
    message = ForwardMsg()
    message.stop_auto_rerun.fragment_ids.append(fragment)
    return message


def _nothing(_: LocalSourcesWatcher) -> None:
    pass
