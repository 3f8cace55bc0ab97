"""MultiVector: search small chunks, read whole sections.

What is embedded is small, so that it stands for one thing; what the model reads is the section around it (chunks below
an h3, sections below an h2, in the article), so that an answer spread over a section is not cut off.

retrieve -> generate
"""

from langgraph.graph import END, START, StateGraph

from rag.graph.context import RunContext
from rag.graph.state import State
from rag.nodes.generate import generate
from rag.nodes.retrieve import retrieve
from rag.pipelines.pipeline import Pipeline
from rag.trace.passages import Retrieval

graph = (
    StateGraph(State, context_schema=RunContext)
    .add_node(retrieve)
    .add_node(generate)
    #
    .add_edge(START, "retrieve")
    .add_edge("retrieve", "generate")
    .add_edge("generate", END)
)

multivector = Pipeline("multivector", graph, Retrieval(unit="section"))
