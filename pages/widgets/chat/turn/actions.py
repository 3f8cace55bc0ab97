"""The actions on an answer: rate it, ask again, compare, copy, share it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import streamlit as st

from pages.server.process import engine
from pages.widgets.answer.copying import show_copy_run
from pages.widgets.chat.ask import ask_like
from pages.widgets.chat.turn.share import show_share
from pages.widgets.controls.errors import run_as_callback, run_or_show_error
from pages.widgets.controls.other_page import show_link_to
from pages.widgets.controls.picker import fresh_key, renew
from pages.words.say import say
from rag.pipelines import PIPELINES
from rag.runs.history.history import LONGEST_REASON, PastRun
from rag.trace.events import Event


def show_actions(run: PastRun, outline: Sequence[Event], go_to: Callable[[str], object]) -> None:
    """`go_to`: called with the conversation of a question that was asked again, to show it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"actions-{run.id}"):
        key = f"feedback-{run.id}"
        thumb = st.feedback(
            "thumbs",
            key=key,
            default=_shown(run.feedback),
            on_change=lambda: _rate(run, key),
        )
        if st.button(f"↻ {say('chat.again')}", key=f"again-{run.id}", type="tertiary"):
            _ask_again(run, outline, run.pipeline, go_to)
        others = f"others-{run.id}"
        with st.popover(say("chat.with_another"), key=fresh_key(others), type="tertiary"):
            for name in PIPELINES:
                label = say(f"pipeline.{name}")
                if name != run.pipeline and st.button(label, key=f"again-{run.id}-{name}", type="tertiary"):
                    renew(others)
                    _ask_again(run, outline, name, go_to)
        show_link_to("compare.py", f"⇄ {say('compare.with')}", {"runs": run.id})
        show_copy_run(outline)
        show_share(run.id, run.question, "share.help_run")
    # Read again: a fragment is drawn with the run as it was before the thumb was taken back, and its reason with it.
    if thumb is not None and (rated := engine().history.run(run.id)):
        _ask_reason(rated)


def _rate(run: PastRun, key: str) -> None:
    """Saves the rating. If that fails, the thumb shows the old one again."""
    if not run_or_show_error(engine().history.rate, run.id, _thumb(st.session_state[key])):
        st.session_state[key] = _shown(run.feedback)


def _ask_reason(run: PastRun) -> None:
    """The person's own reason for the rating."""
    key = f"reason-{run.id}"
    explain = partial(engine().history.explain_feedback, run.id)

    def save() -> None:
        # Not cut by max_chars: the browser drops a longer text that is pasted.
        st.session_state[key] = st.session_state[key][:LONGEST_REASON]
        run_as_callback(explain, st.session_state[key])

    st.text_input(
        say("chat.reason"),
        value=run.feedback_reason or "",
        key=key,
        placeholder=say("chat.reason"),
        label_visibility="collapsed",
        on_change=save,
    )
    if run.feedback_reason and run.feedback_reason == st.session_state[key].strip():
        st.caption(say("chat.reason_kept"))


def _ask_again(run: PastRun, outline: Sequence[Event], pipeline: str, go_to: Callable[[str], object]) -> None:
    def ask() -> None:
        go_to(ask_like(run, outline, run.question, pipeline=pipeline).conversation_id)

    run_or_show_error(ask)  # an older question may be longer than today's limit


def _shown(feedback: Literal[-1, 1] | None) -> int | None:
    return None if feedback is None else int(feedback == 1)


def _thumb(chosen: int | None) -> Literal[-1, 1] | None:
    return None if chosen is None else 1 if chosen else -1
