"""Shows errors to people, also those of actions that may be refused."""

from collections.abc import Callable
from html import escape

import streamlit as st

from index_store.base.errors import Failure, OriginalsError, PlainError
from pages.server.process import engine, replica_number
from pages.server.sticky import COOKIE, is_sent_around
from pages.words import language, plain, readable, say

LOOK = 5.0
"""seconds between two checks whether an unavailable part is back"""


def show_error(error: PlainError | Failure) -> None:
    """Shows its sentence, which may contain names from people and documents."""
    st.error(plain(readable(error.sentence(language()))))


def show_warning(error: PlainError | Failure) -> None:
    """Like `show_error`, for a problem that stops nothing."""
    st.warning(plain(readable(error.sentence(language()))))


def show_trouble() -> None:
    """A yellow warning while a part is unavailable and the rest works. It disappears by itself."""
    if engine().store.trouble:
        st.fragment(_show_trouble, run_every=LOOK)()


def _show_trouble() -> None:
    if trouble := engine().store.trouble:
        what = "app.originals_away" if isinstance(trouble, OriginalsError) else "app.vectors_away"
        st.html(f'<p class="light" role="status">{escape(say(what))}</p>')


def show_sent_around() -> None:
    """A warning if several apps answer this browser in turn, before an upload or a sign-in fails."""
    if is_sent_around(st.context.cookies.get(COOKIE), replica_number()):
        st.warning(say("app.not_sticky"))


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
