from dataclasses import dataclass, field

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from rag.graph.state import State
from rag.graph.step import Tools
from rag.trace import Retrieval


@dataclass(frozen=True)
class Pipeline:
    """A control flow and the retrieval that it has unless someone picks another."""

    name: str
    graph: StateGraph[State, Tools]
    retrieval: Retrieval = field(default_factory=Retrieval)
    compiled: CompiledStateGraph = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", self.graph.compile(name=self.name))

    def mermaid(self) -> str:
        """The graph as a Mermaid flowchart, drawn from the graph that runs."""
        return self.compiled.get_graph().draw_mermaid()
