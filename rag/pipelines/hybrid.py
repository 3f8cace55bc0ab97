"""Hybrid search: by vector and by full text at the same time, fused into one list of hits.

A term with similar terms (X' and X) is found by its exact letters, a paraphrase by its meaning. The model picks the
search words from the question; if it fails, the question's own words are used.

extract_keywords -> retrieve -> generate
"""

from langgraph.graph import END, START, StateGraph

from rag.graph.context import RunContext
from rag.graph.state import State
from rag.nodes.extract_keywords import extract_keywords
from rag.nodes.generate import generate
from rag.nodes.retrieve import retrieve
from rag.pipelines.pipeline import Pipeline
from rag.trace.passages import Retrieval

graph = (
    StateGraph(State, context_schema=RunContext)
    .add_node(extract_keywords)
    .add_node(retrieve)
    .add_node(generate)
    #
    .add_edge(START, "extract_keywords")
    .add_edge("extract_keywords", "retrieve")
    .add_edge("retrieve", "generate")
    .add_edge("generate", END)
)

hybrid = Pipeline("hybrid", graph, Retrieval(mode="hybrid"))
