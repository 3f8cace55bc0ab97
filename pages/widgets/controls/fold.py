"""A part of a page that is drawn while it is open."""

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer


def show_fold(title: str, key: str, is_open: bool = False) -> ExpanderContainer:
    """It stays as it is when its title changes, for example with the language; Streamlit's own closes. `is_open`: at
    first.
    """
    drawn = f"fold {key}"
    last_title, was_open = st.session_state.get(drawn, (title, is_open))
    if title != last_title:
        st.session_state[key] = was_open
    fold = st.expander(title, is_open, key=key, on_change="rerun")
    st.session_state[drawn] = title, fold.open
    return fold
