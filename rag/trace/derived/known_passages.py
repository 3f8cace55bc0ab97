"""The passages that a run has found."""

from collections.abc import Sequence

from index_store.search.hits import Hit
from rag.trace.details import GradesDetail, RetrievalDetail, WebSearchDetail
from rag.trace.events import Event, StepFinished
from rag.trace.passages import Passage


def known_passages(events: Sequence[Event], step: StepFinished) -> dict[int, Passage]:
    """All passages that the run had found when the step ended, by number."""
    known: dict[int, Passage] = {}
    for event in events:
        match event:
            case StepFinished(detail=RetrievalDetail(passages=found) | WebSearchDetail(passages=found)):
                known |= {each.number: each for each in found if each.number not in known}
            case StepFinished(detail=GradesDetail(grades=grades)):
                known |= {each.passage.number: each.passage for each in grades if each.passage.number not in known}
        if event is step:
            break
    return known


def holds(passage: Passage, hit: Hit) -> bool:
    """Compares the found chunk, as the passage may be a section that was trimmed."""
    is_inside = passage.start <= hit.best_start and hit.best_end <= passage.end
    return passage.section_id == hit.section_id and is_inside
