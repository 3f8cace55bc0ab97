"""One HTML file that opens without the app and without a network: answers, traces, graphs, passages and grades.

It runs no script: it opens and closes with `details` and popovers, and a node of a graph is a link to its row. Its
policy forbids every request, in case a text in it is ever read as one. Reasons: docs/decisions/runs/sharing.md
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path

from index_store.base.errors import Failure
from pages.server.requests.browser_rules import FILE_POLICY
from pages.widgets.answer.answer import answer_html
from pages.widgets.answer.formulae import with_mathml
from pages.widgets.answer.status import answer_status_html, end_notes, told_not_loaded, unconfirmed_html
from pages.widgets.trace.calls import calls_html
from pages.widgets.trace.detail import detail_html, summary_text
from pages.widgets.trace.fork.origin import origin_html
from pages.widgets.trace.graph import attempt_text, decision_text, graph_html, row_key, unrolled_html
from pages.widgets.trace.panel import StepRow, headline, note_of_fork, rows
from pages.words.amounts import thousands, when
from pages.words.reader import language
from pages.words.say import counted, say
from rag.pipelines import PIPELINES
from rag.runs.export.export import SIGNS, Export, ExportedRun
from rag.trace.derived.path import path_of
from rag.trace.events import Event, RunFinished, StepFinished, UnknownEvent

STYLES = (Path(__file__).parents[2] / "assets" / "style.css", Path(__file__).with_name("file.css"))


def as_html(export: Export) -> str:
    """In the language and time zone of the reader that pages/words/reader.py knows."""
    about = say("export.about", app=say("app.name"), when=when(datetime.fromtimestamp(export.exported_at, UTC)))
    # For a single run, the title is its question.
    title = f"<h1>{escape(export.title)}</h1>" if len(export.runs) != 1 else ""
    runs = "".join(_run(run, f"run-{number}", len(export.runs)) for number, run in enumerate(export.runs, start=1))
    return (
        f'<!DOCTYPE html>\n<html lang="{language()}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{FILE_POLICY}">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(export.title)}</title><style>{_style()}</style></head>"
        f"<body><header>{title}<p>{escape(about)}</p></header><main>{runs}</main></body></html>\n"
    )


@cache
def _style() -> str:
    """Includes rules that only the app's pages need: 24 KB, so that a trace is described once."""
    return "\n".join(file.read_text(encoding="utf-8") for file in STYLES)


def _run(run: ExportedRun, key: str, count: int) -> str:
    started, last = run.started, run.finished
    if started is None or last is None:
        return ""
    asked = say(
        "export.asked", when=when(datetime.fromtimestamp(started.at, UTC)), index=started.index, model=started.model
    )
    heading = "detail.nearest" if last.outcome == "not_in_documents" else "chat.sources"
    answer = with_mathml(answer_html(last.answer, last.citations, None, key, heading)) if last.answer else ""
    return (
        f'<article id="{key}"><h2 class="question">{escape(started.question)}</h2><p class="asked">{escape(asked)}</p>'
        f"{origin_html(started)}"
        f"{answer_status_html(run.events) if last.answer else ''}{answer}{_ending(last, run.events)}"
        f"{unconfirmed_html(last)}{_trace(run, key, last.totals.until, is_open=count == 1)}</article>"
    )


def _ending(last: RunFinished, events: Sequence[Event]) -> str:
    """The notes that the page shows below the answer."""
    notes = [_note(told, is_failure=kind == "failed") for kind, told in end_notes(last)]
    return "".join([*notes, *map(_note, told_not_loaded(events))])


def _note(sentence: str, *, is_failure: bool = False) -> str:
    return f'<p class="note{" failed" if is_failure else ""}">{escape(sentence)}</p>'


def _failure(failure: Failure) -> str:
    return _note(failure.sentence(language()), is_failure=True)


def _trace(run: ExportedRun, key: str, seconds: float, is_open: bool) -> str:
    shown = "".join(_row(each, run, key, seconds) for each in rows(run.events))
    unknown = "".join(_unknown(each) for each in run.events if isinstance(each, UnknownEvent))
    return (
        f'<details class="run-trace"{" open" if is_open else ""}><summary>{escape(headline(run.events, seconds))}'
        f"</summary>{_graph(run, key)}{shown}{unknown}</details>"
    )


def _graph(run: ExportedRun, key: str) -> str:
    """Empty for a pipeline that this version does not have."""
    if not run.started or run.started.pipeline not in PIPELINES:
        return ""
    flow = PIPELINES[run.started.pipeline].flow
    path = path_of(run.events, flow)
    return (
        f"{graph_html(flow, path, key, in_file=True)}<details><summary>{escape(say('export.in_order'))}</summary>"
        f"{unrolled_html(path, key, in_file=True)}</details>"
    )


def _row(row: StepRow, run: ExportedRun, key: str, seconds: float) -> str:
    step = row.finished
    id_ = escape(row_key(key, row.started.step, row.started.attempt))
    decisions = "".join(f'<p class="decision">{escape(decision_text(each.why, each.to))}</p>' for each in row.decisions)
    # The id is inside the fold: in plain HTML, a link to it opens the fold.
    opened = "".join(_opened(step, run)) if step else escape(row.told_unfinished)
    return (
        f'<details class="row"><summary>{_line(row, run, seconds)}</summary><div id="{id_}">{opened}</div></details>'
        f"{decisions}"
    )


def _line(row: StepRow, run: ExportedRun, seconds: float) -> str:
    started, step = row.started, row.finished
    name = escape(say(f"step.{started.step}"))
    attempt = attempt_text(started.attempt)
    notes = f" {escape(attempt)}" if attempt else ""
    note = note_of_fork(row, run.started.origin if run.started else None)
    notes += f" <small>{escape(note)}</small>" if note else ""
    if step is None:
        sign = f'<span class="sign stopped">{SIGNS["stopped"]}</span>'  # a run in a file has ended
        return f"{sign} <b>{name}</b>{notes} {escape(row.told_unfinished)}"
    took = step.milliseconds / 1000
    cost = [say("total.seconds", seconds=f"{took:.1f}")]
    if step.tokens_in + step.tokens_out:
        cost.append(say("total.tokens", count=thousands(step.tokens_in + step.tokens_out)))
    left, width = (min(100.0, 100 * each / seconds) if seconds else 0.0 for each in (step.start, took))
    return (
        f'<span class="bar"><i style="left: {left:.1f}%; width: {width:.1f}%"></i></span>'
        f'<span class="sign {step.verdict or "yes"}">{SIGNS[step.verdict]}</span> <b>{name}</b>{notes} '
        f"{escape(summary_text(step))} <small>{escape(' · '.join(cost))}</small>"
    )


def _opened(step: StepFinished, run: ExportedRun) -> Iterator[str]:
    if step.error:
        yield _failure(step.error)
    if step.fallback:
        yield _failure(step.fallback)
    yield detail_html(step, "")
    if calls := run.calls_of(step):
        yield f"<details><summary>{escape(counted('call.fold', len(calls)))}</summary>{calls_html(calls)}</details>"


def _unknown(event: UnknownEvent) -> str:
    told = escape(f"{say('step.unknown')} {event.named}")
    return f'<details class="row"><summary>{told}</summary><pre>{escape(event.stored)}</pre></details>'
