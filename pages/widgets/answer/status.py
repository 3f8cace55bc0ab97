"""Shows the status of an answer: a draft during its checks, then confirmed, or replaced by another."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from pages.words.names import plain, readable
from pages.words.reader import language
from pages.words.say import counted, say
from rag.pipelines import PIPELINES
from rag.runs.run.summary import LISTED, not_loaded
from rag.trace.derived.answers import dropped_answer
from rag.trace.events import Event, RunFinished, RunStarted


def show_answer_status(events: Sequence[Event]) -> None:
    """Shown above the answer."""
    if told := answer_status_html(events):
        st.html(told)


def answer_status_html(events: Sequence[Event]) -> str:
    last, sent_back = events[-1], dropped_answer(events)
    why = say(f"decision.{sent_back.why}") if sent_back else ""
    if sent_back and not sent_back.is_replaced and not isinstance(last, RunFinished):
        return _note("dropped", say("chat.draft_dropped", why=why))
    told = say("chat.draft_replaces", why=why) if sent_back and sent_back.is_replaced else ""
    if not isinstance(last, RunFinished):
        return _note("draft", say("chat.draft"), told) if _checks(events) else ""
    if last.outcome == "confirmed":
        return _note("confirmed", say("outcome.confirmed_note"), told)
    return _note("", told) if told else ""


class EndNote(NamedTuple):
    kind: Literal["failed", "stopped", "note"]
    text: str


def show_end_notes(last: RunFinished) -> None:
    """Shown below the answer: how the run ended."""
    for kind, told in end_notes(last):
        if kind == "failed":
            st.error(plain(readable(told)))
        elif kind == "stopped":
            st.caption(told)
        else:
            st.info(told)


def end_notes(last: RunFinished) -> Iterator[EndNote]:
    if last.error:
        yield EndNote("failed", last.error.sentence(language()))
    elif last.status == "stopped":
        yield EndNote("stopped", say("chat.stopped"))
    elif note := _outcome_note(last):
        yield EndNote("note", note)
    if last.is_cut:
        yield EndNote("note", say(f"cut.{last.cut_by}"))
    if last.pending:
        yield EndNote("note", counted("chat.pending", last.pending))


def _outcome_note(last: RunFinished) -> str:
    """Empty for an outcome that needs none."""
    if last.outcome == "not_in_documents" and not last.citations:
        return say("outcome.nothing_near_note")
    if last.outcome in ("unconfirmed", "not_in_documents", "from_model"):
        return say(f"outcome.{last.outcome}_note")
    return ""


def show_not_loaded(events: Sequence[Event]) -> None:
    """Shown below the answer: why it has nothing of a file that came with its question."""
    if told := told_not_loaded(events):
        st.warning("  \n".join(plain(readable(each)) for each in told))


def told_not_loaded(events: Sequence[Event]) -> list[str]:
    """A sentence for each file that came with the question and could not be loaded."""
    told = [failure.sentence(language()) for failure in not_loaded(events)]
    return [*told[:LISTED], say("job.more", count=len(told) - LISTED)] if len(told) > LISTED else told


def show_unconfirmed(last: RunFinished) -> None:
    """Shown below the answer: which of its parts could not be confirmed."""
    if told := unconfirmed_html(last):
        st.html(told)


def unconfirmed_html(last: RunFinished) -> str:
    if not last.unconfirmed:
        return ""
    claims = "".join(f"<li>{escape(claim)}</li>" for claim in last.unconfirmed)
    return f'<div class="unconfirmed">{escape(say("chat.unconfirmed"))}<ul>{claims}</ul></div>'


def _checks(events: Sequence[Event]) -> bool:
    """Whether the run's pipeline checks its answers."""
    started = events[0]
    flow = PIPELINES.get(started.pipeline) if isinstance(started, RunStarted) else None
    return flow is not None and flow.checks


def _note(kind: str, *sentences: str) -> str:
    between = "" if language() == "ja" else " "
    return f'<p class="answer-status {kind}">{escape(between.join(filter(None, sentences)))}</p>'
