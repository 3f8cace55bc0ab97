"""Why a run gave no good answer, from its events only.

The rule: what happened to the passage of the index that is nearest to the question?

    none             there is an answer, and no sign against it; an answer that was not confirmed or is from the model's
                     memory may still be wrong
    no_document      there is no such passage: the index is empty, or nothing in it is near the subject
    not_found        it is in the index, but the run's searches did not find it, or it was not read
    graded_away      it was found, but graded not relevant, or dropped as not helpful
    misread          it was read, but the answer is not grounded or not useful; or the model said that a
                     passage near the question does not contain the answer
    refused_rightly  the subject is there, but no passage is near the question itself

The index is known from the probe of a run that declined (`DeclineDetail.probe`), which is a separate search. A passage
is near if it contains NEAR_SHARE of the question's words (rare words count most), or if its cosine is NEAR_COSINE of
the way from the index's mean to the question. Measured on the sample handbook: of 13 questions that it answers, 12 have
at least one near passage (the other one asks in Japanese about an English document). Of 13 questions that it does not
answer, 1 has one (it asks about a kind of leave that the handbook lacks; others are in it).

A passage in another language shares no word with the question, and is less near than one in its own: there,
ACROSS_COSINE of the way is near. In a trial on the samples, with 47 such questions that they answer, 20 about their
subjects that they do not answer, and 10 about other things, 10 of the 47 have their own passage as the nearest one, and
11 have it as the one on their subject (1 and 7 without this rule). Of the 20 and the 10, 4 and 0 have a near passage (3
and 0 without it).

Limits: a passage near the question need not contain the answer. So a person's cause replaces this one. Old runs have no
probe; the scores and grades of their results are used.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple, TypeVar

from index_store.search.other_language import differ_in_language
from rag.trace.details import (
    AnswerCheckDetail,
    AssessmentDetail,
    AttemptsDetail,
    Candidate,
    CandidatesDetail,
    CutBy,
    DeclineDetail,
    GenerationDetail,
    GradesDetail,
    Probe,
    RefinementDetail,
    RetrievalDetail,
    WebSearchDetail,
)
from rag.trace.events import Event, Outcome, RunFinished, StepFinished, started_of
from rag.trace.grades import Verdict
from rag.trace.passages import Passage

Cause = Literal["none", "no_document", "not_found", "graded_away", "misread", "refused_rightly"]

NEAR_SHARE, NEAR_COSINE = 0.6, 0.48
"""from these values a passage counts as near the question; see above"""

SUBJECT_SHARE, SUBJECT_COSINE = 0.35, 0.4
"""the same for its subject"""

ACROSS_COSINE, ACROSS_SUBJECT_COSINE = 0.4, 0.3
"""the same of a passage in another language, which shares no words with the question"""

WHOLE_SCORE = 0.75
"""the keyword score of a passage that has every word of the question once or twice; used for the share if there is no
probe"""

DOUBTED = 0.4
"""a grade of not relevant with at least this score (yes is from 0.5) means that the grader was not sure"""

AS_NEAR = 0.9
"""share of the nearest passage's nearness that a passage needs to count as nearest too"""


D = TypeVar("D")


Situation = Literal[
    "no_document_yet",
    "cut_off",
    "left_out",
    "missed_by_hybrid",
    "by_hand",
    "said_none",
    "said_none_of_kept",
    "not_useful",
    "reply_cut",
    "from_web",
]
"""
What the trace knows of how a cause came about, where that asks for other advice than usual.

    no_document_yet    no_document: the first documents were being added, and none could be searched
    cut_off            not_found: the passage's section was found, but shortened to the context window, without the part
                       with the passage
    left_out           not_found: hits of the run did not fit into the context window; the passage may be one of them
    missed_by_hybrid   not_found, though a search of the run was hybrid
    by_hand            graded_away by a person, in a fork
    said_none          misread: the model said that the passage does not contain the answer
    said_none_of_kept  the same; the model was given the passage without some sentences, left out as not helpful
    not_useful         misread: the answer is in its sources, but was not found useful
    reply_cut          misread, or an answer that nothing speaks against: its end is missing
    from_web           nothing speaks against the answer; it was written from pages of the web alone
"""


class Finding(NamedTuple):
    """The cause, with its evidence."""

    cause: Cause
    passage: Passage | None = None
    """the passage that it is about"""
    absent: tuple[str, ...] = ()
    """words of the question that are nowhere in the index"""
    situation: Situation | None = None
    left_out: int = 0
    """hits of the run that did not fit into the context window"""
    cut_by: CutBy | None = None
    """what ended the answer too early"""


def cause_of(events: Sequence[Event]) -> Finding | None:
    """None if it is unknown: the run has not ended, was stopped, failed or met a limit; or the answer from the nearest
    passage could not be written; or a person left that passage out, in a fork.
    """
    last = events[-1] if events else None
    if not isinstance(last, RunFinished):
        return None
    if last.error and last.error.code in ("empty_index", "index_not_ready"):
        return Finding("no_document", situation="no_document_yet" if last.error.code == "index_not_ready" else None)
    if last.status != "finished":
        return None
    if last.outcome == "not_in_documents":
        return _why_declined(events)
    cut: Situation | None = "reply_cut" if last.is_cut else None
    cut_by = last.cut_by if last.is_cut else None
    if last.outcome == "unconfirmed" and _is_rejected(events):
        return Finding("misread", situation=(cut or "not_useful") if _is_grounded(events) else None, cut_by=cut_by)
    return Finding("none", situation=cut or ("from_web" if _is_from_web(events) else None), cut_by=cut_by)


def with_thumb_down(cause: Cause, outcome: Outcome | None) -> Cause:
    """The cause of a run whose answer a person found not good, which the trace can't know: it was misread, unless it is
    from the model's memory.
    """
    return "misread" if cause == "none" and outcome != "from_model" else cause


def nearness(share: float, cosine: float | None, mean: float, *, across: bool) -> float:
    """The nearness of a passage to a question; from 1 on the passage is near. `share`, `mean`: as in Probe. `across`:
    whether their languages differ.
    """
    return max(share / NEAR_SHARE, _way(cosine, mean) / (ACROSS_COSINE if across else NEAR_COSINE))


def _way(cosine: float | None, mean: float) -> float:
    """0 for the index's mean, 1 for the question itself. So models with narrow ranges of cosines are comparable."""
    return 0.0 if cosine is None or mean >= 1 else (cosine - mean) / (1 - mean)


class _Probed(NamedTuple):
    """A passage, and what its nearness to the question is measured by."""

    passage: Passage
    share: float
    mean: float
    across: bool

    @property
    def nearness(self) -> float:
        return nearness(self.share, self.passage.vector_score, self.mean, across=self.across)

    @property
    def is_on_its_subject(self) -> bool:
        least = ACROSS_SUBJECT_COSINE if self.across else SUBJECT_COSINE
        return self.share >= SUBJECT_SHARE or _way(self.passage.vector_score, self.mean) >= least


def _why_declined(events: Sequence[Event]) -> Finding | None:
    probes = [each.probe for each in _details(events, DeclineDetail) if each.probe]
    probe = probes[-1] if probes else _seen_alone(events)  # an earlier probe does not know what was found later
    started = started_of(events)
    question = started.question if started else ""
    found = [
        _Probed(passage, share, probe.mean, differ_in_language(passage.text, question))
        for passage, share in zip(probe.nearest, probe.shares, strict=True)
    ]
    dropped, doubted = _dropped_passages(events)
    near = sorted((each for each in found if each.nearness >= 1), key=lambda each: -each.nearness)
    if near:
        finding = _why_not_from(near, probe.seen, dropped, events)
    elif doubted:
        finding = Finding("graded_away", doubted)
    else:
        on_subject = next((each.passage for each in found if each.is_on_its_subject), None)
        finding = Finding("refused_rightly" if on_subject else "no_document", on_subject)
    return finding and finding._replace(absent=probe.absent)


def _why_not_from(
    near: Sequence[_Probed], seen: Collection[int], dropped: Collection[int], events: Sequence[Event]
) -> Finding | None:
    """What happened to the nearest passage. `near`: the nearest first; `seen`, `dropped`: the numbers of passages."""
    nearest = near[0]
    as_near = [each.passage for each in near if each.nearness >= AS_NEAR * nearest.nearness]
    passage = next((each for each in as_near if each.number in seen), None)
    if passage is None:
        return _not_found(nearest.passage, events)
    if passage.number in dropped:
        is_by_hand = _was_graded_by_hand(events, passage.number)
        return Finding("graded_away", passage, situation="by_hand" if is_by_hand else None)
    return _misread(passage, events)


def _not_found(passage: Passage, events: Sequence[Event]) -> Finding:
    searches = _details(events, RetrievalDetail)
    left_out = sum(each.left_out for each in searches)
    situation: Situation | None = None
    if any(_is_cut_from(passage, each) for detail in searches for each in detail.passages):
        situation = "cut_off"
    elif left_out:
        situation = "left_out"
    elif any(each.mode == "hybrid" for each in searches):
        situation = "missed_by_hybrid"
    return Finding("not_found", passage, situation=situation, left_out=left_out)


def _misread(passage: Passage, events: Sequence[Event]) -> Finding | None:
    """None if no answer could be written from the passage."""
    if _was_denied(events, passage.number):
        is_whole = not _was_refined(events, passage.number)
        return Finding("misread", passage, situation="said_none" if is_whole else "said_none_of_kept")
    if not _was_answered_from(events, passage.number):
        return None
    is_grounded = _was_grounded_in(events, passage.number)
    return Finding("misread", passage, situation="not_useful" if is_grounded else None)


def _is_cut_from(passage: Passage, found: Passage) -> bool:
    """Whether the run found the passage's section, but shortened it."""
    return found.section_length is not None and found.section_id == passage.section_id


def _was_graded_by_hand(events: Sequence[Event], number: int) -> bool:
    grades = [
        each.grade
        for detail in _details(events, GradesDetail)
        for each in detail.grades
        if each.passage.number == number
    ]
    return any(each.by_hand for each in grades[-1:])


def _was_refined(events: Sequence[Event], number: int) -> bool:
    """Whether sentences of the passage were left out before the model read it."""
    refined = [each.strips for each in _details(events, RefinementDetail)][-1:]
    return any(strip.passage == number and not strip.kept for strips in refined for strip in strips)


def _was_denied(events: Sequence[Event], number: int) -> bool:
    """Whether the model said that it found no answer in the passage; old events do not tell which ones it was given."""
    given = [each.passages for each in _details(events, DeclineDetail)]
    return any(passages is None or number in passages for passages in given) or any(
        each.is_no_answer for each in _candidates_from(events, number)
    )


def _was_answered_from(events: Sequence[Event], number: int) -> bool:
    """Whether an answer was written from the passage."""
    written = any(number in each.passages for each in _details(events, GenerationDetail))
    return written or bool(_candidates_from(events, number))


def _candidates_from(events: Sequence[Event], number: int) -> list[Candidate]:
    candidates = [each for detail in _details(events, CandidatesDetail) for each in detail.candidates]
    return [each for each in candidates if each.passage is not None and each.passage.number == number]


def _was_grounded_in(events: Sequence[Event], number: int) -> bool:
    """Whether the last answer that was written from the passage was found in its sources; it was not useful then."""
    verdict: Verdict = "unknown"
    is_from_it = False
    for step in _finished(events):
        match step.detail:
            case GenerationDetail(passages=passages):
                is_from_it = number in passages
            case AnswerCheckDetail(grounding=grounding) if is_from_it:
                verdict = grounding.verdict
    return verdict == "yes"


def _seen_alone(events: Sequence[Event]) -> Probe:
    """For a run without a probe: only the results of its searches are known, and no mean cosine."""
    found = {each.number: each for detail in _details(events, RetrievalDetail) for each in detail.passages}
    shares = (min(1.0, (each.keyword_score or 0.0) / WHOLE_SCORE) for each in found.values())
    return Probe(nearest=tuple(found.values()), shares=tuple(shares), seen=tuple(found), mean=1.0, words=(), absent=())


def _dropped_passages(events: Sequence[Event]) -> tuple[set[int], Passage | None]:
    """The numbers of the passages that were dropped, and the dropped passage with the least certain grade, if there is
    an uncertain one.
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
            case AssessmentDetail(action="ambiguous", rule="scores", lower=lower, grades=grades):
                # Those that are not surely wrong were read, also with a no.
                dropped.difference_update(each.passage.number for each in grades if (each.grade.score or 0.0) >= lower)
            case CandidatesDetail(candidates=candidates, failed=failed):
                graded = [(each.passage, each.relevance) for each in candidates]
                graded += [(each.passage, each.relevance) for each in failed]
                dropped.update(passage.number for passage, grade in graded if passage and grade.verdict == "no")
            case RefinementDetail(strips=strips):
                kept = {strip.passage for strip in strips if strip.kept}
                dropped.update(strip.passage for strip in strips if strip.passage not in kept)
    doubted = [each for each in doubted if each[1].number in dropped]
    score, passage = max(doubted, key=lambda each: each[0], default=(0.0, None))
    return dropped, passage if score >= DOUBTED else None


def _is_from_web(events: Sequence[Event]) -> bool:
    """Whether the last answer was written from pages of the web alone."""
    web = {each.number for detail in _details(events, WebSearchDetail) for each in detail.passages}
    read = [each.passages for each in _details(events, GenerationDetail)][-1:]
    return any(passages and web.issuperset(passages) for passages in read)


def _is_rejected(events: Sequence[Event]) -> bool:
    """True if the check of the answer said no. An unreadable check does not count, nor that of an earlier attempt."""
    steps = _finished(events)
    checks = [each.verdict for each in steps if isinstance(each.detail, AnswerCheckDetail)]
    return checks[-1:] == ["no"] or any(isinstance(each.detail, AttemptsDetail) for each in steps)


def _is_grounded(events: Sequence[Event]) -> bool:
    """True if the check of the answer that is shown found it in its sources."""
    verdict: Verdict = "unknown"
    for step in _finished(events):
        match step.detail:
            case AnswerCheckDetail(grounding=grounding):
                verdict = grounding.verdict
            case AttemptsDetail(attempts=attempts, chosen=chosen):
                verdict = next(each.grounding.verdict for each in attempts if each.number == chosen)
    return verdict == "yes"


def _finished(events: Iterable[Event]) -> list[StepFinished]:
    return [event for event in events if isinstance(event, StepFinished)]


def _details(events: Iterable[Event], kind: type[D]) -> list[D]:
    return [step.detail for step in _finished(events) if isinstance(step.detail, kind)]
