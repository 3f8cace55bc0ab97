"""What a step of the trace did: in a few words for its row, and in full for whoever opens it."""

from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from urllib.parse import urlencode

import streamlit as st

from pages.widgets.places import link
from pages.words import language, say
from rag.prompts.fence import place
from rag.trace import (
    AnswerCheckDetail,
    Detail,
    DocumentsDetail,
    GenerationDetail,
    Grade,
    GradesDetail,
    GroundingDetail,
    KeywordsDetail,
    ModelDetail,
    Passage,
    RetrievalDetail,
    RewriteDetail,
    StepFinished,
    UsefulnessDetail,
)

LABEL_LENGTH = 60
"""characters of a rewrite that fit a row"""


def summary(step: StepFinished) -> str:
    """The outcome of a step, for its row; Markdown."""
    if step.error:
        return say("summary.failed")
    if step.verdict == "stopped":
        return say("summary.stopped")
    return _plain(_summary(step.detail))


def show(step: StepFinished, index: str) -> None:
    """`index`: the one that was searched."""
    if step.error:
        st.error(step.error.sentence(language()))
    start = say("detail.start", seconds=f"{step.start:.1f}")
    calls = say("detail.calls", calls=step.model_calls, tokens_in=step.tokens_in, tokens_out=step.tokens_out)
    footer = f"<footer>{escape(start)} · {escape(calls)}</footer>"
    st.html(f'<div class="detail">{_full(step.detail)}{_way_to_search(step.detail, index)}{footer}</div>')


def _plain(text: str) -> str:
    """Without what Markdown would read as its own: labels carry words of documents and models."""
    return "".join(f"\\{character}" if character in r"\`*_[]<>$~:" else character for character in text)


def _way_to_search(detail: Detail, index: str) -> str:
    """To the same search on a page of its own."""
    if not isinstance(detail, RetrievalDetail):
        return ""
    asked = {"q": detail.query, "index": index, "unit": detail.unit, "lang": language()}
    if detail.words:
        asked["words"] = " ".join(detail.words)
    if found := len(detail.passages) + detail.left_out:
        asked["k"] = str(found)
    return f"<p>{link(f'search?{urlencode(asked)}', say('detail.look_at_search'))}</p>"


@singledispatch
def _summary(detail: object) -> str:
    return ""


@singledispatch
def _full(detail: object) -> str:
    return ""


@_summary.register
def _(detail: RetrievalDetail) -> str:
    if not detail.passages:
        return say("summary.retrieval_none")
    found = say("summary.retrieval", count=len(detail.passages))
    return f"{found}, {say('summary.trimmed', count=detail.trimmed)}" if detail.trimmed else found


@_full.register
def _(detail: RetrievalDetail) -> str:
    facts = {
        "detail.query": detail.query,
        "detail.search": f"{say(f'search.{detail.mode}')} · {say(f'search.{detail.unit}')}",
    }
    if detail.words:
        facts["detail.words"] = ", ".join(detail.words)
    if detail.left_out:
        facts["detail.left_out"] = str(detail.left_out)
    listed = "".join(_entry(passage, _ranks(passage, detail.mode)) for passage in detail.passages)
    return _facts(facts) + listed


@_summary.register
def _(detail: KeywordsDetail) -> str:
    return say(f"keywords.{detail.why}") if detail.why else ", ".join(detail.words)


@_full.register
def _(detail: KeywordsDetail) -> str:
    facts = {"detail.question": detail.question}
    if detail.why:
        facts["detail.own_words"] = ", ".join(detail.own_words)
    else:
        facts["detail.words"] = ", ".join(detail.words)
    if invented := [word for word in detail.named if word not in detail.words]:
        facts["detail.not_used"] = ", ".join(invented)
    if detail.error:
        facts["detail.reason"] = detail.error.sentence(language())
    return _facts({key: fact for key, fact in facts.items() if fact})


@_summary.register
def _(detail: GradesDetail) -> str:
    return say("summary.grades", relevant=detail.relevant, count=len(detail.grades))


@_full.register
def _(detail: GradesDetail) -> str:
    return "".join(
        _entry(
            each.passage,
            _grade(each.grade, prefix="relevant_")
            + (f'<span class="known">{escape(say("detail.known"))}</span>' if each.known else ""),
        )
        for each in detail.grades
    )


@_summary.register
def _(detail: GenerationDetail) -> str:
    if not detail.passages:
        return ""
    return say("summary.generation", count=len(detail.text), passages=len(detail.passages))


@_full.register
def _(detail: GenerationDetail) -> str:
    given = _numbers(detail.passages)
    return _facts({"detail.given": given or say("detail.no_source"), "detail.written": detail.text})


@_summary.register
def _(detail: RewriteDetail) -> str:
    if detail.refused is not None:
        return say("summary.rewrite_refused")
    after = detail.after if len(detail.after) <= LABEL_LENGTH else detail.after[:LABEL_LENGTH] + "…"
    return say("summary.rewrite", after=after)


@_full.register
def _(detail: RewriteDetail) -> str:
    facts = {"detail.before": detail.before, "detail.after": detail.after}
    if detail.refused is not None:
        facts["detail.refused"] = detail.refused
    return _facts(facts)


@_summary.register
def _(detail: GroundingDetail) -> str:
    if detail.grade.verdict != "yes":
        return say("summary.unknown" if detail.grade.verdict == "unknown" else "summary.not_supported")
    sources = sorted({number for claim in detail.claims for number in claim.sources})
    return say("summary.supported", sources=_numbers(sources)) if sources else say("summary.supported_plain")


@_full.register
def _(detail: GroundingDetail) -> str:
    claims = "".join(
        f"<tr><td>{escape(claim.text)}</td><td>{escape(_numbers(claim.sources) or say('detail.no_source'))}</td></tr>"
        for claim in detail.claims
    )
    heads = f"<th>{escape(say('detail.claim'))}</th><th>{escape(say('detail.claim_sources'))}</th>"
    return f"{_grade(detail.grade)}<table><tr>{heads}</tr>{claims}</table>"


@_summary.register
def _(detail: UsefulnessDetail) -> str:
    return say(
        {"yes": "summary.useful", "no": "summary.not_useful", "unknown": "summary.unknown"}[detail.grade.verdict]
    )


@_full.register
def _(detail: UsefulnessDetail) -> str:
    return _grade(detail.grade)


@_summary.register
def _(detail: AnswerCheckDetail) -> str:
    passed = detail.grounding.verdict == detail.usefulness.verdict == "yes"
    return say("summary.good" if passed else "summary.bad")


@_full.register
def _(detail: AnswerCheckDetail) -> str:
    named = (("detail.grounding", detail.grounding), ("detail.usefulness", detail.usefulness))
    return "".join(f"<h6>{escape(say(name))}</h6>{_grade(grade)}" for name, grade in named)


@_summary.register
def _(detail: DocumentsDetail) -> str:
    failed = sum(each.error is not None for each in detail.added)
    return say("summary.documents", ready=len(detail.added) - failed, failed=failed)


@_full.register
def _(detail: DocumentsDetail) -> str:
    def told(error, sections: int) -> str:
        return error.sentence(language()) if error else f"✓ {sections}"

    lines = (f"<li>{escape(each.source)}: {escape(told(each.error, each.sections))}</li>" for each in detail.added)
    return f"<ul>{''.join(lines)}</ul>"


@_summary.register
def _(detail: ModelDetail) -> str:
    return say("summary.model", name=detail.name)


def _entry(passage: Passage, verdict: str) -> str:
    page = f" · {escape(say('detail.page', page=passage.page))}" if passage.page else ""
    return (
        f'<details class="passage"><summary><b>[{passage.number}]</b> {escape(place(passage))}{page} '
        f"{verdict}</summary><pre>{_found(passage)}</pre>{_notes(passage)}</details>"
    )


def _found(passage: Passage) -> str:
    """Its text; where that is more than the chunk that was found, with the chunk marked."""
    text, (start, end) = passage.text, passage.found
    if not text[:start].strip() and not text[end:].strip():
        return escape(text)
    return f"{escape(text[:start])}<mark>{escape(text[start:end])}</mark>{escape(text[end:])}"


def _notes(passage: Passage) -> str:
    notes = [passage.source]
    if passage.section_length is not None:
        notes.append(say("detail.trimmed", count=len(passage.text), whole=passage.section_length))
    if passage.copies:
        copies = " / ".join(f"{each.title} ({each.source})" for each in passage.copies)
        notes.append(say("search.copies", places=copies))
    return "".join(f"<small>{escape(note)}</small>" for note in notes)


def _ranks(passage: Passage, mode: str) -> str:
    """#2 by vector (0.871) · #1 by keyword (0.90) · fused 0.0325"""
    if passage.vector_rank is None and passage.keyword_rank is None:  # a run of before they were noted
        told = [f"{say('detail.score')} {passage.score:.3f}"]
    else:
        told = []
        if mode != "keyword":
            told.append(_rank("vector", passage.vector_rank, passage.vector_score))
        if mode != "vector":
            told.append(_rank("keyword", passage.keyword_rank, passage.keyword_score))
        if mode == "hybrid":
            told.append(say("detail.fused", score=f"{passage.score:.4f}"))
    return f'<span class="score">{escape(" · ".join(told))}</span>'


def _rank(side: str, rank: int | None, score: float | None) -> str:
    if rank is None:
        return say(f"detail.{side}_missing")
    return f"{say(f'search.{side}_rank', rank=rank)} ({score:.3f})"


def _grade(grade: Grade, prefix: str = "") -> str:
    word = say(f"detail.{prefix}{grade.verdict}" if grade.verdict != "unknown" else "detail.unknown")
    shown = f'<span class="verdict {grade.verdict}">{escape(word)}</span>'
    if grade.score is not None:
        shown += f'<meter min="0" max="1" low="0.5" value="{grade.score:.3f}"></meter>'
        shown += f'<span class="score">{grade.score:.2f}</span>'
    if grade.margin is not None and grade.cut is not None:
        told = say("detail.margin", margin=f"{grade.margin:+.1f}", cut=f"{grade.cut:+.1f}")
        shown += f'<span class="margin">{escape(told)}</span>'
    if grade.reason:
        shown += f'<span class="reason">{escape(grade.reason)}</span>'
    return f'<span class="grade">{shown}</span>'


def _facts(facts: dict[str, str]) -> str:
    items = "".join(f"<dt>{escape(say(key))}</dt><dd>{escape(value)}</dd>" for key, value in facts.items())
    return f"<dl>{items}</dl>"


def _numbers(numbers: Iterable[int] | Sequence[int]) -> str:
    return " ".join(f"[{number}]" for number in numbers)
