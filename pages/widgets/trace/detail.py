"""The detail of a step: short in its row, complete when it is opened."""

from html import escape

import streamlit as st

from pages.widgets.controls.errors import show_error
from pages.widgets.trace.views import answers, grades, questions, retrieval  # noqa: F401 - each registers its views
from pages.widgets.trace.views.view import view_of
from pages.words.names import plain
from pages.words.reader import language
from pages.words.say import counted, say
from rag.trace.events import StepFinished


def summary(step: StepFinished) -> str:
    """The outcome of a step, for its row; Markdown."""
    return plain(summary_text(step))


def summary_text(step: StepFinished) -> str:
    """The same as plain text."""
    if step.error:
        return say("summary.failed")
    if step.verdict == "stopped":
        return say("summary.stopped")
    told = view_of(step.detail, "").summary() if step.detail else ""
    return f"⚠ {told}" if step.fallback else told


def show_detail(step: StepFinished, index: str) -> None:
    """`index`: as in `detail_html`."""
    if step.error:
        show_error(step.error)
    if step.fallback:
        st.warning(plain(step.fallback.sentence(language())), icon="⚠️")
    st.html(detail_html(step, index))


def detail_html(step: StepFinished, index: str) -> str:
    """`index`: the index that was searched; empty if nothing can be looked up in it."""
    start = say("detail.start", seconds=f"{step.start:.1f}")
    calls = counted("detail.model_calls", step.model_calls)
    if step.tokens_in + step.tokens_out:
        calls = say("detail.calls", calls=calls, tokens_in=step.tokens_in, tokens_out=step.tokens_out)
    footer = f"<footer>{escape(start)} · {escape(calls)}</footer>"
    shown = view_of(step.detail, index).html() if step.detail else ""
    return f'<div class="detail">{shown}{footer}</div>'
