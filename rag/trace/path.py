"""The path of a run through its pipeline's graph, from its events only."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rag.trace.details import DraftDetail
from rag.trace.events import Decision, Event, RunFinished, StepFinished, StepStarted

START, END = "__start__", "__end__"
"""what the graphs and the decisions of a trace call them"""


class Edge(NamedTuple):
    source: str
    to: str


@dataclass(frozen=True)
class PipelineGraph:
    """A pipeline's graph, for its readers."""

    nodes: tuple[str, ...]
    """in the order in which the pipeline names them; START first, END last"""
    edges: tuple[Edge, ...]
    deciding: frozenset[str]
    """nodes that give a reason for the way that they take"""


@dataclass
class StepVisit:
    """One execution of a step."""

    step: str
    attempt: int
    finished: StepFinished | None = None

    @property
    def went_through(self) -> bool:
        """It ended, and neither failed nor was stopped."""
        return self.finished is not None and self.finished.verdict not in ("failed", "stopped")


class EdgeUse(NamedTuple):
    """One use of an edge."""

    edge: Edge
    why: str | None = None
    """the reason, where a router gave one"""


@dataclass(frozen=True)
class Path:
    before: tuple[StepVisit, ...]
    """steps that are not of the graph: the run takes them on its way to the graph's start"""
    moves: tuple[StepVisit | EdgeUse, ...]
    """on the graph, in the order in which they happened"""
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
        """Those that are at work: more than one where the graph forks."""
        return [] if self.is_over else [each for each in (*self.before, *self.visits) if not each.finished]

    @cached_property
    def reasons(self) -> dict[Edge, Counter[str]]:
        """Why each branch was taken, and how often for that reason."""
        found: dict[Edge, Counter[str]] = {}
        for edge, why in self.crossings:
            if why:
                found.setdefault(edge, Counter())[why] += 1
        return found


def path_of(events: Iterable[Event], flow: PipelineGraph) -> Path:
    """An edge without a decision counts as taken when the step behind it begins, or the run ends well."""
    before: list[StepVisit] = []
    moves: list[StepVisit | EdgeUse] = []
    visits: dict[tuple[str, int], StepVisit] = {}
    open_edges = {edge for edge in flow.edges if edge.source == START}
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
                if visit.went_through and not _is_dropped(event):
                    open_edges.update(edge for edge in flow.edges if edge.source == step)
            case Decision(from_step=step, to=to, why=why):
                open_edges.difference_update({edge for edge in open_edges if edge.source == step})
                moves.append(EdgeUse(Edge(step, to), why))
            case RunFinished(status=status):
                is_over = True
                if status == "finished":
                    take([edge for edge in flow.edges if edge.to == END and edge in open_edges])
    return Path(tuple(before), tuple(moves), is_over)


def _is_dropped(step: StepFinished) -> bool:
    """A speculative answer that was not kept leads nowhere."""
    return isinstance(step.detail, DraftDetail) and not step.detail.kept
