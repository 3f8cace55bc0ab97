"""MultiVector: search small chunks, read whole sections.

A small chunk has one subject, so its vector is precise. The model reads the section around it, so that an answer spread
over a section is complete (in the article: chunks under an h3, sections under an h2).

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
