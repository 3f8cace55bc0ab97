"""The form below a finished step: what can be changed, and the button that starts the fork."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from index_store.base.errors import PlainError
from index_store.search.hits import Hit
from index_store.search.searcher import MODES, UNITS
from pages.server.process import engine
from pages.widgets.controls.errors import run_or_show_error, show_error
from pages.widgets.controls.fold import show_fold
from pages.widgets.controls.other_page import switch_to
from pages.widgets.index.asked_index import index_to_ask
from pages.widgets.passage.location import location
from pages.words.names import plain
from pages.words.say import say
from rag.pipelines import PIPELINES
from rag.runs.fork.edits import (
    EDITS,
    ChangeRetrieval,
    Edit,
    EditPrompt,
    EditQuery,
    LeaveOut,
    TakeChunk,
    TakeIn,
    TurnOver,
)
from rag.runs.run.options import LEAST_HITS, MOST_HITS
from rag.trace.derived.answers import writer_of
from rag.trace.derived.known_passages import holds, known_passages
from rag.trace.details import (
    DeclineDetail,
    GenerationDetail,
    GradesDetail,
    GroundingDetail,
    RetrievalDetail,
    RetrievalNeedDetail,
    RewriteDetail,
    UsefulnessDetail,
    WebSearchDetail,
)
from rag.trace.events import Event, RunFinished, RunStarted, StepFinished
from rag.trace.passages import Passage, Retrieval

FOUND_AT_ONCE = 5
"""passages that a search of the index lists"""


def offer_change(events: Sequence[Event], step: StepFinished, key: str) -> None:
    """A fold with the form; nothing for a step that can't be changed, nor in a pipeline that this version does not
    have. `key`: key of its trace.
    """
    last = events[-1]
    if not isinstance(last, RunFinished) or last.status == "stopped" or step.error or step.step not in EDITS:
        return
    if step.verdict == "stopped" and EditPrompt not in EDITS[step.step]:
        return  # a limit cut it off, so it has no outcome that could be changed
    if any(isinstance(each, RunStarted) and each.pipeline not in PIPELINES for each in events):
        return
    key = f"change-{key}-{step.step}-{step.attempt}"
    fold = show_fold(f"✎ {say('change.fold')}", key)
    if fold.open:
        with fold:
            _show_form(events, step, key)


def _show_form(events: Sequence[Event], step: StepFinished, key: str) -> None:
    started = next(each for each in events if isinstance(each, RunStarted))
    st.caption(say("change.help"))
    _show_changed_documents(started.run_id)
    edits = _ask_edits(events, started, step, key)
    if st.button(f"▶ {say('change.run_on')}", key=f"run-on-{key}", type="primary"):
        run_or_show_error(_run_on, started.run_id, step, edits)


def _run_on(run_id: str, step: StepFinished, edits: Sequence[Edit]) -> None:
    fork = engine().forks.begin(run_id, step.step, step.attempt, edits)
    switch_to("compare.py", runs=f"{run_id},{fork.id}", step=f"{step.step}-{step.attempt}")


def _show_changed_documents(run_id: str) -> None:
    changed = engine().forks.changed_documents(run_id)
    for what, titles in (("gone", changed.gone), ("newer", changed.newer)):
        if titles:
            st.warning(say(f"change.{what}", titles=plain(", ".join(titles))))


def _ask_edits(events: Sequence[Event], started: RunStarted, step: StepFinished, key: str) -> list[Edit]:
    match step.detail:
        case RetrievalDetail() as detail:
            has = started.retrieval or PIPELINES[started.pipeline].retrieval
            return _ask_one_of(
                key,
                search=lambda: _ask_search(detail.query, has, key),
                found=lambda: [
                    *_ask_passages(events, step, detail.passages, key),
                    *_ask_others(events, step, detail.unit, started, key),
                ],
            )
        case GradesDetail(grades=grades):
            return _ask_grades({each.passage.number: each.grade.verdict for each in grades}, events, step, key)
        case GenerationDetail(passages=tuple(numbers)) | DeclineDetail(passages=tuple(numbers)) if (
            LeaveOut in EDITS[step.step]
        ):
            known = known_passages(events, step)
            given = [known[each] for each in numbers if each in known]
            if not numbers:  # the model was not asked, so there is no prompt
                return _ask_passages(events, step, given, key)
            return _ask_one_of(
                key,
                passages=lambda: _ask_passages(events, step, given, key),
                prompt=lambda: _ask_prompt(started.run_id, writer_of(events, step), key),
            )
        case RewriteDetail(after=query) | WebSearchDetail(query=query):
            return _ask_query(query, key)
        case GroundingDetail() | UsefulnessDetail():
            return _ask_to_turn_over(step.step, is_yes=step.verdict == "yes")
        case RetrievalNeedDetail(needed=is_needed):  # also in doubt
            return _ask_to_turn_over(step.step, is_yes=is_needed)
        case _:
            return _ask_prompt(started.run_id, writer_of(events, step), key)


def _ask_to_turn_over(step: str, *, is_yes: bool) -> list[Edit]:
    turned = f"{step}_{'no' if is_yes else 'yes'}"
    st.write(say(f"change.{turned}"))
    return [TurnOver()]


def _ask_one_of(key: str, **forms: Callable[[], list[Edit]]) -> list[Edit]:
    """The edits of the chosen form, because only one thing can be changed. `forms`: by name."""
    chosen = st.segmented_control(
        say("change.what"),
        list(forms),
        default=next(iter(forms)),
        required=True,
        format_func=lambda each: say(f"change.{each}"),
        key=f"what-{key}",
        label_visibility="collapsed",
    )
    edits: dict[str, list[Edit]] = {}
    for name, ask in forms.items():
        # The other form is hidden, not left out: Streamlit forgets what was entered in a form that is not drawn.
        with st.container(key=f"{'chosen' if name == chosen else 'unchosen'}-{name}-{key}"):
            edits[name] = ask()
    return edits[chosen]


def _ask_search(query: str, has: Retrieval, key: str) -> list[Edit]:
    edits = _ask_query(query, key)
    mode_column, unit_column, k_column = st.columns(3)
    with mode_column:
        mode = _select("mode", MODES, has.mode, key)
    with unit_column:
        unit = _select("unit", UNITS, has.unit, key)
    with k_column:
        k = st.number_input(say("options.k"), LEAST_HITS, MOST_HITS, has.k, key=f"k-{key}")
    picked = Retrieval(mode=mode, unit=unit, k=k)
    return edits if picked == has else [*edits, ChangeRetrieval(retrieval=picked)]


def _select(name: str, values: Sequence[str], has: str, key: str) -> str:
    at = list(values).index(has) if has in values else 0
    return st.selectbox(
        say(f"options.{name}"), values, at, format_func=lambda each: say(f"search.{each}"), key=f"{name}-{key}"
    )


def _ask_query(query: str, key: str) -> list[Edit]:
    edited = st.text_area(say("change.query_label"), query, key=f"query-{key}")
    return [] if edited.strip() == query.strip() else [EditQuery(query=edited)]


def _ask_passages(events: Sequence[Event], step: StepFinished, given: Sequence[Passage], key: str) -> list[Edit]:
    """`given`: the passages that the step found or received. Other passages of the run can be added."""
    numbers = {each.number for each in given}
    others = [each for number, each in known_passages(events, step).items() if number not in numbers]
    edits: list[Edit] = []
    for passage in (*given, *others):
        is_given = passage.number in numbers
        is_kept = st.checkbox(_named(passage), is_given, key=f"passage-{passage.number}-{key}", help=_text(passage))
        if is_kept != is_given:
            edits.append(TakeIn(passage=passage.number) if is_kept else LeaveOut(passage=passage.number))
    return edits


def _ask_others(events: Sequence[Event], step: StepFinished, unit: str, started: RunStarted, key: str) -> list[Edit]:
    """Searches the whole index for passages that the run has not found. Those that are ticked stay during other
    searches.
    """
    words = st.text_input(say("change.look"), key=f"look-{key}", placeholder=say("change.look_placeholder"))
    new = _look_for(words, events, step, unit, started) if words.strip() else []
    ticked: dict[str, Hit] = st.session_state.get(f"taken-{key}", {})
    offered = ticked | {hit.section_id if unit == "section" else hit.chunk_id: hit for hit in new}
    taken = {
        name: hit
        for name, hit in offered.items()
        if st.checkbox(f"+ {plain(location(hit))}", key=f"chunk-{name}-{key}", help=_text(hit))
    }
    st.session_state[f"taken-{key}"] = taken
    return [TakeChunk(document_id=hit.document_id, chunk_id=hit.chunk_id) for hit in taken.values()]


def _look_for(words: str, events: Sequence[Event], step: StepFinished, unit: str, started: RunStarted) -> list[Hit]:
    try:
        hits = engine().store.search(index_to_ask(started), words, mode="hybrid", unit=unit, k=FOUND_AT_ONCE)
    except PlainError as error:
        show_error(error)
        return []
    known = known_passages(events, step).values()
    new = [hit for hit in hits if not any(holds(each, hit) for each in known)]
    if not new:
        st.caption(say("change.nothing_else"))
    return new


def _ask_grades(verdicts: Mapping[int, str], events: Sequence[Event], step: StepFinished, key: str) -> list[Edit]:
    """An unknown grade counts as relevant, as in the pipeline."""
    known = known_passages(events, step)
    st.caption(say("change.grades"))
    edits: list[Edit] = []
    for number, verdict in verdicts.items():
        counts = verdict != "no"
        passage = known[number]
        if st.checkbox(_named(passage), counts, key=f"grade-{number}-{key}", help=_text(passage)) != counts:
            edits.append(TurnOver(passage=number))
    return edits


def _ask_prompt(run_id: str, step: StepFinished, key: str) -> list[Edit]:
    """The messages of the step's first call."""
    calls = engine().history.calls.of_step(run_id, step.step, step.attempt)
    if not calls or any(each.left_out for each in calls[0].messages):
        st.caption(say("change.no_prompt"))
        return []
    messages = calls[0].messages
    texts = [
        st.text_area(say(f"message.{each.role}"), each.text, height=200, key=f"message-{number}-{key}")
        for number, each in enumerate(messages)
    ]
    edited = tuple(each.model_copy(update={"text": text}) for each, text in zip(messages, texts, strict=True))
    return [] if edited == messages else [EditPrompt(messages=edited)]


def _named(passage: Passage) -> str:
    return f"\\[{passage.number}\\] {plain(location(passage))}"


def _text(passage: Passage | Hit) -> str:
    """As the model reads it."""
    return plain(passage.header + passage.text)
