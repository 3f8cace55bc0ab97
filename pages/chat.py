"""The chat: ask an index through a pipeline, and see every step towards the answer."""

from collections.abc import Mapping
from typing import NoReturn

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from index_store.base.errors import EmptyQuestion, PlainError
from index_store.catalogue.records import Index
from index_store.ingestion.sources import FileSource
from pages import samples
from pages.server.process import engine
from pages.widgets.chat.announce import announce
from pages.widgets.chat.conversation.conversations import show_conversations
from pages.widgets.chat.conversation.drawn_turns import draw_earlier, drawn_turns
from pages.widgets.chat.conversation.in_view import keep_in_view
from pages.widgets.chat.conversation.shown import (
    chosen_branch,
    current_branch,
    current_conversation,
    forget_drawn,
    go_on_with,
    is_drawn,
    open_conversation,
    opened_conversation,
    shown_branch,
)
from pages.widgets.chat.follow_ups import show_follow_ups
from pages.widgets.chat.half_typed import keep_half_typed
from pages.widgets.chat.options import choose_options, show_picked
from pages.widgets.chat.question import show_question_of
from pages.widgets.chat.share import show_share
from pages.widgets.chat.start import show_start
from pages.widgets.chat.turn import show_live, show_past, show_stop
from pages.widgets.controls.errors import run_or_show_error, show_error, show_warning
from pages.widgets.controls.picker import pick
from pages.widgets.controls.uploader import keep, release, show_uploader
from pages.widgets.documents.jobs import jobs, show_jobs
from pages.widgets.index.asked_index import asked_index
from pages.widgets.index.picked_index import pick_index_of, picked_index, picked_index_gone, show_index_picker
from pages.widgets.index.rights import may_add_to, nothing_here
from pages.words import counted, language, say
from rag.pipelines import PIPELINES
from rag.runs.history.conversations.branches import Branch
from rag.runs.history.history import RunOutline
from rag.runs.run.run import Run
from rag.trace.events import RunFinished, Style
from rag.trace.passages import Retrieval

# A comment, because Streamlit would show a string that stands alone on a page.
MOST_PASTED = 1_000_000  # characters: the browser ignores a longer text and can't say so
NO_FILES = '<style>[data-testid="stChatInputFileUploadButton"] { display: none; }</style>'


def ask(
    question: str,
    index: str,
    pipeline: str,
    attachments: list[FileSource] | None = None,
    retrieval: Retrieval | None = None,
    style: Style | None = None,
) -> NoReturn:
    """Opens the conversation. Raises PlainError."""
    run = engine().ask(
        question,
        index=index,
        pipeline_name=pipeline,
        conversation_id=current_conversation(),
        attachments=attachments or [],
        retrieval=retrieval,
        style=style,
        through=shown_branch(current_conversation()),
        suggests=True,
    )
    go_on_with(run)
    open_conversation(run.conversation_id)


def take_said(
    question: str,
    files: list[UploadedFile],
    index: str,
    pipeline: str,
    retrieval: Retrieval | None,
    style: Style | None,
) -> None:
    """Asks a question, adds files, or both. Files of a question that is refused are added too. Raises PlainError."""
    try:
        attached = keep(files)
    finally:
        release(files)
    if question:
        ask(question, index, pipeline, attached, retrieval, style)
    if not attached:
        show_warning(EmptyQuestion())
        return
    engine().store.ingest(index, attached)
    st.rerun()


def show_conversation(
    conversation_id: str, outlines: list[RunOutline], branch: Branch, known_runs: Mapping[str, Run]
) -> bool:
    """Returns whether its last run is in flight. `outlines`: outlines of the last turns of the branch. `known_runs`:
    by id, those that an app works on or remembers.
    """
    if earlier := len(branch.runs) - len(outlines):
        words = say("chat.earlier", count=earlier)
        st.button(words, key="earlier", on_click=draw_earlier, args=(conversation_id,), width="stretch")
    for run, events in outlines:
        show_question_of(run, events, branch)
        live = known_runs.get(run.id)
        if live and not live.is_finished:
            show_live(live, {})
            return True
        # It may have ended since the history was read, or could not be saved.
        show_past(run, live.events if live and not isinstance(events[-1], RunFinished) else events)
    if outlines:
        show_follow_ups(*outlines[-1])
    return False


def show_welcome(indexes: dict[str, Index]) -> None:
    st.header(say("empty.title"), anchor=False)
    are_coming = not all(job.is_finished for job in known_jobs.values())
    if not any(index.documents for index in indexes.values()):
        if are_coming:
            st.info(say("empty.adding"))
            return
        st.write(nothing_here("empty.no_documents"))
        if may_add_to(samples.INDEX):
            offer_samples()
        return
    st.write(say("empty.ask"))
    # Not before all samples are ready: a question whose document is missing would be answered from another.
    if samples.INDEX in indexes and indexes[samples.INDEX].documents and not are_coming:
        show_suggestions()


def offer_samples() -> None:
    is_wanted = st.button(say("empty.load_samples"), type="primary", help=say("empty.samples_help"))
    if is_wanted and run_or_show_error(samples.load, engine().store):
        st.rerun()


def show_suggestions() -> None:
    st.caption(say("empty.try"))
    shown = [each for each in samples.questions() if each.pipeline in PIPELINES]
    shown.sort(key=lambda each: each.language != language())
    with st.container(key="suggestions", gap="xsmall"):
        for number, each in enumerate(shown):
            about = f"{say(f'pipeline.{each.pipeline}')} · {each.shows(language())}"
            if st.button(f"{each.text}  \n:small[:gray[{about}]]", key=f"suggestion-{number}", width="stretch"):
                run_or_show_error(ask, each.text, samples.INDEX, each.pipeline)


def choose_index(indexes: dict[str, Index], latest: str | None) -> str:
    if not indexes:
        return say("index.default")
    usual = next((name for name, index in indexes.items() if index.documents), next(iter(indexes)))
    labels = {
        name: say("index.option", name=name, documents=counted("index.documents", index.documents))
        for name, index in indexes.items()
    }
    return show_index_picker(say("index.label"), labels, latest if latest in indexes else usual)


def choose_pipeline() -> str:
    labels = {name: say(f"pipeline.{name}") for name in PIPELINES}
    return pick("pipeline", say("pipeline.label"), labels, next(iter(labels)))


conversation_id = current_conversation()
# Another tab has deleted the conversation since it was drawn here.
is_deleted = not conversation_id and is_drawn()
known_jobs = jobs()
indexes = {index.name: index for index in engine().store.indexes()}

outlines: list[RunOutline] = []
known_runs: dict[str, Run] = {}
if conversation_id:
    branch = current_branch(conversation_id)
    shown = drawn_turns(conversation_id, branch)
    # Before the history: a run that ends in another app in between is known nowhere but there from then on.
    known_runs = {run_id: run for run_id in branch.runs[-shown:] if (run := engine().run(run_id))}
    outlines = engine().history.outlines(conversation_id, latest=shown, branch=branch)
running = next((run_id for run_id, run in known_runs.items() if not run.is_finished), None)

latest = asked_index(outlines[-1].run) if outlines else None
pick_index_of(conversation_id, latest if latest in indexes else None)
is_renamed = latest in indexes and picked_index() == outlines[-1].run.index
gone = None if is_renamed else picked_index_gone(indexes)

# First, because a question leaves this page: what is drawn before it only delays its answer.
with st.bottom:
    with st.container(key="pickers"):
        index_column, pipeline_column, options_column = st.columns([5, 4, 3], gap="small", wrap=False)
    with index_column:
        index = choose_index(indexes, latest)
    takes_files = may_add_to(index)
    with pipeline_column:
        pipeline = choose_pipeline()
    with options_column:
        retrieval, style = choose_options(pipeline)
    show_picked(retrieval, style)
    show_start()
    if not conversation_id:
        st.caption(say(f"pipeline.{pipeline}_help"))
    if gone:
        show_warning(gone)
    if refused := st.session_state.pop("refused question", None):
        st.session_state.composer, error = refused  # back into the field, so nothing is lost
        if error:
            show_error(error)
    said = st.chat_input(
        say("chat.placeholder" if takes_files else "chat.placeholder_alone"),
        max_chars=MOST_PASTED,
        # Independent of the chosen index: with another value, Streamlit makes a new field and the typed text is lost.
        accept_file="multiple" if engine().store.adds_documents else False,
        key="composer",
        disabled=running is not None,
    )
    if running:
        show_stop(known_runs[running])
    if not takes_files:
        st.html(NO_FILES)

if said:
    # If the field takes no files, Streamlit returns only the text.
    question, files = (said.strip(), []) if isinstance(said, str) else (said.text.strip(), said.files)
    try:
        if gone:
            release(files)
            raise gone
        if question and is_deleted:  # the page says so before a question begins a new conversation
            st.session_state["refused question"] = question, None
            if files:
                take_said("", files, index, pipeline, retrieval, style)
            st.rerun()
        take_said(question, files, index, pipeline, retrieval, style)
    except PlainError as error:
        st.session_state["refused question"] = question, error
        st.rerun()

with st.sidebar:
    show_conversations(conversation_id)

keep_in_view(conversation_id, running, chosen_branch() if conversation_id else None)
announce(running, outlines)
keep_half_typed()
if opened_conversation() and not conversation_id:
    st.warning(say("chat.not_here"))
    forget_drawn()
if conversation_id:
    if (title := engine().history.title(conversation_id, branch)) is not None:
        with st.container(horizontal=True, horizontal_alignment="right", key="conversation-actions"):
            show_share(conversation_id, title, "share.help_conversation", through=branch.end)
    if show_conversation(conversation_id, outlines, branch, known_runs) != (running is not None):
        st.rerun()  # it has ended or begun since the field for questions was drawn
else:
    show_welcome(indexes)

# After the question: taking files reruns the page, which would lose a question sent at the same moment.
with st.sidebar:
    if takes_files:
        show_uploader(index, "sidebar")
    show_jobs(known_jobs)
