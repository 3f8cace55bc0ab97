"""The branch of a conversation on the page."""

import streamlit as st

from pages.server.process import engine
from rag.runs.history.conversations.branches import Branch
from rag.runs.run.run import Run

DRAWN = "drawn branch"
"""in the session: conversation and chosen branch, and the last run that was drawn for them"""


def current_branch(conversation_id: str) -> Branch:
    """The branch that was drawn before, or else the chosen one; without a choice, the latest one."""
    named: str | None = st.session_state.setdefault("branch", None)
    branch = engine().history.branch(conversation_id, through=shown_branch(conversation_id))
    if named not in branch.runs:
        named = st.session_state.branch = None
    if named and st.query_params.get("b") != named:
        st.query_params["b"] = named
    elif not named:
        st.query_params.pop("b", None)
    _keep_drawn(conversation_id, branch.end)
    return branch


def shown_branch(conversation_id: str | None) -> str | None:
    """The run that identifies the branch on the page, if that conversation is open in the chat. None means the latest
    branch.

    It is the last run that was drawn: the same question may have been edited in another tab since.
    """
    if st.session_state.get("conversation") != conversation_id:
        return None
    chosen: str | None = st.session_state.get("branch")
    of, end = st.session_state.get(DRAWN, (None, None))
    return end if of == (conversation_id, chosen) else chosen


def go_on_with(asked: Run) -> None:
    """Names the run that was just asked in the chosen branch, so that a reload finds the latest question. Without a
    choice, the chat shows the latest branch whatever is asked.
    """
    if st.session_state.get("branch"):
        st.session_state.branch = asked.id


def _keep_drawn(conversation_id: str, end: str | None) -> None:
    """`end`: the last run of the branch that is drawn."""
    st.session_state[DRAWN] = (conversation_id, st.session_state.get("branch")), end
