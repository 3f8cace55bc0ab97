"""A question of the conversation on the page, with links to its siblings and a field to edit it."""

from collections.abc import Sequence

import streamlit as st

from pages.server.process import engine
from pages.widgets.chat.ask import ask_like
from pages.widgets.chat.conversation.shown import choice_of, open_conversation
from pages.widgets.chat.conversation.sign_button import sign_button
from pages.widgets.chat.turn.turn import USER, show_question
from pages.widgets.controls.errors import run_or_show_error
from pages.widgets.controls.focus import focus
from pages.words.say import say
from rag.runs.history.conversations.branches import Branch
from rag.runs.history.history import PastRun
from rag.trace.events import Event

EDITED = "edited question"
"""in the session: the run whose question is being edited"""


def show_question_of(run: PastRun, events: Sequence[Event], branch: Branch) -> None:
    """Shows the question, links to its siblings, and a button to edit it."""
    if st.session_state.get(EDITED) == run.id:
        _show_editor(run, events)
        return
    show_question(run.question)
    siblings = branch.siblings_of(run.id)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"question-{run.id}"):
        if len(siblings) > 1:
            at = siblings.index(run.id)
            _show_step("before", say("chat.wording_before"), siblings[at - 1] if at else None, run.id)
            st.caption(f"{at + 1}/{len(siblings)}", width="content")
            _show_step("after", say("chat.wording_after"), siblings[at + 1] if at + 1 < len(siblings) else None, run.id)
        sign_button(f"edit-{run.id}", say("chat.edit"), {EDITED: run.id})


def _show_step(side: str, words: str, sibling: str | None, run_id: str) -> None:
    """A link to a sibling, if there is one on that side."""
    sign_button(f"{side}-{run_id}", words, {**choice_of(sibling), EDITED: None}, disabled=sibling is None)


def _show_editor(run: PastRun, events: Sequence[Event]) -> None:
    with st.chat_message("user", avatar=USER), st.form(f"editor-{run.id}", border=False):
        text = st.text_area(say("chat.edit"), value=run.question, key=f"wording-{run.id}", label_visibility="collapsed")
        with st.container(horizontal=True, gap="small"):
            asks = st.form_submit_button(say("chat.ask"), type="primary")
            cancels = st.form_submit_button(say("chat.cancel_edit"))
    focus(f"wording-{run.id}")
    if cancels:
        st.session_state[EDITED] = None
        st.rerun()
    if asks:
        run_or_show_error(_ask_instead, run, events, text)


def _ask_instead(run: PastRun, events: Sequence[Event], question: str) -> None:
    """Also stops the answer to the wording before: it may still be written, and the new one waits behind it."""
    asked = ask_like(run, events, question, edits=run.id)
    if replaced := engine().run(run.id):
        replaced.stop()
    st.session_state[EDITED] = None
    open_conversation(asked.conversation_id)
