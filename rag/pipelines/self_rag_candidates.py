"""Self-RAG as in its paper: one answer per passage; the one with the best grades is kept.

After arXiv 2310.11511, algorithm 1, with a model that was not trained for it: questions to a grader replace its
reflection tokens, and an answer is one segment.

    decide_retrieval -> retrieve -> write_candidates -> choose_candidate -> end
            |                              |
            v                              v
    answer_from_memory                  decline
"""

from langgraph.graph import END, START, StateGraph

from rag.graph.context import GraphLimits, RunContext
from rag.graph.state import State
from rag.graph.step import Choice, router
from rag.nodes.candidates import choose_candidate, write_candidates
from rag.nodes.decline import decline
from rag.nodes.generate import answer_from_memory
from rag.nodes.retrieve import retrieve
from rag.nodes.route_question import decide_retrieval
from rag.pipelines.pipeline import Pipeline


@router
def after_decide_retrieval(state: State, limits: GraphLimits) -> Choice:
    if state["needs_documents"]:
        return Choice("retrieve", "documents_needed")
    return Choice("answer_from_memory", "no_documents_needed")


@router
def after_write_candidates(state: State, limits: GraphLimits) -> Choice:
    if any(candidate.is_grounded for candidate in state["candidates"]):
        return Choice("choose_candidate", "candidate_supported")
    return Choice("decline", "no_candidate_supported")


graph = (
    StateGraph(State, context_schema=RunContext)
    .add_node(decide_retrieval)
    .add_node(answer_from_memory)
    .add_node(retrieve)
    .add_node(write_candidates)
    .add_node(choose_candidate)
    .add_node(decline)
    #
    .add_edge(START, "decide_retrieval")
    .add_conditional_edges("decide_retrieval", after_decide_retrieval, ["retrieve", "answer_from_memory"])
    .add_edge("retrieve", "write_candidates")
    .add_conditional_edges("write_candidates", after_write_candidates, ["choose_candidate", "decline"])
    .add_edge("choose_candidate", END)
    .add_edge("answer_from_memory", END)
    .add_edge("decline", END)
)

self_rag_candidates = Pipeline("self_rag_candidates", graph)
