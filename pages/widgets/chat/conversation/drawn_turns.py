"""How many turns of a conversation are drawn: the last ones, and those since the run that the address names."""

import streamlit as st

from pages.widgets.chat.conversation.shown import chosen_branch
from rag.runs.history.conversations.branches import Branch

LATEST = 5
"""turns that are drawn at first: each costs 5 to 10 ms in every redraw"""

EARLIER = 10
"""turns that each press of the button above them adds"""

REACHED = "run that was reached"
"""in the session: the named run for which enough turns were drawn"""


def drawn_turns(conversation_id: str, branch: Branch) -> int:
    """Counted from the end of the branch. A run that was just opened or chosen is drawn, with the turn before."""
    key = f"turns of {conversation_id}"
    turns: int = st.session_state.get(key, LATEST)
    named = chosen_branch()
    if named in branch.runs and named != st.session_state.get(REACHED):
        turns = max(turns, len(branch.runs) - branch.runs.index(named) + 1)
    st.session_state.update({key: turns, REACHED: named})
    return turns


def draw_earlier(conversation_id: str) -> None:
    st.session_state[f"turns of {conversation_id}"] += EARLIER
