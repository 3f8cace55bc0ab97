"""The chat: ask an index through a pipeline, and see every step towards the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.elements.widgets.chat import ChatInputValue

from index_store.base.errors import PlainError
from index_store.catalogue.records import Index
from pages.server.process import engine
from pages.widgets.chat.ask import Picked, take_said
from pages.widgets.chat.conversation.conversations import show_conversations
from pages.widgets.chat.conversation.drawn_turns import draw_earlier, drawn_turns
from pages.widgets.chat.conversation.in_view import keep_in_view
from pages.widgets.chat.conversation.shown import (
    chosen_branch,
    current_branch,
    current_conversation,
    forget_drawn,
    is_drawn,
    opened_conversation,
)
from pages.widgets.chat.follow_ups import show_follow_ups
from pages.widgets.chat.half_typed import keep_half_typed
from pages.widgets.chat.options import choose_options, show_picked
from pages.widgets.chat.start import show_start
from pages.widgets.chat.turn.announce import announce
from pages.widgets.chat.turn.question import show_question_of
from pages.widgets.chat.turn.share import show_share
from pages.widgets.chat.turn.turn import show_live, show_past, show_stop
from pages.widgets.chat.welcome import show_welcome
from pages.widgets.controls.errors import show_error, show_warning
from pages.widgets.controls.picker import pick
from pages.widgets.controls.uploader import release, show_uploader
from pages.widgets.documents.jobs import jobs, show_jobs
from pages.widgets.index.asked_index import asked_index
from pages.widgets.index.label import asked_index_label
from pages.widgets.index.picked_index import pick_index_of, picked_index, picked_index_gone, show_index_picker
from pages.widgets.index.rights import may_add_to
from pages.words.say import say
from rag.pipelines import PIPELINES
from rag.runs.history.conversations.branches import Branch
from rag.runs.history.history import PastRun, RunOutline
from rag.runs.run.run import Run
from rag.trace.events import RunFinished

MOST_PASTED = 1_000_000
"""characters: the browser ignores a longer text and can't say so"""

NO_FILES = '<style>[data-testid="stChatInputFileUploadButton"] { display: none; }</style>'
REFUSED = "refused question"
"""in the session: the question, and the error if there is one"""


@dataclass(frozen=True)
class Turns:
    """The last turns of the conversation on the page, as they were when the page began to be drawn."""

    branch: Branch
    outlines: Sequence[RunOutline]
    """of its last runs"""
    known_runs: Mapping[str, Run]
    """by id, those that an app works on or remembers"""
    running: str | None
    """the run that was in flight"""

    @property
    def latest(self) -> PastRun | None:
        return self.outlines[-1].run if self.outlines else None


def read_turns(conversation_id: str | None) -> Turns:
    if not conversation_id:
        return Turns(Branch(), (), {}, None)
    branch = current_branch(conversation_id)
    shown = drawn_turns(conversation_id, branch)
    # Before the history: a run that ends in another app in between is known nowhere but there from then on.
    known_runs = {run_id: run for run_id in branch.runs[-shown:] if (run := engine().run(run_id))}
    outlines = engine().history.outlines(conversation_id, latest=shown, branch=branch)
    running = next((run_id for run_id, run in known_runs.items() if not run.is_finished), None)
    return Turns(branch, outlines, known_runs, running)


def index_asked_last(latest: PastRun | None, indexes: Mapping[str, Index]) -> str | None:
    """None if there is no such index any more, or the conversation is a new one."""
    asked = asked_index(latest) if latest else None
    return asked if asked in indexes else None


def why_index_is_gone(latest: PastRun | None, asked: str | None, indexes: dict[str, Index]) -> PlainError | None:
    """None also if the picked index is the one that the conversation asks, by its name before."""
    is_renamed = latest is not None and asked is not None and picked_index() == latest.index
    return None if is_renamed else picked_index_gone(indexes)


def choose_index(indexes: Mapping[str, Index], asked: str | None) -> str:
    if not indexes:
        return engine().store.free_name(say("index.default"))
    usual = next((name for name, index in indexes.items() if index.documents), next(iter(indexes)))
    labels = {name: asked_index_label(index) for name, index in indexes.items()}
    return show_index_picker(say("index.label"), labels, asked or usual)


def choose_pipeline() -> str:
    labels = {name: say(f"pipeline.{name}") for name in PIPELINES}
    return pick("pipeline", say("pipeline.label"), labels, next(iter(labels)))


def show_pickers(indexes: Mapping[str, Index], asked: str | None) -> Picked:
    with st.container(key="pickers"):
        index_column, pipeline_column, options_column = st.columns([5, 4, 3], gap="small", wrap=False)
    with index_column:
        index = choose_index(indexes, asked)
    with pipeline_column:
        pipeline = choose_pipeline()
    with options_column:
        retrieval, style = choose_options(pipeline)
    show_picked(retrieval, style)
    return Picked(index, pipeline, retrieval, style)


def show_composer(turns: Turns, *, takes_files: bool) -> str | ChatInputValue | None:
    """Returns what was sent: only the text if the field takes no files."""
    if refused := st.session_state.pop(REFUSED, None):
        st.session_state.composer, error = refused  # back into the field, so nothing is lost
        if error:
            show_error(error)
    said = st.chat_input(
        say("chat.placeholder" if takes_files else "chat.placeholder_alone"),
        max_chars=MOST_PASTED,
        # Independent of the chosen index: with another value, Streamlit makes a new field and the typed text is lost.
        accept_file="multiple" if engine().store.adds_documents else False,
        key="composer",
        disabled=turns.running is not None,
    )
    if turns.running:
        show_stop(turns.known_runs[turns.running])
    if not takes_files:
        st.html(NO_FILES)
    return said


def send(said: str | ChatInputValue, picked: Picked, *, gone: PlainError | None, is_deleted: bool) -> None:
    """`gone`: what has become of the picked index; `is_deleted`: another tab has deleted the conversation."""
    question, files = (said.strip(), []) if isinstance(said, str) else (said.text.strip(), said.files)
    try:
        if gone:
            release(files)
            raise gone
        if question and is_deleted:  # the page says so before a question begins a new conversation
            st.session_state[REFUSED] = question, None
            if files:
                take_said("", files, picked)
            st.rerun()
        take_said(question, files, picked)
    except PlainError as error:
        st.session_state[REFUSED] = question, error
        st.rerun()


def show_turns(conversation_id: str, turns: Turns) -> bool:
    """Returns whether its last run is in flight."""
    if earlier := len(turns.branch.runs) - len(turns.outlines):
        words = say("chat.earlier", count=earlier)
        st.button(words, key="earlier", on_click=draw_earlier, args=(conversation_id,), width="stretch")
    for run, events in turns.outlines:
        show_question_of(run, events, turns.branch)
        live = turns.known_runs.get(run.id)
        if live and not live.is_finished:
            show_live(live, {})
            return True
        # It may have ended since the history was read, or could not be saved.
        show_past(run, live.events if live and not isinstance(events[-1], RunFinished) else events)
    if turns.outlines:
        show_follow_ups(*turns.outlines[-1])
    return False


def show_conversation(conversation_id: str, turns: Turns) -> None:
    if (title := engine().history.title(conversation_id, turns.branch)) is not None:
        with st.container(horizontal=True, horizontal_alignment="right", key="conversation-actions"):
            show_share(conversation_id, title, "share.help_conversation", through=turns.branch.end)
    if show_turns(conversation_id, turns) != (turns.running is not None):
        st.rerun()  # it has ended or begun since the field for questions was drawn


def show_page() -> None:
    conversation_id = current_conversation()
    # Another tab has deleted the conversation since it was drawn here.
    is_deleted = not conversation_id and is_drawn()
    known_jobs = jobs()
    indexes = {index.name: index for index in engine().store.indexes()}
    turns = read_turns(conversation_id)
    asked = index_asked_last(turns.latest, indexes)
    pick_index_of(conversation_id, asked)
    gone = why_index_is_gone(turns.latest, asked, indexes)

    # First, because a question leaves this page: what is drawn before it only delays its answer.
    with st.bottom:
        picked = show_pickers(indexes, asked)
        takes_files = may_add_to(picked.index)
        show_start()
        if not conversation_id:
            st.caption(say(f"pipeline.{picked.pipeline}_help"))
        if gone:
            show_warning(gone)
        said = show_composer(turns, takes_files=takes_files)
    if said:
        send(said, picked, gone=gone, is_deleted=is_deleted)

    with st.sidebar:
        show_conversations(conversation_id)

    keep_in_view(conversation_id, turns.running, chosen_branch() if conversation_id else None)
    announce(turns.running, turns.outlines)
    keep_half_typed()
    if opened_conversation() and not conversation_id:
        st.warning(say("chat.not_here"))
        forget_drawn()
    if conversation_id:
        show_conversation(conversation_id, turns)
    else:
        show_welcome(indexes, are_coming=not all(job.is_finished for job in known_jobs.values()))

    # After the question: taking files reruns the page, which would lose a question sent at the same moment.
    with st.sidebar:
        if takes_files:
            show_uploader(picked.index, "sidebar")
        show_jobs(known_jobs)


show_page()
