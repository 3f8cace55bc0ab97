"""Puts the focus into a field that has just appeared: the button that was pressed for it is gone."""

import streamlit as st

from pages.widgets.controls.script import show_script


def focus(key: str) -> None:
    """`key`: of the field."""
    with st.container(key="focus"):
        show_script("focus_field", focus=key)
