"""Summarises the events of a run: answer, citations, totals and outcome, from the events only."""

from collections.abc import Iterable, Sequence

from index_store.base.errors import Failure, PlainError
from rag.text.citations import cited_passages, claims, markers_of
from rag.trace.details import (
    AnswerCheckDetail,
    AttemptsDetail,
    Candidate,
    CandidatesDetail,
    CutBy,
    DeclineDetail,
    DocumentsDetail,
    GenerationDetail,
    RetrievalDetail,
    WebSearchDetail,
)
from rag.trace.events import Event, Outcome, RunFinished, RunStatus, StepFinished, Token, Totals
from rag.trace.passages import Citation, Passage

LISTED = 5
"""files that could not be loaded, listed below an answer; the others are counted"""


def summarize_run(events: Sequence[Event], status: RunStatus, error: PlainError | None, seconds: float) -> RunFinished:
    """`seconds`: how long the run took."""
    answer, step = answer_so_far(events)
    ended = [event for event in events if isinstance(event, StepFinished)]
    new = [event for event in ended if not event.reused]
    outcome = _outcome(step, ended) if status == "finished" else None
    cut_by = _cut_by(answer, ended)
    return RunFinished(
        status=status,
        answer=answer,
        outcome=outcome,
        citations=cited_so_far(events),
        totals=Totals(
            seconds=seconds,
            model_calls=sum(each.model_calls for each in new),
            tokens_in=sum(each.tokens_in for each in new),
            tokens_out=sum(each.tokens_out for each in new),
            rewrites=sum(each.role == "rewrites" for each in ended),
            generations=sum(map(_answers_of, ended)),
            reused_calls=sum(each.model_calls for each in ended if each.reused),
            reused_seconds=reused_seconds(events),
        ),
        unconfirmed=_unconfirmed(answer, ended) if outcome == "unconfirmed" else (),
        is_cut=cut_by is not None,
        cut_by=cut_by or "length",
        pending=_pending(ended),
        error=error.as_failure() if error else None,
    )


def not_loaded(events: Iterable[Event]) -> list[Failure]:
    """Why files that came with the question could not be loaded; an answer has nothing of them."""
    details = [each.detail for each in events if isinstance(each, StepFinished)]
    added = [result for detail in details if isinstance(detail, DocumentsDetail) for result in detail.added]
    return [result.error for result in added if result.error]


def reused_seconds(events: Iterable[Event]) -> float:
    """For a fork, where the origin's steps end on the time line of its trace, in seconds; else 0."""
    return max((each.end for each in events if isinstance(each, StepFinished) and each.reused), default=0)


def answer_so_far(events: Sequence[Event]) -> tuple[str, str | None]:
    """The text of the latest attempt to write an answer, and the step that wrote it."""
    attempt: tuple[str, int] | None = None
    pieces: list[str] = []
    for event in events:
        if isinstance(event, Token):
            if (event.step, event.attempt) != attempt or event.restart:
                attempt, pieces = (event.step, event.attempt), []
            pieces.append(event.text)
    return "".join(pieces), attempt[0] if attempt else None


def cited_so_far(events: Sequence[Event]) -> tuple[Citation, ...]:
    """The passages that the markers in `answer_so_far` point to. A [12] that the model copied from a text cites none,
    although the search found as many.
    """
    passages: dict[int, Passage] = {}
    for event in events:
        match event:
            case StepFinished(
                detail=RetrievalDetail(passages=found) | WebSearchDetail(passages=found) | DeclineDetail(nearest=found)
            ):
                passages |= {passage.number: passage for passage in found}
    answer, _ = answer_so_far(events)
    cited = _cited(answer, events)
    numbers = (number for number in markers_of(answer) if cited is None or number in cited)
    return cited_passages(numbers, passages.values())


def _cited(answer: str, events: Iterable[Event]) -> set[int] | None:
    """The numbers that the answer was written with as citations; None until it is complete, for no answer, and for a
    candidate of an earlier version.
    """
    found: list[tuple[int, ...]] = []
    for event in events:
        match event:
            case StepFinished(detail=GenerationDetail(text=text, cited=cited)) if text == answer:
                found.append(cited)
            case StepFinished(detail=CandidatesDetail(candidates=candidates)):
                best = next((each for each in candidates if each.text == answer), None)
                if best and best.cited is not None:
                    found.append(best.cited)
    return set().union(*found) if found else None


def _outcome(writer: str | None, ended: Sequence[StepFinished]) -> Outcome:
    last = next((each for each in reversed(ended) if each.step == writer), None)
    if last and (last.role == "declines" or isinstance(last.detail, DeclineDetail)):
        return "not_in_documents"
    if last and last.role == "answers_from_model":
        return "from_model"
    checks = [each for each in ended if isinstance(each.detail, AnswerCheckDetail)]
    if not checks:
        return "answered"
    if any(isinstance(each.detail, AttemptsDetail) for each in ended):  # a later answer may have been no answer
        return "unconfirmed"
    return "confirmed" if checks[-1].verdict == "yes" else "unconfirmed"


def _answers_of(step: StepFinished) -> int:
    """How many answers it wrote."""
    if isinstance(step.detail, CandidatesDetail):
        return len(step.detail.candidates)
    return int(step.role in ("answers", "answers_from_model"))


def _cut_by(answer: str, ended: Sequence[StepFinished]) -> CutBy | None:
    """What ended the answer, if it is cut. Among several answers, looks at this one."""
    for detail in (each.detail for each in ended):
        written: Iterable[GenerationDetail | Candidate] = ()
        if isinstance(detail, GenerationDetail):
            written = [detail]
        elif isinstance(detail, CandidatesDetail):
            written = detail.candidates
        for each in written:
            if each.is_cut and each.text == answer:
                return each.cut_by
    return None


def _pending(ended: Sequence[StepFinished]) -> int:
    """As the last search found it: what an earlier one lacked may have been there by then."""
    return next((each.detail.pending for each in reversed(ended) if isinstance(each.detail, RetrievalDetail)), 0)


def _unconfirmed(answer: str, ended: Sequence[StepFinished]) -> tuple[str, ...]:
    """The unsupported claims: those that the check of this answer named, or all claims if it named none."""
    grounding = None
    for detail in (each.detail for each in ended):
        if isinstance(detail, AnswerCheckDetail):
            grounding = detail.grounding
        elif isinstance(detail, AttemptsDetail):
            grounding = next(each.grounding for each in detail.attempts if each.number == detail.chosen)
    if grounding is None or grounding.verdict != "no":
        return ()
    return grounding.unsupported or tuple(claim.text for claim in claims(answer))
