"""What the events of a run add up to, its answer, citations and end: from them alone, so that none can disagree."""

from collections.abc import Sequence

from index_store.errors import PlainError
from rag.citations import MARKER, cited_passages
from rag.trace import (
    AnswerCheckDetail,
    Citation,
    Event,
    Outcome,
    Passage,
    RetrievalDetail,
    RunFinished,
    RunStatus,
    StepFinished,
    Token,
    Totals,
)


def finished(events: Sequence[Event], status: RunStatus, error: PlainError | None, seconds: float) -> RunFinished:
    """`seconds`: how long the run took."""
    answer, step = answer_so_far(events)
    ended = [event for event in events if isinstance(event, StepFinished)]
    return RunFinished(
        status=status,
        answer=answer,
        outcome=_outcome(step, ended) if status == "finished" else None,
        citations=cited_so_far(events),
        totals=Totals(
            seconds=seconds,
            model_calls=sum(each.model_calls for each in ended),
            tokens_in=sum(each.tokens_in for each in ended),
            tokens_out=sum(each.tokens_out for each in ended),
            rewrites=sum(each.step == "rewrite_question" for each in ended),
            generations=sum(each.step == "generate" for each in ended),
        ),
        error=error.as_failure() if error else None,
    )


def answer_so_far(events: Sequence[Event]) -> tuple[str, str | None]:
    """What the latest attempt to write an answer has written, and the step that it was."""
    attempt: tuple[str, int] | None = None
    text = ""
    for event in events:
        if isinstance(event, Token):
            if (event.step, event.attempt) != attempt or event.restart:
                attempt, text = (event.step, event.attempt), ""
            text += event.text
    return text, attempt[0] if attempt else None


def cited_so_far(events: Sequence[Event]) -> tuple[Citation, ...]:
    """What the markers in `answer_so_far` point to."""
    passages: dict[int, Passage] = {}
    for event in events:
        if isinstance(event, StepFinished) and isinstance(event.detail, RetrievalDetail):
            passages |= {passage.number: passage for passage in event.detail.passages}
    answer, _ = answer_so_far(events)
    return cited_passages(map(int, MARKER.findall(answer)), passages.values())


def _outcome(writer: str | None, ended: Sequence[StepFinished]) -> Outcome:
    if writer == "decline":
        return "not_in_documents"
    checks = [each for each in ended if isinstance(each.detail, AnswerCheckDetail)]
    if not checks:
        return "answered"
    return "confirmed" if checks[-1].verdict == "yes" else "unconfirmed"
