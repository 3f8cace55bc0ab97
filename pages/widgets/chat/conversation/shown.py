"""What the chat shows, in the session and in the address: a conversation (?c=) and a branch of it (?b=).

No other module names the keys of the session. When the session follows the address, says address.py.
"""

from typing import NoReturn

import streamlit as st

from pages.server.process import engine
from rag.runs.history.conversations.branches import Branch
from rag.runs.run.run import Run

CONVERSATION = "conversation"
BRANCH = "branch"
"""a run of the branch that was chosen; None without a choice"""
DRAWN = "drawn branch"
"""conversation and chosen branch, and the last run that was drawn for them"""


def opened_conversation() -> str | None:
    """None is a new one. It may have been deleted in another tab since."""
    named: str | None = st.session_state.get(CONVERSATION)
    return named


def chosen_branch() -> str | None:
    """A run of the branch that was chosen. None means the latest branch."""
    chosen: str | None = st.session_state.get(BRANCH)
    return chosen


def is_drawn() -> bool:
    """Whether a conversation was drawn since another one was opened."""
    return DRAWN in st.session_state


def forget_drawn() -> None:
    st.session_state.pop(DRAWN, None)


def show(conversation_id: str | None, branch: str | None) -> None:
    """Opens it. What was drawn before would count as what this names, so it is forgotten."""
    st.session_state.update({CONVERSATION: conversation_id, BRANCH: branch})
    forget_drawn()


def choice_of(branch: str | None) -> dict[str, object]:
    """What the session holds once this branch of the conversation is chosen."""
    return {BRANCH: branch}


def choose_branch(branch: str | None) -> None:
    st.session_state.update(choice_of(branch))


def current_conversation() -> str | None:
    """The one that is open, if it is still there. The address then names it."""
    named = opened_conversation()
    if not named or not engine().history.conversations.exists(named):
        return None
    if st.query_params.get("c") != named:
        st.query_params["c"] = named
    return named


def open_conversation(conversation_id: str | None) -> NoReturn:
    """None opens a new one."""
    if conversation_id != opened_conversation():
        show(conversation_id, branch=None)
        st.query_params.pop("b", None)
    if conversation_id:
        st.query_params["c"] = conversation_id
    else:
        st.query_params.pop("c", None)
    st.rerun()


def current_branch(conversation_id: str) -> Branch:
    """The branch that was drawn before, or else the chosen one; without a choice, the latest one."""
    branch = engine().history.branch(conversation_id, through=shown_branch(conversation_id))
    if chosen_branch() not in branch.runs:
        choose_branch(None)
    named = chosen_branch()
    if named and st.query_params.get("b") != named:
        st.query_params["b"] = named
    elif not named:
        st.query_params.pop("b", None)
    st.session_state[DRAWN] = (conversation_id, named), branch.end
    return branch


def shown_branch(conversation_id: str | None) -> str | None:
    """The run that identifies the branch on the page, if that conversation is open in the chat. None means the latest
    branch.

    It is the last run that was drawn: the same question may have been edited in another tab since.
    """
    if opened_conversation() != conversation_id:
        return None
    of, end = st.session_state.get(DRAWN, (None, None))
    return end if of == (conversation_id, chosen_branch()) else chosen_branch()


def go_on_with(asked: Run) -> None:
    """Names the run that was just asked in the chosen branch, so that a reload finds the latest question. Without a
    choice, the chat shows the latest branch whatever is asked.
    """
    if chosen_branch():
        choose_branch(asked.id)
