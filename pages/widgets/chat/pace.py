"""How often a page reads the events of a run: less often when there is no news or many runs."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from rag.runs.run.run import Run

OFTEN = 0.4
"""seconds between two looks at a run, one of few, of which there is news"""

SELDOM = 1.0
"""where there was none for long: the clock above the answer tells whole seconds"""

SHARE = 0.2
"""of the time without news: who has waited for 4 s is told 0.8 s late at most"""

LOOKS = 25
"""a second that all pages have together: each costs 12 ms of a processor, on which everything else runs too"""

AT_ONCE = 0.05
"""seconds until the browser looks when an answer begins; with less it looks twice before it is told to wait again"""


@dataclass
class SentInterval:
    """What the browser of a session was told last."""

    seconds: float | None = None


def pace(quiet: float, runs: int) -> float:
    """Seconds between two looks. `quiet`: seconds without news of this run; `runs`: all in flight."""
    return round(max(OFTEN, min(SELDOM, quiet * SHARE), runs / LOOKS), 1)


def look_every(seconds: float, at_once: Iterable[Run] = ()) -> None:
    """Of the fragment that is drawn: from now on it is drawn anew so often, and when one of `at_once` begins to write.

    `run_every` of Streamlit sends the same message, but only when the whole page is drawn.
    """
    context, fragment = get_script_run_ctx(), ThreadState.get().fragment_id
    if not context or not fragment:
        return
    sent: SentInterval = st.session_state.setdefault("pace", SentInterval())
    if Runtime.exists():
        tell = partial(_look_at_once, Runtime.instance(), context.session_id, fragment, sent)
        for run in at_once:
            run.tell_when_it_writes(f"{context.session_id} {fragment}", tell)
    if not context.fragment_ids_this_run or sent.seconds != seconds:
        sent.seconds = seconds
        context.enqueue(_message(seconds, fragment))


def _look_at_once(runtime: Runtime, session_id: str, fragment: str, sent: SentInterval) -> None:
    """In any thread; nothing where the page is closed by now."""
    session = runtime.get_app_session(session_id)
    if session:
        with suppress(RuntimeError):  # the server's loop has just been closed
            session._enqueue_forward_msg(_message(AT_ONCE, fragment))  # noqa: SLF001 - no public way to one fragment
        sent.seconds = AT_ONCE  # after the message: a look between both would take back what is not yet sent


def _message(seconds: float, fragment: str) -> ForwardMsg:
    message = ForwardMsg()
    message.auto_rerun.interval = seconds
    message.auto_rerun.fragment_id = fragment
    return message
