"""Errors as people see them, and work that may be refused: done, or its error shown."""

from collections.abc import Callable

import streamlit as st

from index_store.base.errors import Failure, PlainError
from pages.words import language, plain


def show_error(error: PlainError | Failure) -> None:
    """Its sentence, which may name what people and documents have named."""
    st.error(plain(error.sentence(language())))


def show_warning(error: PlainError | Failure) -> None:
    """As `show_error`, of what goes on without."""
    st.warning(plain(error.sentence(language())))


def run_or_show_error(work: Callable[..., object], *arguments: object) -> bool:
    """Whether it was done. Its error is shown where this is called."""
    try:
        work(*arguments)
    except PlainError as error:
        show_error(error)
        return False
    return True


def run_as_callback(work: Callable[..., object], *arguments: object) -> None:
    """For a button's `on_click`, of which an error is shown above the page."""
    run_or_show_error(work, *arguments)
