"""Work that a person asked for, and that may be refused."""

from collections.abc import Callable

import streamlit as st

from index_store.base.errors import PlainError
from pages.words import language, plain


def attempt(work: Callable[..., object], *arguments: object) -> bool:
    """Whether it was done; what is wrong is said where this stands; of a button's callback, above the page."""
    try:
        work(*arguments)
    except PlainError as error:
        st.error(plain(error.sentence(language())))
        return False
    return True
