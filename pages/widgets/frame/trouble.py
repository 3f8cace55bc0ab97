"""What a person should know before they use the app: a part is unavailable, or several apps answer them in turn."""

from html import escape

import streamlit as st

from index_store.base.errors import OriginalsError
from pages.server.process import engine, replica_number
from pages.server.sticky import COOKIE, is_sent_around
from pages.words.say import say

LOOK = 5.0
"""seconds between two checks whether an unavailable part is back"""


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
