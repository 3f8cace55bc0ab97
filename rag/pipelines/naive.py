"""Retrieve, then answer: the plain pipeline with which the others are compared.

retrieve -> generate
"""

from langgraph.graph import END, START, StateGraph

from rag.graph.context import RunContext
from rag.graph.state import State
from rag.nodes.generate import generate
from rag.nodes.retrieve import retrieve
from rag.pipelines.pipeline import Pipeline

graph = (
    StateGraph(State, context_schema=RunContext)
    .add_node(retrieve)
    .add_node(generate)
    #
    .add_edge(START, "retrieve")
    .add_edge("retrieve", "generate")
    .add_edge("generate", END)
)

naive = Pipeline("naive", graph)
