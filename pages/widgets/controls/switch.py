"""Goes to another page after a press."""

from typing import NoReturn

import streamlit as st

from pages.words.reader import language


def switch_to(page: str, **address: str) -> NoReturn:
    """`address`: parameters for the page."""
    st.switch_page(page, query_params={**address, "lang": language()})
