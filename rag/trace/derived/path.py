"""The path of a run through its pipeline's graph, from its events only."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rag.trace.details import DeclineDetail, DraftDetail, GenerationDetail
from rag.trace.events import Decision, Event, RunFinished, StepFinished, StepStarted

START, END = "__start__", "__end__"
"""their names in graphs and decisions"""


class Edge(NamedTuple):
    source: str
    to: str


@dataclass(frozen=True)
class PipelineGraph:
    """A pipeline's graph, as pages draw it."""

    nodes: tuple[str, ...]
    """in the pipeline's order; START first, END last"""
    edges: tuple[Edge, ...]
    decided: frozenset[Edge]
    """those that only a router's decision takes; it gives a reason"""


@dataclass
class StepVisit:
    """One execution of a step."""

    step: str
    attempt: int
    finished: StepFinished | None = None

    @property
    def went_through(self) -> bool:
        """True if it ended, and neither failed nor was stopped."""
        return self.finished is not None and self.finished.verdict not in ("failed", "stopped")


class EdgeUse(NamedTuple):
    """One use of an edge."""

    edge: Edge
    why: str | None = None
    """the router's reason, if there is one"""


@dataclass(frozen=True)
class Path:
    before: tuple[StepVisit, ...]
    """steps before the graph, which are not part of it"""
    moves: tuple[StepVisit | EdgeUse, ...]
    """on the graph, in the order of time"""
    is_over: bool

    @cached_property
    def visits(self) -> list[StepVisit]:
        return [each for each in self.moves if isinstance(each, StepVisit)]

    @cached_property
    def crossings(self) -> list[EdgeUse]:
        return [each for each in self.moves if isinstance(each, EdgeUse)]

    @cached_property
    def visit_counts(self) -> Counter[str]:
        """By node."""
        return Counter(each.step for each in self.visits)

    @cached_property
    def current(self) -> list[StepVisit]:
        """Steps that are at work; several if the graph branches."""
        return [] if self.is_over else [each for each in (*self.before, *self.visits) if not each.finished]

    @cached_property
    def reasons(self) -> dict[Edge, Counter[str]]:
        """For each branch that was taken: its reasons and how often each occurred."""
        found: dict[Edge, Counter[str]] = {}
        for edge, why in self.crossings:
            if why:
                found.setdefault(edge, Counter())[why] += 1
        return found


def path_of(events: Iterable[Event], flow: PipelineGraph) -> Path:
    """An edge without a router counts as taken when the next step begins, or the run ends well; the edge of a
    speculative answer when the next step has used it.
    """
    before: list[StepVisit] = []
    moves: list[StepVisit | EdgeUse] = []
    visits: dict[tuple[str, int], StepVisit] = {}
    undecided = [edge for edge in flow.edges if edge not in flow.decided]
    open_edges = {edge for edge in undecided if edge.source == START}
    drafts: dict[str, str] = {}
    """the texts of complete speculative answers until the next step ends, by the node that wrote them"""
    is_over = False

    def take(edges: Sequence[Edge]) -> None:
        moves.extend(EdgeUse(edge) for edge in edges)
        open_edges.difference_update(edges)

    def begin(step: str, attempt: int) -> StepVisit:
        visit = visits[step, attempt] = StepVisit(step, attempt)
        if step not in flow.nodes:
            before.append(visit)
            return visit
        take([edge for edge in flow.edges if edge.to == step and edge in open_edges])
        moves.append(visit)
        return visit

    for event in events:
        match event:
            case StepStarted(step=step, attempt=attempt):
                begin(step, attempt)
            case StepFinished(step=step, attempt=attempt):
                # Its start may be an event that only a newer version knows.
                visit = visits.get((step, attempt)) or begin(step, attempt)
                visit.finished = event
                match event.detail:
                    case DraftDetail(kept=True, text=text):
                        drafts[step] = text
                    case DraftDetail():
                        pass  # it was dropped, and nothing comes after it
                    case _ if visit.went_through:
                        open_edges.update(edge for edge in undecided if edge.source == step)
                for edge in [edge for edge in flow.edges if edge.to == step and edge.source in drafts]:
                    if _has_used(event, drafts.pop(edge.source)):
                        moves.insert(moves.index(visit), EdgeUse(edge))
            case Decision(from_step=step, to=to, why=why):
                moves.append(EdgeUse(Edge(step, to), why))
            case RunFinished(status=status):
                is_over = True
                if status == "finished":
                    take([edge for edge in flow.edges if edge.to == END and edge in open_edges])
    return Path(tuple(before), tuple(moves), is_over)


def _has_used(step: StepFinished, draft: str) -> bool:
    """Whether the step's answer is the speculative one. A speculative answer can also say that there is no answer."""
    match step.detail:
        case GenerationDetail(drafted=is_drafted):
            return is_drafted
        case DeclineDetail(text=text):
            return text.startswith(draft)
    return False
