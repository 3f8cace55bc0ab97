"""A button that shows a sign in place of its words, which are its name and its help."""

from collections.abc import Mapping

import streamlit as st


def sign_button(name: str, words: str, session: Mapping[str, object], *, disabled: bool = False) -> None:
    """`name`: which sign, as in style.css, and of what; `session`: what the session holds once it is pressed."""
    st.button(
        words,
        key=f"sign-{name}",
        type="tertiary",
        help=words,
        disabled=disabled,
        on_click=st.session_state.update,
        args=(session,),
    )
