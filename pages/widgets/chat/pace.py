"""How often a page looks at a run: as often as it pays, and as the server can bear."""

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

OFTEN = 0.4
"""seconds between two looks at a run, one of few, of which there is news"""

SELDOM = 1.0
"""where there was none for long: the clock above the answer tells whole seconds"""

SHARE = 0.2
"""of the time without news: who has waited for 4 s is told 0.8 s late at most"""

LOOKS = 25
"""a second that all pages have together: each costs 12 ms of a processor, on which everything else runs too"""


def pace(quiet: float, runs: int) -> float:
    """Seconds between two looks. `quiet`: seconds without news of this run; `runs`: all in flight."""
    return round(max(OFTEN, min(SELDOM, quiet * SHARE), runs / LOOKS), 1)


def look_every(seconds: float) -> None:
    """Of the fragment that is drawn: from now on it is drawn anew so often.

    `run_every` of Streamlit sends the same message, but only when the whole page is drawn.
    """
    context, fragment = get_script_run_ctx(), ThreadState.get().fragment_id
    is_known = context and context.fragment_ids_this_run and st.session_state.get("pace") == seconds
    if context and fragment and not is_known:
        st.session_state["pace"] = seconds
        message = ForwardMsg()
        message.auto_rerun.interval = seconds
        message.auto_rerun.fragment_id = fragment
        context.enqueue(message)
