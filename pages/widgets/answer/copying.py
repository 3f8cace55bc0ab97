"""Buttons that copy to the clipboard, for the script copy_on_click."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.words.reader import language
from pages.words.say import say
from rag.runs.export.markdown import run_as_markdown
from rag.trace.events import Event, RunFinished


def copy_button(help_key: str) -> str:
    """HTML of a button that copies the text of the next element. `help_key`: key of the text that says as what."""
    words = escape(say("chat.copy"))
    return (
        f'<button class="copy" title="{escape(say(help_key))}" aria-live="polite" data-words="{words}" '
        f'data-copied="{escape(say("chat.copied"))}" data-refused="{escape(say("chat.copy_refused"))}">{words}</button>'
    )


def show_copy_run(events: Sequence[Event]) -> None:
    """Offers a finished run as Markdown with its sources. Shows nothing if it has no answer."""
    last = events[-1]
    if isinstance(last, RunFinished) and last.answer:
        text = escape(run_as_markdown(events, language()))
        st.html(
            f'<div class="copying">{copy_button("chat.copy_markdown")}<textarea hidden readonly rows="8" '
            f'aria-label="{escape(say("chat.copy_markdown"))}">{text}</textarea></div>',
            width="content",
        )
