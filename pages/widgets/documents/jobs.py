"""Jobs: the progress and results of each, and what to do about failed documents."""

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from index_store.base.errors import AccessWithdrawn, EmptyDocument, TooLarge, UnknownJob, UnknownKind
from index_store.ingestion.progress import Item, Stage
from index_store.ingestion.results import IngestResult, IngestStatus
from index_store.store.user_ingestion import JobState, UserIngestion
from pages.server.process import engine
from pages.widgets.controls.errors import run_as_callback, show_error
from pages.widgets.controls.uploader import take_left
from pages.widgets.index.rights import may_add_to
from pages.widgets.index.without_text import told_without_text
from pages.words.amounts import duration
from pages.words.names import plain, readable
from pages.words.reader import language
from pages.words.say import counted, say

REFRESH = 0.7
"""seconds between two reads of the jobs"""

SHOWN = 4
"""unfinished items that a job lists"""

LASTING = {each.code for each in (EmptyDocument(name=""), TooLarge(name="", limit=""), UnknownKind(name="", known=""))}
"""failures that a retry of the same file can't change"""

LISTED = 5
"""failures that are shown without a click"""


LATEST = 5
"""finished jobs that are shown; the earlier ones are counted"""


def jobs() -> dict[UserIngestion, JobState]:
    """Call it before you read the indexes, so that the page shows both in agreement."""
    return {job: job.state for job in engine().store.ingestions}


def show_jobs(known: Mapping[UserIngestion, JobState]) -> None:
    # The container keeps its position when the jobs are done, so what is below is not drawn again while someone clicks
    # it.
    with st.container():
        if running := {job: each for job, each in known.items() if not each.is_finished}:
            _show_running(running)
    finished = [job for job, each in known.items() if each.is_finished]
    for job in finished[-LATEST:]:
        _show_finished(job)
    if earlier := {job: known[job] for job in finished[:-LATEST]}:
        _show_earlier(earlier)


@st.fragment(run_every=REFRESH)
def _show_running(running: Mapping[UserIngestion, JobState]) -> None:
    take_left()
    try:
        # With its first document, a page may offer more: to ask, if there was none before.
        if any(job.is_finished or (not each.has_results and job.results) for job, each in running.items()):
            st.rerun()
        for job in running:
            with st.container(border=True, key=f"job-{job.id}"):
                _show_progress(job)
    except (AccessWithdrawn, UnknownJob):
        st.rerun()  # the reader may no longer see it; the page says so


def _show_progress(job: UserIngestion) -> None:
    progress = job.progress
    words = [say("job.adding", index=plain(job.index)), say("job.done", done=progress.done, total=progress.total)]
    if progress.seconds_left is not None:
        words.append(say("job.left", time=duration(progress.seconds_left)))
    st.progress(progress.share, text=" · ".join(words))
    items = job.items
    at_work = [item for item in items if item.stage not in (Stage.WAITING, Stage.DONE)]
    lines = "".join(_line(item.source, _stage(item)) for item in at_work[:SHOWN])
    counts = _counts(items)
    st.html(f'<div class="job">{lines}<p class="rest">{escape(counts)}</p></div>')
    if job.is_cancelled:
        st.caption(say("job.cancelling"))
    else:
        st.button(say("documents.cancel"), key=f"cancel-{job.id}", on_click=run_as_callback, args=(job.cancel,))


def _stage(item: Item) -> str:
    told = say(f"stage.{item.stage}")
    return f"{told} {item.embedded}/{item.chunks}" if item.stage == Stage.EMBEDDING else told


def _counts(items: Sequence[Item]) -> str:
    """Of the items that are not listed: how many wait, and how many have failed."""
    waiting = sum(item.stage == Stage.WAITING for item in items)
    failed = sum(bool(item.result and item.result.status == IngestStatus.FAILED) for item in items)
    told = [counted("job.waiting", waiting)] if waiting else []
    return " · ".join([*told, counted("job.failed", failed)] if failed else told)


def _show_finished(job: UserIngestion) -> None:
    results = job.results
    failed = [each for each in results if each.status == IngestStatus.FAILED]
    with st.container(border=True, key=f"job-{job.id}"):
        told = f"{_failures(failed)}{_without_text(results)}"
        st.html(f'<div class="job"><p class="summary">{escape(_summary(job))}</p>{told}</div>')
        if job.failure:
            show_error(job.failure)
        again = [each.document_id for each in failed if each.document_id and _may_succeed(each)]
        with st.container(horizontal=True, gap="small"):
            if again and may_add_to(job.index):
                retry = (_retry, job, again)
                words = counted("job.retry", len(again))
                st.button(words, key=f"retry-{job.id}", on_click=run_as_callback, args=retry)
            work = (engine().store.dismiss, job)
            st.button(say("documents.dismiss"), key=f"dismiss-{job.id}", on_click=run_as_callback, args=work)


def _show_earlier(earlier: Mapping[UserIngestion, JobState]) -> None:
    told = [counted("job.earlier", len(earlier))]
    if failed := sum(each.has_failures for each in earlier.values()):
        told.append(counted("job.with_failures", failed))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="earlier-jobs"):
        st.caption(" · ".join(told))
        work = (engine().store.dismiss, *earlier)
        st.button(say("job.dismiss_earlier"), key="dismiss-earlier", on_click=run_as_callback, args=work)


def _may_succeed(result: IngestResult) -> bool:
    """Whether the same file may be added by a retry."""
    return result.error is None or result.error.code not in LASTING


def _retry(job: UserIngestion, document_ids: list[str]) -> None:
    engine().store.retry(job.index, document_ids)
    engine().store.dismiss(job)


def _summary(job: UserIngestion) -> str:
    counts = {status: sum(each.status == status for each in job.results) for status in IngestStatus}
    told = [counted(f"job.{status}", count) for status, count in counts.items() if count]
    end = [say("job.cancelled")] if job.is_cancelled else []
    if not job.results and not job.failure and not end:
        told = [say("job.nothing")]
    return " · ".join([job.index, *told, *end])


def _failures(failed: Sequence[IngestResult]) -> str:
    return _listed([_line(each.source, each.error.sentence(language()), "failed") for each in failed if each.error])


def _without_text(results: Sequence[IngestResult]) -> str:
    """The documents with pages that have no text."""
    listed = [each for each in results if each.pages_without_text and each.status == IngestStatus.READY]
    return _listed([_line(each.source, told_without_text(each.pages_without_text)) for each in listed])


def _listed(lines: Sequence[str]) -> str:
    if len(lines) <= LISTED:
        return "".join(lines)
    rest = "".join(lines[LISTED:])
    more = escape(say("job.more", count=len(lines) - LISTED))
    return f"{''.join(lines[:LISTED])}<details><summary>{more}</summary>{rest}</details>"


def _line(source: str, told: str, kind: str = "") -> str:
    # Most error sentences contain the name of the file.
    name = "" if source in told else f"<b>{escape(readable(source))}</b> "
    return f'<p class="line {kind}">{name}<span>{escape(readable(told))}</span></p>'
