"""Work that may be refused: done, or its error shown."""

from collections.abc import Callable

import streamlit as st

from index_store.base.errors import PlainError
from pages.words import language, plain


def run_or_show_error(work: Callable[..., object], *arguments: object) -> bool:
    """Whether it was done. Its error is shown where this is called."""
    try:
        work(*arguments)
    except PlainError as error:
        st.error(plain(error.sentence(language())))
        return False
    return True


def run_as_callback(work: Callable[..., object], *arguments: object) -> None:
    """For a button's `on_click`, of which an error is shown above the page."""
    run_or_show_error(work, *arguments)
