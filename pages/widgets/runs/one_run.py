"""One run as it was seen live: read it, play it back, ask again, and say why its answer is not good."""

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from pages.server.process import engine
from pages.widgets.chat.turn.turn import show_live, show_past, show_question, show_stop
from pages.widgets.chat.turn.why import show_why
from pages.widgets.controls.other_page import show_link_to, switch_to
from pages.widgets.controls.top import begin_at_top
from pages.widgets.runs.playback import is_playing, offer_playback, show_playback
from pages.widgets.runs.run_list import RUN_LIST
from pages.words.amounts import when
from pages.words.names import plain
from pages.words.say import say
from rag.runs.history.history import PastRun
from rag.trace.derived.cause import cause_of
from rag.trace.events import Event, Origin, RunFinished, started_of


def show_run(run_id: str) -> None:
    begin_at_top(run_id, of="runs")
    st.page_link("runs.py", label=f"← {say('runs.back')}", query_params=RUN_LIST.address())
    run = engine().history.run(run_id)
    live = engine().run(run_id)
    events = engine().history.events(run_id)
    if run is None or not events:
        st.warning(say("runs.gone"))
        return
    with st.container(key="one-run"):
        if live and not isinstance(events[-1], RunFinished):
            # It goes on, has ended since the history was read, or could not be saved. It may also end any moment now.
            events = list(live.events)
        _show_head(run, events)
        show_question(run.question)
        if live and not isinstance(events[-1], RunFinished):
            show_live(live, {})
            with st.bottom:
                show_stop(live)
        elif is_playing(run_id):
            show_playback(run_id)
        else:
            show_past(run, events, is_open=True, go_to=open_in_chat, beneath=partial(_show_why, run_id, events))


def open_in_chat(conversation_id: str) -> None:
    switch_to("chat.py", c=conversation_id)


def _show_head(run: PastRun, events: list[Event]) -> None:
    started = started_of(events)
    told = [when(datetime.fromtimestamp(run.started_at, UTC)), plain(run.index)]
    if started:
        told.append(plain(started.model))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(" · ".join(told), width="stretch")
        if isinstance(events[-1], RunFinished):
            offer_playback(run.id, events)
        _show_place(run, started.origin if started else None)


def _show_place(run: PastRun, origin: Origin | None) -> None:
    """A link to the place where it was asked: a conversation, a comparison, or next to the origin of a fork."""
    page, key, address = "chat.py", "runs.in_chat", {"c": run.conversation_id, "b": run.id}
    if origin and origin.kind == "comparison":
        page, key, address = "compare.py", "runs.in_comparison", {"c": run.conversation_id}
    elif origin and origin.run_id and engine().history.run(origin.run_id):
        page, key, address = "compare.py", "runs.beside_origin", {"runs": f"{origin.run_id},{run.id}"}
        if origin.step:
            address["step"] = f"{origin.step}-{origin.attempt}"
    show_link_to(page, say(key), address)


def _show_why(run_id: str, events: list[Event]) -> None:
    run, finding = engine().history.run(run_id), cause_of(events)
    if run and finding:
        with st.container(border=True, key="why"):
            show_why(run, finding)
