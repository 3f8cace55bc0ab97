"""The list of all conversations in the sidebar."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

import streamlit as st

from index_store.base.text.words import LONGEST_WORDS
from pages.server.process import engine
from pages.widgets.chat.conversation.shown import open_conversation
from pages.widgets.chat.conversation.sign_button import sign_button
from pages.widgets.controls.errors import run_or_show_error
from pages.widgets.controls.focus import focus
from pages.words.names import plain
from pages.words.reader import zone
from pages.words.say import say
from rag.runs.history.conversations.conversations import Conversation

LISTED = 30
"""conversations in the list: each costs a third of a millisecond in every redraw"""
MORE = 100
"""conversations that each press of the button below the list adds"""
RENAMED = "renamed conversation"
"""in the session: the conversation whose title is being edited"""


def show_conversations(current: str | None) -> None:
    if st.button(f"+ {say('sidebar.new_chat')}", width="stretch", key="new-chat"):
        open_conversation(None)
    history = engine().history
    count = history.conversations.count()
    if words := _ask_words() if count > LISTED else "":
        count = history.conversations.count(words)
    listed = st.session_state.setdefault("conversations listed", LISTED)
    found = history.conversations.listed(words, latest=listed)
    named = history.conversations.get(current) if current else None
    # It is older than all in the list. By its id, because another tab may have renamed it since the list was read.
    if named and not words and named.id not in {each.id for each in found}:
        found.append(named)
    _show_list(found, current)
    if words and not found:
        st.caption(say("sidebar.none_found"))
    if count > listed:
        st.button(
            say("sidebar.more", count=count - listed), key="more-conversations", on_click=_list_more, width="stretch"
        )


def _ask_words() -> str:
    words = st.text_input(
        say("sidebar.search"),
        placeholder=say("sidebar.search"),
        label_visibility="collapsed",
        key="conversation words",
    )
    return words[:LONGEST_WORDS]  # not by max_chars: the browser drops a longer text that is pasted


def _offer_to_rename(conversation: Conversation) -> None:
    """If the button is pressed a second time, the title stays as it is."""
    begins = st.session_state.get(RENAMED) != conversation.id
    sign_button(f"rename-{conversation.id}", say("sidebar.rename"), {RENAMED: conversation.id if begins else None})


def _ask_title(conversation: Conversation) -> None:
    key = f"title-{conversation.id}"
    st.text_input(
        say("sidebar.rename"),
        value=conversation.title,
        key=key,
        label_visibility="collapsed",
        on_change=lambda: _rename(conversation.id, st.session_state[key]),
    )


def _rename(conversation_id: str, title: str) -> None:
    if run_or_show_error(engine().history.conversations.rename, conversation_id, title):
        st.session_state[RENAMED] = None


def _list_more() -> None:
    st.session_state["conversations listed"] += MORE


def _show_list(conversations: Sequence[Conversation], current: str | None) -> None:
    here = ZoneInfo(zone())
    today = datetime.now(here).date()
    shown: str | None = None
    for conversation in conversations:
        day = datetime.fromtimestamp(conversation.updated_at, here).date()
        group = say("sidebar.today" if day >= today else "sidebar.earlier")  # after today: the clock was set back
        if group != shown:
            st.caption(group)
            shown = group
        if conversation.id == current:
            with st.container(horizontal=True, wrap=False, gap=None, key="current-conversation"):
                _show_current(conversation)
        else:
            _show_title(conversation, "tertiary")


def _show_title(conversation: Conversation, kind: Literal["secondary", "tertiary"]) -> None:
    if st.button(plain(conversation.title), key=f"open-{conversation.id}", type=kind, width="stretch"):
        open_conversation(conversation.id)


def _show_current(conversation: Conversation) -> None:
    if conversation.id == st.session_state.get(RENAMED):
        _ask_title(conversation)
        focus(f"title-{conversation.id}")
    else:
        _show_title(conversation, "secondary")
    _offer_to_rename(conversation)
    with st.popover(say("sidebar.delete"), key=f"sign-delete-{conversation.id}", type="tertiary"):
        st.write(say("sidebar.delete_help"))
        if st.button(say("sidebar.delete_really"), type="primary", key="danger-delete-conversation") and (
            run_or_show_error(engine().delete_conversation, conversation.id)
        ):
            open_conversation(None)
