"""Beside every conversation: a new one, and the earlier ones."""

import datetime
from typing import Literal

import streamlit as st

from pages.conversation import open_conversation
from pages.process import engine
from pages.words import plain, say


def show_conversations(current: str | None) -> None:
    if st.button(f"+ {say('sidebar.new_chat')}", width="stretch", key="new-chat"):
        open_conversation(None)
    today = datetime.date.today()
    shown: str | None = None
    for conversation in engine().history.conversations():
        day = datetime.date.fromtimestamp(conversation.updated_at)
        group = say("sidebar.today" if day == today else "sidebar.earlier")
        if group != shown:
            st.caption(group)
            shown = group
        with st.container(horizontal=True, wrap=False, gap=None, key=f"conversation-{conversation.id}"):
            kind: Literal["secondary", "tertiary"] = "secondary" if conversation.id == current else "tertiary"
            if st.button(plain(conversation.title), key=f"open-{conversation.id}", type=kind, width="stretch"):
                open_conversation(conversation.id)
            if conversation.id == current and st.button(
                "×", key=f"delete-{conversation.id}", type="tertiary", help=say("sidebar.delete")
            ):
                engine().delete_conversation(conversation.id)
                open_conversation(None)
