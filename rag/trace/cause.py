"""Why a run gave no good answer, from its events only.

The rule: what became of the passage of the index that comes nearest to the question?

    none             nothing is wanting: an answer, and nothing that speaks against it
    no_document      there is none: the index is empty, or nothing in it comes near the subject
    not_found        it is in the index, but none of the run's searches found it, or it was left out of what was read
    graded_away      it was found, and graded not relevant, or dropped as not helping
    misread          it was read: the model wrote an answer that its sources do not hold or that does not answer, or
                     said of a passage that holds the question that the answer is not in it
    refused_rightly  the subject is there, but nothing holds the question itself

What the index has is known by the probe of a run that declined (`DeclineDetail.probe`), a search of its own. Near is a
passage that holds NEAR_SHARE of the question's words, rare ones counting most, or that lies NEAR_COSINE of the way
from the index's mean to the question. Measured on the sample handbook: of 13 questions that it answers 12 come near
with one passage at least (the one that does not is asked in Japanese of an English document), of 13 that it does not
answer one (a kind of leave that it does not have, among those that it has).

Limits: a question in another language than its document shares no word with it, and comes less near; that a passage
holds the question is not to say that it holds the answer. So a person's word goes above this one. Runs of before there
was a probe are judged by the scores and grades of what they found.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

from rag.trace.details import (
    AnswerCheckDetail,
    AssessmentDetail,
    CandidatesDetail,
    DeclineDetail,
    GradesDetail,
    Probe,
    RefinementDetail,
    RetrievalDetail,
)
from rag.trace.events import Event, RunFinished, StepFinished
from rag.trace.passages import Passage

Cause = Literal["none", "no_document", "not_found", "graded_away", "misread", "refused_rightly"]

NEAR_SHARE, NEAR_COSINE = 0.6, 0.48
"""from which on a passage counts as holding the question; see above"""

SUBJECT_SHARE, SUBJECT_COSINE = 0.35, 0.4
"""the same for its subject"""

WHOLE_SCORE = 0.75
"""the keyword score of a passage that has every word of the question once or twice: what is known of its share where
there was no probe"""

DOUBTED = 0.4
"""a grade of not relevant from this score on (yes from 0.5) says that the grader was not sure"""

AS_NEAR = 0.9
"""of the nearest passage's nearness: one that the run read may be a little farther than one that it did not"""


D = TypeVar("D")


class Finding(NamedTuple):
    """The cause, with its evidence."""

    cause: Cause
    passage: Passage | None = None
    """the one that it is about"""
    absent: tuple[str, ...] = ()
    """words of the question that stand nowhere in the index"""


def cause_of(events: Sequence[Event]) -> Finding | None:
    """None where that can't be said: the run goes on, or was stopped, failed or met a limit."""
    last = events[-1] if events else None
    if not isinstance(last, RunFinished):
        return None
    if last.error and last.error.code == "empty_index":
        return Finding("no_document")
    if last.status != "finished":
        return None
    if last.outcome == "unconfirmed":
        return Finding("misread" if _is_rejected(events) else "none")
    if last.outcome != "not_in_documents":
        return Finding("none")
    return _why_declined(events)


def nearness(share: float, cosine: float | None, mean: float) -> float:
    """Of a passage to a question; from 1 on it holds it. `share`, `mean`: as in Probe."""
    return max(share / NEAR_SHARE, _way(cosine, mean) / NEAR_COSINE)


def _way(cosine: float | None, mean: float) -> float:
    """0 as far as the index's mean, 1 the question itself, so that models that crowd their cosines compare."""
    return 0.0 if cosine is None or mean >= 1 else (cosine - mean) / (1 - mean)


def _why_declined(events: Sequence[Event]) -> Finding:
    probes = [each.probe for each in _details(events, DeclineDetail) if each.probe]
    probe = probes[-1] if probes else _seen_alone(events)  # an earlier one knows not of what was found after it
    dropped, doubted = _dropped(events)
    near = [
        (nearness(share, passage.vector_score, probe.mean), passage)
        for passage, share in zip(probe.nearest, probe.shares, strict=True)
    ]
    near = sorted((each for each in near if each[0] >= 1), key=lambda each: -each[0])
    if near:
        most = near[0][0]
        read = [passage for how_near, passage in near if passage.number in probe.seen and how_near >= AS_NEAR * most]
        if not read:
            return Finding("not_found", near[0][1], probe.absent)
        return Finding("graded_away" if read[0].number in dropped else "misread", read[0], probe.absent)
    if doubted:
        return Finding("graded_away", doubted, probe.absent)
    for passage, share in zip(probe.nearest, probe.shares, strict=True):
        if share >= SUBJECT_SHARE or _way(passage.vector_score, probe.mean) >= SUBJECT_COSINE:
            return Finding("refused_rightly", passage, probe.absent)
    return Finding("no_document", None, probe.absent)


def _seen_alone(events: Sequence[Event]) -> Probe:
    """Of a run without a probe: no more is known of the index than what its searches found, and no mean of cosines."""
    found = {each.number: each for detail in _details(events, RetrievalDetail) for each in detail.passages}
    shares = (min(1.0, (each.keyword_score or 0.0) / WHOLE_SCORE) for each in found.values())
    return Probe(nearest=tuple(found.values()), shares=tuple(shares), seen=tuple(found), mean=1.0, words=(), absent=())


def _dropped(events: Sequence[Event]) -> tuple[set[int], Passage | None]:
    """The numbers of the passages that did not come as far as to be read, and the one of them of whose grade the
    grader was least sure, if it was not.
    """
    dropped: set[int] = set()
    doubted: list[tuple[float, Passage]] = []
    for step in _finished(events):
        match step.detail:
            case GradesDetail(grades=grades):
                for each in grades:
                    if each.grade.verdict == "no":
                        dropped.add(each.passage.number)
                        doubted.append((each.grade.score or 0.0, each.passage))
            case AssessmentDetail(action="incorrect", grades=grades):
                dropped.update(each.passage.number for each in grades)
            case CandidatesDetail(candidates=candidates):
                dropped.update(
                    each.passage.number for each in candidates if each.passage and each.relevance.verdict == "no"
                )
            case RefinementDetail(strips=strips):
                kept = {strip.passage for strip in strips if strip.kept}
                dropped.update(strip.passage for strip in strips if strip.passage not in kept)
    score, passage = max(doubted, key=lambda each: each[0], default=(0.0, None))
    return dropped, passage if score >= DOUBTED else None


def _is_rejected(events: Sequence[Event]) -> bool:
    """A check said no, rather than nothing that could be read."""
    return any(isinstance(each.detail, AnswerCheckDetail) and each.verdict == "no" for each in _finished(events))


def _finished(events: Iterable[Event]) -> list[StepFinished]:
    return [event for event in events if isinstance(event, StepFinished)]


def _details(events: Iterable[Event], kind: type[D]) -> list[D]:
    return [step.detail for step in _finished(events) if isinstance(step.detail, kind)]
