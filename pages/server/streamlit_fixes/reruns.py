"""How pages are drawn again: in turn, with what a person did, and without disturbing each other."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, script_runner
from streamlit.runtime.state import SafeSessionState, SessionState

PRESSES = {"trigger_value", "string_trigger_value", "json_trigger_value", "chat_input_value"}
"""values that the browser sends for one act, such as a press, and then forgets"""

SOON = 0.02
"""seconds"""


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
    _leave_the_import_path_alone()
    _rerun_in_turn()
    _redraw_the_page_for_a_fragment_that_is_gone()
    _change_a_session_in_turn()


def _leave_the_import_path_alone() -> None:
    """Whenever Streamlit draws a page, it inserts a folder into `sys.path` and removes it afterwards. Another thread
    that was just looking for a module left out a folder then: the first question after a start could fail, because an
    installed module was not found. No page needs the folder: what they import is in the one above.
    """
    script_runner.modified_sys_path = nullcontext  # type: ignore[attr-defined, assignment]


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
