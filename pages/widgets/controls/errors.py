"""Shows errors to people, also those of actions that may be refused."""

from collections.abc import Callable

import streamlit as st

from index_store.base.errors import Failure, PlainError
from pages.words.names import plain, readable
from pages.words.reader import language


def show_error(error: PlainError | Failure) -> None:
    """Shows its sentence, which may contain names from people and documents."""
    st.error(plain(readable(error.sentence(language()))))


def show_warning(error: PlainError | Failure) -> None:
    """Like `show_error`, for a problem that stops nothing."""
    st.warning(plain(readable(error.sentence(language()))))


def run_or_show_error(work: Callable[..., object], *arguments: object) -> bool:
    """Returns whether the work was done. Its error is shown where this is called."""
    try:
        work(*arguments)
    except PlainError as error:
        show_error(error)
        return False
    return True


def run_as_callback(work: Callable[..., object], *arguments: object) -> None:
    """For a button's `on_click`. An error is shown at the top of the page."""
    run_or_show_error(work, *arguments)
