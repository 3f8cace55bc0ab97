"""Which conversation the page shows: its address says so, to survive a reload; the session, while the page is open.

The session has the last word, since a fragment's refresh that was on its way still carries the address of before.
"""

from typing import NoReturn

import streamlit as st

from pages.process import engine


def current_conversation() -> str | None:
    named: str | None = st.session_state.setdefault("conversation", st.query_params.get("c"))
    if not named or not engine().history.conversation_exists(named):
        return None
    if st.query_params.get("c") != named:
        st.query_params["c"] = named
    return named


def open_conversation(conversation_id: str | None) -> NoReturn:
    """None opens a new one."""
    st.session_state.conversation = conversation_id
    if conversation_id:
        st.query_params["c"] = conversation_id
    else:
        st.query_params.pop("c", None)
    st.rerun()
