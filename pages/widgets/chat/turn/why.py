"""Why a run gave no good answer: as the trace tells it, or as a person says."""

from typing import Literal, cast

import streamlit as st

from pages.server.process import engine
from pages.widgets.controls.errors import run_as_callback
from pages.widgets.controls.fold import show_fold
from pages.widgets.index.asked_index import asked_index
from pages.widgets.index.not_searched import told_not_searched
from pages.widgets.passage.passage_row import passage_row
from pages.words.names import plain
from pages.words.say import counted, say
from rag.runs.history.for_people.run_list import CAUSES
from rag.runs.history.history import PastRun
from rag.trace.derived.cause import Cause, Finding, cause_of, with_thumb_down

BY_TRACE = ""


def offer_why(run_id: str) -> None:
    """A fold with it; nothing below an answer that is good as far as anybody knows."""
    run = engine().history.run(run_id)
    if run is None or not (run.outcome in ("unconfirmed", "not_in_documents") or run.feedback == -1):
        return
    fold = show_fold(say("runs.why_label"), f"why-{run_id}")
    if fold.open:
        finding = cause_of(engine().history.events(run_id))
        with fold:
            if finding:
                show_why(run, finding, "collapsed")  # the fold has the same title
            else:
                st.write(say("runs.unclear"))


def show_why(run: PastRun, finding: Finding, label_visibility: Literal["visible", "collapsed"] = "visible") -> None:
    by_trace = with_thumb_down(finding.cause, run.outcome) if run.feedback == -1 else finding.cause
    is_unclear = by_trace == "none" and run.outcome in ("unconfirmed", "from_model")
    told = say(f"outcome.{run.outcome}") if is_unclear else _named(by_trace)
    labels: dict[str, str] = {
        BY_TRACE: say("runs.by_trace", cause=told),
        **{each: _named(each) for each in CAUSES},
    }
    key = f"cause-{run.id}"
    st.selectbox(
        say("runs.why_label"),
        list(labels),
        index=list(labels).index(run.cause_by_person or BY_TRACE),
        format_func=labels.__getitem__,
        key=key,
        label_visibility=label_visibility,
        on_change=lambda: run_as_callback(_say_why, run.id, st.session_state[key]),
    )
    if run.cause_by_person:
        st.caption(say("runs.by_hand", cause=told))
    cause = run.cause_by_person or by_trace
    if note := _note(cause, run, finding, is_unclear=is_unclear):
        st.write(note)
    if finding.absent:
        st.caption(say("runs.absent", words=plain(" · ".join(finding.absent))))
    if cause in ("no_document", "refused_rightly"):  # what is missing may be in a document that is not searched
        asked = asked_index(run)
        index = next((each for each in engine().store.indexes() if each.name == asked), None)
        if index and (told := told_not_searched(index)):
            st.caption(told)
    if finding.passage:
        st.html(f'<div class="detail">{passage_row(finding.passage)}</div>')


def _note(cause: Cause, run: PastRun, finding: Finding, *, is_unclear: bool) -> str:
    """What the cause means here, and what to do. Empty if a person finds an answer good that the trace does not."""
    if cause == "none" and finding.cause != "none":
        return ""
    if cause == "none" and finding.situation != "reply_cut":
        return say("runs.unclear" if is_unclear else "cause.none_note")
    is_of_trace = not run.cause_by_person or finding.cause == cause
    if not is_of_trace:  # the trace knows nothing of what a person found
        return say("runs.misread_as_none" if _says_none(cause, run) else f"cause.{cause}_note")
    match finding.situation:
        case "no_document_yet":
            return say("runs.no_document_yet")
        case "cut_off":
            return say("runs.not_found_cut_off")
        case "left_out":
            return counted("runs.not_found_or_left_out", finding.left_out)
        case "missed_by_hybrid":
            return say("runs.not_found_by_hybrid")
        case "by_hand":
            return say("runs.graded_away_by_hand")
        case "said_none":
            return say("runs.misread_as_none")
        case "said_none_of_kept":
            return say("runs.misread_of_kept")
        case "not_useful":
            return say("runs.misread_as_not_useful")
        case "reply_cut":
            return say(f"cut.{finding.cut_by}")
        case "from_web":
            return say("runs.from_web")
        case None:
            return say(f"cause.{cause}_note")


def _says_none(cause: Cause, run: PastRun) -> bool:
    """Whether the answer that was misread says that there is none."""
    return cause == "misread" and run.outcome == "not_in_documents"


def _say_why(run_id: str, chosen: str) -> None:
    if chosen in (BY_TRACE, *CAUSES):  # not so if the browser answers with a text of before a switch of language
        engine().run_list.set_cause(run_id, cast(Cause, chosen) if chosen else None)


def _named(cause: Cause) -> str:
    return say(f"cause.{cause}")
