"""The differences between runs, from their events only: passages found, and verdicts on them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag.trace.details import (
    AssessmentDetail,
    CandidatesDetail,
    GradesDetail,
    RetrievalDetail,
    WebSearchDetail,
)
from rag.trace.events import Event, RunFinished, StepFinished
from rag.trace.grades import Grade
from rag.trace.passages import Passage


class FoundPassage(NamedTuple):
    """A passage as one run found it."""

    passage: Passage
    """the passage with its best rank"""
    search: int
    """the run's search that gave this rank, from 1"""
    grade: Grade | None
    """None: the run did not grade it"""
    is_cited: bool


@dataclass(frozen=True)
class ComparedPassage:
    """A passage that several runs may have found: part of a section of one version of a document, or a web page."""

    passage: Passage
    found: tuple[FoundPassage | None, ...]
    """by run; None: the run did not find it"""

    @property
    def is_everywhere(self) -> bool:
        return None not in self.found

    @property
    def is_disputed(self) -> bool:
        """True if runs graded exactly the same text differently: relevant and not relevant."""
        verdicts: dict[_Stretch, set[str]] = {}
        for each in filter(None, self.found):
            if each.grade:
                verdicts.setdefault(_stretch(each.passage), set()).add(each.grade.verdict)
        return any({"yes", "no"} <= said for said in verdicts.values())


class _Stretch(NamedTuple):
    section: str
    """its id, different in each version of the document; the address of a web page"""
    start: int
    end: int

    def holds(self, other: "_Stretch") -> bool:
        return self.section == other.section and self.start <= other.start and other.end <= self.end


def has_searched(events: Iterable[Event]) -> bool:
    """False for a run that was stopped or failed before, or needed no search."""
    return any(isinstance(each, StepFinished) and _is_search(each) for each in events)


def _is_search(step: StepFinished) -> bool:
    """Not the step that says that no web search is set up."""
    match step.detail:
        case WebSearchDetail(why=why):
            return why != "off"
    return isinstance(step.detail, RetrievalDetail)


def compare_passages(runs: Sequence[Iterable[Event]]) -> list[ComparedPassage]:
    """First the passages that some runs lack or that are disputed, then by best rank.

    If a run found a section, it counts as having found the chunks in it. Grades are compared only for the same text.
    """
    found = [_found(events) for events in runs]
    stretches = {stretch: each.passage for of_run in found for stretch, each in of_run.items()}
    compared = [
        ComparedPassage(passage, tuple(_best_within(stretch, of_run) for of_run in found))
        for stretch, passage in stretches.items()
        if not any(other.holds(stretch) for other in stretches.keys() - {stretch})
    ]
    return sorted(compared, key=lambda each: (each.is_everywhere and not each.is_disputed, _best_rank(each)))


def _found(events: Iterable[Event]) -> dict[_Stretch, FoundPassage]:
    """The passages of one run."""
    passages: dict[int, tuple[Passage, int]] = {}
    grades: dict[int, Grade] = {}
    cited: set[int] = set()
    searches = 0
    for event in events:
        match event:
            case StepFinished(detail=RetrievalDetail(passages=listed) | WebSearchDetail(passages=listed)) if _is_search(
                event
            ):
                searches += 1
                for each in listed:
                    if each.number not in passages or each.rank < passages[each.number][0].rank:
                        passages[each.number] = each, searches
            case StepFinished(detail=GradesDetail(grades=graded) | AssessmentDetail(grades=graded)):
                grades |= {each.passage.number: each.grade for each in graded}
            case StepFinished(detail=CandidatesDetail(candidates=candidates, failed=failed)):
                grades |= {each.passage.number: each.relevance for each in candidates if each.passage}
                grades |= {each.passage.number: each.relevance for each in failed}
            case RunFinished(outcome=outcome, citations=citations) if outcome != "not_in_documents":
                cited = {each.number for each in citations}
    return {
        _stretch(passage): FoundPassage(passage, search, grades.get(number), number in cited)
        for number, (passage, search) in passages.items()
    }


def _stretch(passage: Passage) -> _Stretch:
    section = passage.source if passage.origin == "web" else passage.section_id
    return _Stretch(section, passage.start, passage.end)


def _best_within(stretch: _Stretch, found: dict[_Stretch, FoundPassage]) -> FoundPassage | None:
    within = [each for place, each in found.items() if stretch.holds(place)]
    if not within:
        return None
    best = min(within, key=lambda each: (each.passage.rank, each.search))
    return best._replace(is_cited=any(each.is_cited for each in within))


def _best_rank(compared: ComparedPassage) -> int:
    return min(each.passage.rank for each in compared.found if each)
