"""The form of a comparison: a question, and one column per way to answer it; and past comparisons."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from index_store.catalogue.records import Index
from pages import samples
from pages.server.process import engine
from pages.widgets.chat.options import choose_options, show_picked
from pages.widgets.chat.turn.turn import show_end
from pages.widgets.compare.head import head_html, question_html
from pages.widgets.controls.errors import run_or_show_error, show_warning
from pages.widgets.controls.other_page import show_link_to
from pages.widgets.controls.picker import pick
from pages.widgets.index.asked_index import asked_index
from pages.widgets.index.label import asked_index_label
from pages.widgets.index.picked_index import picked_index, picked_index_gone, show_index_picker
from pages.widgets.index.rights import nothing_here
from pages.widgets.trace.panel import headline
from pages.words.amounts import when
from pages.words.names import plain
from pages.words.reader import language
from pages.words.say import counted, say
from rag.pipelines import PIPELINES
from rag.runs.history.conversations.comparison import LEAST_COLUMNS, MOST_COLUMNS
from rag.runs.run.options import RunOptions
from rag.trace.derived.standalone import understood_question
from rag.trace.events import RunFinished, RunStarted

QUESTION = "compared question"
"""in the session: the text in the field"""

TYPED = "typed compared question"
"""in the session: the same, also while another page is open: Streamlit forgets the field with the page"""

USUAL = ("naive", "hybrid", "self_rag", "corrective")
"""default pipelines of the columns, the simplest first"""

LISTED = 10
"""past comparisons in the list at first, and that each press of the button below it adds"""

SAMPLES = 6
"""sample questions that are offered"""


def show_form(beside: str | None) -> None:
    """`beside`: a stored run. It becomes the first column, unchanged, and its question is asked."""
    known = {each.name: each for each in engine().store.indexes()}
    indexes = {name: each for name, each in known.items() if each.documents}
    if beside:
        _show_form_beside(beside, indexes)
    elif indexes:
        if gone := picked_index_gone(known):
            show_warning(gone)
        # With the one that is picked on other pages, whatever is in it: it would not stay picked there.
        picked = picked_index()
        _show_new_form({name: each for name, each in known.items() if name in indexes or name == picked})
    else:
        st.info(nothing_here("compare.nothing_loaded"))
        show_link_to("documents.py", f"→ {say('app.documents')}")


def _show_new_form(indexes: Mapping[str, Index]) -> None:
    st.caption(say("compare.hint"))
    st.session_state.setdefault(QUESTION, st.session_state.get(TYPED, ""))
    words = say("compare.question")
    question = st.text_area(words, key=QUESTION, height=80, placeholder=words, on_change=_keep_typed)
    _keep_typed()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="compare-options"):
        index = _choose_index(indexes)
        count = _choose_count(LEAST_COLUMNS, "new")
    columns = _choose_columns(count, USUAL)
    # The key names the index, as on Documents: a press meant for one that is gone must not reach another one.
    if st.button(f"⇄ {say('compare.begin')}", type="primary", key=f"begin-comparison-{index}"):
        run_or_show_error(_begin, question or "", index, columns, None)
    if index == samples.INDEX:
        _offer_samples()


def _keep_typed() -> None:
    st.session_state[TYPED] = st.session_state[QUESTION]


def _show_form_beside(run_id: str, indexes: Mapping[str, Index]) -> None:
    events = engine().events(run_id)
    if not events:
        st.warning(say("compare.runs_gone"))
        return
    started, last = events[0], events[-1]
    if not isinstance(started, RunStarted):
        return
    question = understood_question(events)
    st.html(question_html(question))
    with st.container(border=True):
        st.html(head_html(0, started))
        if isinstance(last, RunFinished):
            st.caption(headline(events, last.totals.seconds))
            show_end(last, events, f"beside-{run_id}")
        else:
            st.caption(say("status.running"))
    index = asked_index(started)
    if index not in indexes:
        st.warning(say("compare.index_gone", name=plain(started.index)))
        return
    count = _choose_count(LEAST_COLUMNS - 1, run_id)
    columns = _choose_columns(count, [each for each in USUAL if each != started.pipeline], first=1)
    if st.button(f"⇄ {say('compare.begin')}", type="primary", key="begin-comparison"):
        run_or_show_error(_begin, question, index, columns, run_id)


def _begin(question: str, index: str, columns: list[RunOptions], beside: str | None) -> None:
    comparison = engine().comparisons.begin(question, index, columns, beside=beside)
    if not beside:
        st.session_state.pop(TYPED, None)
    st.query_params.pop("runs", None)
    st.query_params["c"] = comparison.id
    st.rerun()


def _choose_index(indexes: Mapping[str, Index]) -> str:
    labels = {name: asked_index_label(index) for name, index in indexes.items()}
    return show_index_picker(say("index.label"), labels, next(iter(labels)), "visible")


def _choose_count(least: int, of: str) -> int:
    """The number of columns to ask. `of`: separates the forms on a page."""
    counts = list(range(least, MOST_COLUMNS - LEAST_COLUMNS + least + 1))
    chosen: int = st.segmented_control(
        say("compare.columns" if least == LEAST_COLUMNS else "compare.others"),
        counts,
        default=least,
        required=True,
        key=f"columns of {of}",
    )
    return chosen


def _choose_columns(count: int, usual: Sequence[str], first: int = 0) -> list[RunOptions]:
    """`first`: number of the first of these columns in the comparison, from 0."""
    with st.container(key=f"columns-{count}"):
        places = st.columns(count, border=True)
    return [_choose_column(place, first + n, usual[n]) for n, place in enumerate(places)]


def _choose_column(place: DeltaGenerator, number: int, usual: str) -> RunOptions:
    of = f" of column {number}"
    with place:
        st.html(head_html(number))
        labels = {name: say(f"pipeline.{name}") for name in PIPELINES}
        # The default is part of the name: the form beside an answer has others, which would stay picked in this one.
        pipeline = pick(f"pipeline{of}, usually {usual}", say("pipeline.label"), labels, usual)
        retrieval, style = choose_options(pipeline, of)
        names = engine().model_names
        model = names[0]
        if len(names) > 1:
            model = pick(f"model{of}", say("compare.model"), {name: name for name in names}, model, "visible")
        show_picked(retrieval, style)
    return RunOptions(pipeline=pipeline, retrieval=retrieval, style=style, model=model)


def _offer_samples() -> None:
    st.caption(say("empty.try"))
    offered = [each for each in samples.questions() if each.language == language()][:SAMPLES]
    with st.container(key="suggestions", gap="xsmall"):
        for number, each in enumerate(offered):
            typed = {QUESTION: each.text}
            st.button(
                each.text, key=f"suggestion-{number}", on_click=st.session_state.update, args=(typed,), width="stretch"
            )


def show_latest() -> None:
    """Shows past comparisons."""
    listed = st.session_state.setdefault("comparisons listed", LISTED)
    latest = engine().comparisons.latest(listed + 1)
    if not latest:
        return
    st.subheader(say("compare.latest"), anchor=False)
    with st.container(gap=None, key="latest-comparisons"):
        for each in latest[:listed]:
            day = when(datetime.fromtimestamp(each.created_at, UTC))
            about = f":small[:gray[{day} · {counted('compare.count', len(each.run_ids))}]]"
            label = f"{plain(each.question[:LONGEST_LABEL])} {about}"
            show_link_to("compare.py", label, {"c": each.id}, width="stretch")
    if len(latest) > listed:
        st.button(say("compare.earlier"), key="more-comparisons", on_click=_list_more, width="stretch")


def _list_more() -> None:
    st.session_state["comparisons listed"] += LISTED


LONGEST_LABEL = 120
"""characters of a question in the list"""
