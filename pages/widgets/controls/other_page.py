"""Ways to another page, in the language of this one: a link, which clears the address, and a switch after a press."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.words.reader import language


def show_link_to(
    page: str | StreamlitPage,
    label: str,
    address: Mapping[str, str] = MappingProxyType({}),
    width: Literal["content", "stretch"] = "content",
) -> None:
    """`address`: parameters for the page."""
    st.page_link(page, label=label, query_params={**address, "lang": language()}, width=width)


def switch_to(page: str, **address: str) -> NoReturn:
    """`address`: parameters for the page."""
    st.switch_page(page, query_params={**address, "lang": language()})
