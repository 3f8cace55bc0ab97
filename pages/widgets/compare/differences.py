"""The differences between finished runs: costs, passages, verdicts, words of the answers."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import streamlit as st

from index_store.full_text.words import words_in_order
from pages.widgets.compare.head import letter_html
from pages.widgets.passage.location import location
from pages.widgets.trace.views.word_diff import MOST_WORDS, marked_html
from pages.words.amounts import UNKNOWN, thousands
from pages.words.names import readable
from pages.words.say import counted, say
from rag.text.citations import without_markers
from rag.trace.derived.comparison import ComparedPassage, FoundPassage, compare_passages, has_searched
from rag.trace.events import Event, RunFinished, Totals, started_of
from rag.trace.passages import Passage

Runs = Mapping[int, Sequence[Event]]
"""the events of each run, by number of its column, from 0"""

SEEN = 60
"""passages in the list: four columns of twenty hits without a common one would have eighty"""


def show_differences(runs: Runs) -> None:
    ended = {number: last for number, events in runs.items() if isinstance(last := events[-1], RunFinished)}
    if len(ended) < 2:
        return
    st.subheader(say("compare.differences"), anchor=False)
    st.html(costs_html({number: (_name(runs[number]), last) for number, last in ended.items()}))
    st.html(passages_html(runs))
    answers = {number: without_markers(last.answer).strip() for number, last in ended.items()}
    if told := answers_html(answers):
        with st.expander(say("compare.words"), key="answers word by word"):
            st.html(told)


def costs_html(ended: Mapping[int, tuple[str, RunFinished]]) -> str:
    """A table and a bar chart. `ended`: by column, the name of its pipeline and the end of its run."""
    keys = ("outcome", "seconds", "calls", "tokens_in", "tokens_out", "rewrites", "generations")
    head = "".join(f"<th>{escape(say(f'compare.{key}'))}</th>" for key in keys)
    body = "".join(
        f"<tr><th>{letter_html(number)} {escape(name)}</th>"
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in _costs(last))}</tr>"
        for number, (name, last) in ended.items()
    )
    table = f'<table class="costs"><tr><td></td>{head}</tr>{body}</table>'
    totals = {number: last.totals for number, (_, last) in ended.items()}
    charts = (
        _bars("seconds", {number: (each.seconds, f"{each.seconds:.1f}") for number, each in totals.items()}),
        _bars("calls", {number: (each.model_calls, str(each.model_calls)) for number, each in totals.items()}),
        _bars("tokens", {number: (each.tokens, _tokens(each)) for number, each in totals.items()}),
    )
    return f'<div class="compared">{table}<div class="charts">{"".join(charts)}</div></div>'


def _costs(last: RunFinished) -> Iterable[str]:
    totals: Totals = last.totals
    yield say(f"outcome.{last.outcome}") if last.outcome else say(f"status.{last.status}")
    yield f"{totals.seconds:.1f}"
    reused = f" ({counted('total.reused', totals.reused_calls)})" if totals.reused_calls else ""
    yield f"{totals.model_calls:,}{reused}"
    tokens = (totals.tokens_in, totals.tokens_out)
    yield from (f"{each:,}" if totals.tokens else UNKNOWN for each in tokens)
    yield from (f"{each:,}" for each in (totals.rewrites, totals.generations))


def _tokens(totals: Totals) -> str:
    return thousands(totals.tokens) if totals.tokens else UNKNOWN


def _bars(key: str, values: Mapping[int, tuple[float, str]]) -> str:
    """`values`: by column, the value and its text."""
    most = max(value for value, _ in values.values()) or 1
    bars = "".join(
        f'<div>{letter_html(number)}<span class="bar"><i class="column-{number}" style="width: {value / most:.1%}"></i>'
        f"</span><span>{escape(told)}</span></div>"
        for number, (value, told) in values.items()
    )
    return f'<div class="chart"><h6>{escape(say(f"compare.{key}"))}</h6>{bars}</div>'


def passages_html(runs: Runs) -> str:
    """One row per passage, one column per run that searched: another one can't be said to have missed a passage."""
    runs = {number: events for number, events in runs.items() if has_searched(events)}
    passages = compare_passages(list(runs.values()))
    if not passages:
        return f'<div class="compared"><p>{escape(say("compare.no_passages"))}</p></div>'
    head = "".join(f"<th>{letter_html(number)} {escape(_name(events))}</th>" for number, events in runs.items())
    told = say(
        "compare.passages_told",
        passages=counted("summary.passages", len(passages)),
        everywhere=sum(each.is_everywhere for each in passages),
        disputed=sum(each.is_disputed for each in passages),
    )
    body = "".join(map(_passage_row, passages[:SEEN]))
    beyond = f"<p>{escape(counted('compare.more', len(passages) - SEEN))}</p>" if len(passages) > SEEN else ""
    return (
        f'<div class="compared"><p>{escape(told)}</p>'
        f'<table class="passages"><tr><th>{escape(say("detail.passage"))}</th>{head}</tr>{body}</table>{beyond}</div>'
    )


def _passage_row(compared: ComparedPassage) -> str:
    passage = compared.passage
    text = escape(say("chat.removed")) if passage.removed else escape(passage.as_read)
    disputed = f'<b class="disputed">{escape(say("compare.disputed"))}</b>' if compared.is_disputed else ""
    kinds = f"{'everywhere' if compared.is_everywhere else ''} {'is-disputed' if compared.is_disputed else ''}"
    cells = "".join(f"<td>{_found(each, passage)}</td>" for each in compared.found)
    return (
        f'<tr class="{kinds.strip()}"><th><details><summary>{escape(location(passage))}</summary>'
        f"<small>{escape(readable(passage.source))}</small><pre>{text}</pre></details>{disputed}</th>{cells}</tr>"
    )


def _found(found: FoundPassage | None, whole: Passage) -> str:
    if not found:
        return f'<span class="missing">{escape(say("compare.not_found"))}</span>'
    passage = found.passage
    told = [f"<b>#{passage.rank}</b>"]
    if found.grade:
        verdict = found.grade.verdict
        word = say({"yes": "detail.relevant_yes", "no": "detail.relevant_no", "unknown": "detail.unknown"}[verdict])
        score = "" if found.grade.score is None else f" {found.grade.score:.2f}"
        told.append(f'<span class="verdict {verdict}">{escape(word)}{score}</span>')
    if found.is_cited:
        told.append(f'<span class="cited-mark">{escape(say("compare.cited"))}</span>')
    notes = [say("compare.search", number=found.search)] if found.search > 1 else []
    sides = {"vector": passage.vector_rank, "keyword": passage.keyword_rank}
    if any(rank not in (None, passage.rank) for rank in sides.values()):
        notes += [say(f"search.{side}_rank", rank=rank) for side, rank in sides.items() if rank]
    if len(passage.text) < len(whole.text):
        notes.append(say("compare.part"))
    return f"{' '.join(told)}<small>{escape(' · '.join(notes))}</small>"


def answers_html(answers: Mapping[int, str]) -> str:
    """Each answer next to the first one, compared word by word; empty if they are too long for that.

    `answers`: by column; empty where a run has none.
    """
    given = [(number, text) for number, text in answers.items() if text]
    if len(given) < 2 or any(len(words_in_order(text)) > MOST_WORDS for _, text in given):
        return ""
    (first, text), *others = given
    shown = []
    for number, other in others:
        old, new = marked_html(text, other)
        shown.append(
            f"<div><h6>{letter_html(first)}</h6><p>{old}</p></div><div><h6>{letter_html(number)}</h6><p>{new}</p></div>"
        )
    return f'<div class="detail answers">{"".join(shown)}</div>'


def _name(events: Sequence[Event]) -> str:
    started = started_of(events)
    return say(f"pipeline.{started.pipeline}") if started else ""
