"""What a step of the trace did: in a few words for its row, and in full for whoever opens it."""

from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from urllib.parse import urlencode

import streamlit as st

from pages.widgets.beam import attempts_table, candidates_table
from pages.widgets.entry import entry, outside, ranks
from pages.widgets.grade import grade_html, grounding_html, meter_html, usefulness_html
from pages.widgets.places import link
from pages.words import counted, language, say
from rag.trace.details import (
    AnswerCheckDetail,
    AssessmentDetail,
    AttemptsDetail,
    CandidatesDetail,
    DeclineDetail,
    Detail,
    DocumentsDetail,
    DraftDetail,
    GenerationDetail,
    GradesDetail,
    GroundingDetail,
    KeywordsDetail,
    ModelDetail,
    RefinementDetail,
    RetrievalDetail,
    RetrievalNeedDetail,
    RewriteDetail,
    RouteDetail,
    StandaloneDetail,
    UsefulnessDetail,
    WebSearchDetail,
)
from rag.trace.events import StepFinished

LABEL_LENGTH = 60
"""characters of a rewrite that fit a row"""


def summary(step: StepFinished) -> str:
    """The outcome of a step, for its row; Markdown."""
    if step.error:
        return say("summary.failed")
    if step.verdict == "stopped":
        return say("summary.stopped")
    return _plain(f"⚠ {_summary(step.detail)}" if step.fallback else _summary(step.detail))


def show(step: StepFinished, index: str) -> None:
    """`index`: the one that was searched."""
    if step.error:
        st.error(step.error.sentence(language()))
    if step.fallback:
        st.warning(step.fallback.sentence(language()), icon="⚠️")
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
    found = counted("summary.passages", len(detail.passages))
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
    listed = "".join(entry(passage, ranks(passage, detail.mode)) for passage in detail.passages)
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
        entry(
            each.passage,
            grade_html(each.grade, prefix="relevant_")
            + (f'<span class="known">{escape(say("detail.known"))}</span>' if each.known else "")
            + (f'<span class="reason">{escape(each.error.sentence(language()))}</span>' if each.error else ""),
        )
        for each in detail.grades
    )


@_summary.register
def _(detail: GenerationDetail) -> str:
    if not detail.passages:
        return ""
    key = "summary.drafted" if detail.drafted else "summary.generation"
    return _written(key, detail)


@_full.register
def _(detail: GenerationDetail) -> str:
    given = _numbers(detail.passages)
    return _facts({"detail.given": given or say("detail.no_source"), "detail.written": detail.text})


@_summary.register
def _(detail: DraftDetail) -> str:
    if not detail.kept:
        return say("summary.draft_dropped")
    return _written("summary.draft_kept", detail)


def _written(key: str, detail: GenerationDetail | DraftDetail) -> str:
    characters = counted("chunk.characters", len(detail.text))
    return say(key, characters=characters, passages=counted("summary.passages", len(detail.passages)))


@_full.register
def _(detail: DraftDetail) -> str:
    written = detail.text if detail.kept else say("detail.draft_dropped")
    return _facts({"detail.given": _numbers(detail.passages), "detail.written": written})


@_summary.register
def _(detail: RewriteDetail) -> str:
    if detail.refused is not None:
        return say("summary.rewrite_refused")
    return say("summary.rewrite", after=_short(detail.after))


@_full.register
def _(detail: RewriteDetail) -> str:
    facts = {"detail.before": detail.before, "detail.after": detail.after}
    if detail.refused is not None:
        facts["detail.refused"] = detail.refused
    if detail.reason:
        facts["detail.reason"] = detail.reason
    return _facts(facts)


@_summary.register
def _(detail: StandaloneDetail) -> str:
    return say(f"standalone.{detail.why}", after=_short(detail.after))


@_full.register
def _(detail: StandaloneDetail) -> str:
    facts = {"detail.before": detail.before}
    if detail.after != detail.before:
        facts["detail.after"] = detail.after
    if detail.refused is not None:
        facts["detail.refused"] = detail.refused
    said = "".join(f"<li>{escape(turn.question)}<br>{escape(turn.answer)}</li>" for turn in detail.turns)
    return _facts(facts) + (f"<h6>{escape(say('detail.said'))}</h6><ol>{said}</ol>" if said else "")


@_summary.register
def _(detail: DeclineDetail) -> str:
    numbers = _numbers(passage.number for passage in detail.nearest)
    return say("summary.decline", numbers=numbers) if numbers else say("summary.decline_none")


@_full.register
def _(detail: DeclineDetail) -> str:
    facts = {"detail.query": "\n".join(detail.queries), "detail.written": detail.text}
    nearest = "".join(entry(passage, "") for passage in detail.nearest)
    return _facts(facts) + (f"<h6>{escape(say('detail.nearest'))}</h6>{nearest}" if nearest else "")


@_summary.register
def _(detail: GroundingDetail) -> str:
    if detail.grade.level == "partly":
        return say("summary.partly_supported")
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
    return f"{grounding_html(detail.grade)}<table><tr>{heads}</tr>{claims}</table>"


@_summary.register
def _(detail: UsefulnessDetail) -> str:
    told = say(
        {"yes": "summary.useful", "no": "summary.not_useful", "unknown": "summary.unknown"}[detail.grade.verdict]
    )
    return f"{told}, {say('summary.rated', rating=detail.grade.rating)}" if detail.grade.rating else told


@_full.register
def _(detail: UsefulnessDetail) -> str:
    return usefulness_html(detail.grade)


@_summary.register
def _(detail: AnswerCheckDetail) -> str:
    passed = detail.grounding.verdict == detail.usefulness.verdict == "yes"
    return say("summary.good" if passed else "summary.bad")


@_full.register
def _(detail: AnswerCheckDetail) -> str:
    named = (
        ("detail.grounding", grounding_html(detail.grounding)),
        ("detail.usefulness", usefulness_html(detail.usefulness)),
    )
    return "".join(f"<h6>{escape(say(name))}</h6>{grade}" for name, grade in named)


@_summary.register
def _(detail: AttemptsDetail) -> str:
    return say("summary.attempts", number=detail.chosen, count=len(detail.attempts))


@_full.register
def _(detail: AttemptsDetail) -> str:
    return attempts_table(detail)


@_summary.register
def _(detail: RetrievalNeedDetail) -> str:
    if not detail.needed:
        return say("summary.no_documents_needed")
    return say("summary.documents_needed" if detail.grade.verdict == "yes" else "summary.documents_in_doubt")


@_full.register
def _(detail: RetrievalNeedDetail) -> str:
    return grade_html(detail.grade, prefix="need_")


@_summary.register
def _(detail: CandidatesDetail) -> str:
    supported = sum(each.is_supported for each in detail.candidates)
    return say("summary.candidates", supported=supported, count=len(detail.candidates))


@_full.register
def _(detail: CandidatesDetail) -> str:
    listed = "".join(entry(each.passage, "") for each in detail.candidates if each.passage)
    return candidates_table(detail) + listed


@_summary.register
def _(detail: RouteDetail) -> str:
    return f"{say(f'route.{detail.route}')}: {say(f'why.{detail.why}')}"


@_full.register
def _(detail: RouteDetail) -> str:
    facts = {"detail.question": detail.question, "detail.route": say(f"route.{detail.route}")}
    facts["detail.reason"] = detail.reason or say(f"why.{detail.why}")
    scores = "".join(
        f"<tr><td>{escape(say(f'route.{way}'))}</td><td>{meter_html(score)}</td></tr>"
        for way, score in detail.scores.items()
    )
    return _facts(facts) + (f"<table>{scores}</table>" if scores else "")


@_summary.register
def _(detail: WebSearchDetail) -> str:
    if detail.why:
        return say(f"web.{detail.why}")
    return f"{_PROVIDERS.get(detail.provider, detail.provider)}: {counted('web.results', len(detail.passages))}"


@_full.register
def _(detail: WebSearchDetail) -> str:
    facts = {"detail.query": detail.query}
    if detail.provider:
        facts["detail.search"] = _PROVIDERS.get(detail.provider, detail.provider)
    if detail.why:
        facts["detail.reason"] = detail.error.sentence(language()) if detail.error else say(f"web.{detail.why}_note")
    return _facts(facts) + "".join(entry(passage, outside(passage)) for passage in detail.passages)


_PROVIDERS = {"tavily": "Tavily", "duckduckgo": "DuckDuckGo"}


@_summary.register
def _(detail: AssessmentDetail) -> str:
    return say(f"assessment.{detail.action}")


@_full.register
def _(detail: AssessmentDetail) -> str:
    if detail.rule == "any":
        rule = say("assessment.rule_any")
    else:
        rule = say("assessment.rule_scores", lower=f"{detail.lower:g}", upper=f"{detail.upper:g}")
    facts = _facts({"detail.rule": rule, "detail.verdict": say(f"assessment.{detail.action}")})
    return facts + "".join(entry(each.passage, grade_html(each.grade, prefix="relevant_")) for each in detail.grades)


@_summary.register
def _(detail: RefinementDetail) -> str:
    return say("summary.refinement", kept=sum(strip.kept for strip in detail.strips), count=len(detail.strips))


@_full.register
def _(detail: RefinementDetail) -> str:
    rows = "".join(
        f'<tr class="{"kept" if strip.kept else "dropped"}"><td>[{strip.passage}]</td>'
        f"<td>{escape(strip.text)}</td><td>{meter_html(strip.score)}</td></tr>"
        for strip in detail.strips
    )
    return f'<table class="strips">{rows}</table>'


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


def _facts(facts: dict[str, str]) -> str:
    items = "".join(f"<dt>{escape(say(key))}</dt><dd>{escape(value)}</dd>" for key, value in facts.items())
    return f"<dl>{items}</dl>"


def _short(text: str) -> str:
    return text if len(text) <= LABEL_LENGTH else text[:LABEL_LENGTH] + "…"


def _numbers(numbers: Iterable[int] | Sequence[int]) -> str:
    return " ".join(f"[{number}]" for number in numbers)
