"""Several answers side by side, as tables: the attempts of a run, and the candidates of a beam."""

from collections.abc import Iterable, Sequence
from html import escape

from pages.words import say
from rag.trace.details import AttemptsDetail, Candidate, CandidatesDetail
from rag.trace.grades import Grade, Grounding, Usefulness


def attempts_table(detail: AttemptsDetail) -> str:
    heads = ("detail.attempt", "detail.grounding", "detail.usefulness", "detail.answer")
    return _table(
        heads,
        (
            (
                f"{each.number} · {say('detail.kept')}" if each.number == detail.chosen else str(each.number),
                _support(each.grounding),
                _rating(each.usefulness),
                each.text,
            )
            for each in detail.attempts
        ),
    )


def candidates_table(detail: CandidatesDetail) -> str:
    """Best first."""
    heads = (
        "detail.passage", "detail.relevance", "detail.grounding", "detail.usefulness", "detail.total_score",
        "detail.answer",
    )  # fmt: skip
    return _table(heads, map(_row, detail.candidates))


def _row(candidate: Candidate) -> Sequence[str]:
    return (
        f"[{candidate.passage.number}]" if candidate.passage else say("detail.no_source"),
        _relevance(candidate.relevance),
        _support(candidate.grounding),
        _rating(candidate.usefulness),
        f"{candidate.score:.2f}",
        candidate.text,
    )


def _table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(say(key))}</th>" for key in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _relevance(grade: Grade) -> str:
    if grade.verdict == "unknown":
        return say("detail.unknown")
    word = say({"yes": "detail.relevant_yes", "no": "detail.relevant_no"}[grade.verdict])
    return word if grade.score is None else f"{word} {grade.score:.2f}"


def _support(grade: Grounding) -> str:
    return say(f"grounding.{grade.level}") if grade.level else say("detail.unknown")


def _rating(grade: Usefulness) -> str:
    return say("detail.rating", rating=grade.rating) if grade.rating else say("detail.unknown")
