"""Keeps a half-typed question while its reader looks at another page: Streamlit forgets the field with the page."""

import streamlit as st

from pages.widgets.controls.script import show_script


def keep_half_typed() -> None:
    with st.container(key="half-typed"):
        show_script("keep_half_typed")
