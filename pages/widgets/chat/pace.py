"""How often a page reads the events of a run: less often when there is no news or many runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from rag.runs.run.run import Run

OFTEN = 0.4
"""seconds between two reads, for a run with news when few runs are in flight"""

SELDOM = 1.0
"""longest interval without news: the clock above the answer shows whole seconds"""

SHARE = 0.2
"""interval as a part of the time without news: after a wait of 4 s, news is shown at most 0.8 s late"""

LOOKS = 10
"""reads per second of all pages together: each costs 12 to 40 ms of a processor, on which all runs depend too"""

AT_ONCE = 0.05
"""seconds until the browser reads when an answer begins or ends; with less, it reads twice before the next interval"""


@dataclass
class SentInterval:
    """The interval that a session's browser was told last."""

    seconds: float | None = None


def pace(quiet: float, runs: int) -> float:
    """Seconds between two reads. `quiet`: seconds without news of this run; `runs`: number of all runs in flight."""
    return round(max(OFTEN, min(SELDOM, quiet * SHARE), runs / LOOKS), 1)


def look_every(seconds: float, at_once: Iterable[Run] = ()) -> None:
    """Sets the interval of the current fragment. It is also drawn when one of `at_once` begins to write or ends.

    `run_every` of Streamlit sends the same message, but only when the whole page is drawn.
    """
    context, fragment = get_script_run_ctx(), ThreadState.get().fragment_id
    if not context or not fragment:
        return
    sent: SentInterval = st.session_state.setdefault("pace", SentInterval())
    if Runtime.exists():
        tell = partial(_look_at_once, Runtime.instance(), context.session_id, fragment, sent)
        for run in at_once:
            run.tell_when_it_writes_or_ends(f"{context.session_id} {fragment}", tell)
    if not context.fragment_ids_this_run or sent.seconds != seconds:
        sent.seconds = seconds
        context.enqueue(_message(seconds, fragment))


def stop_looking() -> None:
    """The current fragment is not drawn at intervals any more."""
    context, fragment = get_script_run_ctx(), ThreadState.get().fragment_id
    if context and fragment:
        message = ForwardMsg()
        message.stop_auto_rerun.fragment_ids.append(fragment)
        context.enqueue(message)


def _look_at_once(runtime: Runtime, session_id: str, fragment: str, sent: SentInterval) -> None:
    """Can be called in any thread. Does nothing if the page is closed."""
    session = runtime.get_app_session(session_id)
    if session:
        # In the server's loop, as what the fragment itself says: the browser gets both in the order in which they were
        # said, and none is lost.
        tell = partial(session._enqueue_forward_msg, _message(AT_ONCE, fragment))  # noqa: SLF001 - no public way
        session._call_soon_on_event_loop(tell)  # noqa: SLF001
        sent.seconds = AT_ONCE  # after the message: otherwise a read in between would cancel a message not yet sent


def _message(seconds: float, fragment: str) -> ForwardMsg:
    message = ForwardMsg()
    message.auto_rerun.interval = seconds
    message.auto_rerun.fragment_id = fragment
    return message
