"""The type of a pipeline."""

from dataclasses import dataclass, field
from functools import cached_property

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from rag.graph.context import RunContext
from rag.graph.state import State
from rag.graph.step import ROLES
from rag.trace.derived.path import Edge, PipelineGraph
from rag.trace.passages import Retrieval


@dataclass(frozen=True)
class Pipeline:
    """A graph, and its default retrieval."""

    name: str
    graph: StateGraph[State, RunContext]
    retrieval: Retrieval = field(default_factory=Retrieval)
    compiled: CompiledStateGraph[State, RunContext, State, State] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", self.graph.compile(name=self.name))

    @property
    def checks(self) -> bool:
        """True if it checks its answers."""
        return any(ROLES.get(name) == "checks" for name in self.graph.nodes)

    @cached_property
    def flow(self) -> PipelineGraph:
        """The graph that runs, for drawings of a run's path."""
        drawn = self.compiled.get_graph()
        return PipelineGraph(
            nodes=tuple(drawn.nodes),
            edges=tuple(Edge(each.source, each.target) for each in drawn.edges),
            decided=frozenset(
                Edge(node, end)
                for node, branches in self.graph.branches.items()
                if (router := branches.get(f"after_{node}"))
                for end in (router.ends or {}).values()
            ),
        )

    def mermaid(self) -> str:
        """The graph that runs, as a Mermaid flowchart."""
        return self.compiled.get_graph().draw_mermaid()
