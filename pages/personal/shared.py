"""The page behind a link: a conversation or an answer, read-only."""

from datetime import UTC, datetime

import streamlit as st

from pages.server.process import engine
from pages.widgets.chat.conversation.drawn_turns import EARLIER, LATEST
from pages.widgets.chat.turn.turn import ASSISTANT, show_answered, show_question
from pages.widgets.controls.errors import show_error
from pages.words.amounts import when
from pages.words.names import plain
from pages.words.say import say
from rag.errors import UnknownShare
from rag.runs.history.for_people.user_history import SharedTraces
from rag.runs.history.history import RunOutline

LOOK = 3.0
"""seconds: a revoked share disappears from the page within this time"""


def find(token: str) -> SharedTraces | UnknownShare:
    """Finds what is shared. If the page is only drawn again, this does not count as another opening."""
    try:
        found = engine().shares.shared(token, again=st.session_state.get("opened share") == token)
    except UnknownShare as refusal:
        return refusal
    st.session_state["opened share"] = token
    return found


@st.fragment(run_every=LOOK)
def watch(token: str, shown: int) -> None:
    """Draws the page again when the link is revoked or another answer is finished."""
    found = find(token)
    if isinstance(found, UnknownShare) or len(found.runs) != shown:
        st.rerun()


@st.fragment
def show_turn(found: SharedTraces, outline: RunOutline) -> None:
    """Each time a trace is opened, the share is checked again."""
    with st.chat_message("assistant", avatar=str(ASSISTANT)):
        show_answered(outline.run, outline.events, found)


def show_more() -> None:
    st.session_state["shared turns"] += EARLIER


def show_shared(token: str, found: SharedTraces) -> None:
    made = when(datetime.fromtimestamp(found.share.created_at, UTC))
    st.caption(say("share.read_only", title=plain(found.share.title), when=made))
    turns = st.session_state.setdefault("shared turns", LATEST)
    if earlier := len(found.runs[:-turns]):
        st.button(say("chat.earlier", count=earlier), key="earlier", on_click=show_more, width="stretch")
    for outline in found.outlines_of(found.runs[-turns:]):
        show_question(outline.run.question)
        show_turn(found, outline)
    if not found.runs:
        st.caption(say("share.not_finished"))
    watch(token, len(found.runs))


token = st.query_params.get("share", "")
found = find(token)
if isinstance(found, UnknownShare):
    show_error(found)
else:
    show_shared(token, found)
