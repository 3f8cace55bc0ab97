"""Self-RAG: the model grades the passages, and then its own answer.

After arXiv 2310.11511, in the form of the LangGraph articles. The paper's form is in self_rag_candidates.py.

    retrieve -> grade_documents -> generate -> check_grounding  -> check_answer -> end
     ^    \\-> draft_answer ----------^  ^    \\-> check_usefulness -/      |
     |              |                   |                                |
     +------ rewrite_question           +---- not grounded: again -------+-> limits met: keep_best_attempt, or decline
                    ^------------------------ not useful: rewrite -------+

Differences from the articles: passages are graded in parallel while a speculative answer is written; grounding and
usefulness are checked in parallel, but not of a no answer, which leads to another query; loops have limits, at which
the best attempt is kept. If no passage is relevant, or no attempt is partly grounded, it says that no answer was found.
"""

from langgraph.graph import END, START, StateGraph

from rag.graph.context import GraphLimits, RunContext
from rag.graph.state import State
from rag.graph.step import Choice, router
from rag.nodes.check_answer import (
    best_of,
    check_answer,
    check_grounding,
    check_usefulness,
    keep_best_attempt,
    start_checks,
)
from rag.nodes.decline import decline
from rag.nodes.generate import draft_answer, generate, grade_and_draft
from rag.nodes.grade_documents import grade_documents, has_relevant_grade
from rag.nodes.retrieve import retrieve
from rag.nodes.rewrite import rewrite_question
from rag.pipelines.pipeline import Pipeline


@router
def after_grade_documents(state: State, limits: GraphLimits) -> Choice:
    if state["relevant"]:
        is_graded = has_relevant_grade(state)
        return Choice("generate", "relevant_found") if is_graded else Choice("generate", "not_graded")
    if state.get("rewrites", 0) < limits.rewrites:
        return Choice("rewrite_question", "nothing_relevant")
    return Choice(_end(state), "rewrite_limit")


@router
def after_rewrite_question(state: State, limits: GraphLimits) -> Choice:
    if state["reworded"]:
        return Choice("retrieve", "reworded")
    # The same query would find the same passages.
    return Choice(_end(state), "not_reworded")


@router
def after_generate(state: State, limits: GraphLimits) -> Choice | None:
    if not state["answer"].is_no_answer:
        return None  # it is checked
    end = _end(state)
    if end == "decline":
        end = END  # the no answer is already shown
    if at_limit := _at_limit(end, state, limits):
        return at_limit
    if not state["relevant"]:  # a person has left out all of them
        return Choice("rewrite_question", "nothing_relevant")
    return Choice("rewrite_question", "says_no")


@router
def after_check_answer(state: State, limits: GraphLimits) -> Choice:
    if state["grounding"].verdict == "no":
        if state.get("generations", 0) >= limits.generations:
            return Choice(_end(state), "generation_limit")
        to = "generate" if limits.regenerates else _end(state)
        return Choice(to, "partly_grounded") if state["grounding"].level == "partly" else Choice(to, "not_grounded")
    if state["usefulness"].verdict == "no":
        return _at_limit(_end(state), state, limits) or Choice("rewrite_question", "not_useful")
    if "unknown" in (state["grounding"].verdict, state["usefulness"].verdict):
        return Choice(END, "check_unreadable")
    return Choice(END, "confirmed")


def _at_limit(end: str, state: State, limits: GraphLimits) -> Choice | None:
    """The end, if there may be no other answer or no other query."""
    if state.get("generations", 0) >= limits.generations:
        return Choice(end, "generation_limit")
    if state.get("rewrites", 0) >= limits.rewrites:
        return Choice(end, "rewrite_limit")
    return None


def _end(state: State) -> str:
    """The best attempt is kept, unconfirmed, if it is at least partly grounded."""
    attempts = state.get("attempts")
    return "keep_best_attempt" if attempts and best_of(attempts).grounding.level != "no" else "decline"


graph = (
    StateGraph(State, context_schema=RunContext)
    .add_node(retrieve)
    .add_node(grade_documents)
    .add_node(draft_answer, destinations={"generate": "kept"})  # ends with the grading, which decides the next step
    .add_node(rewrite_question)
    .add_node(generate)
    .add_node(check_grounding)
    .add_node(check_usefulness)
    .add_node(check_answer)
    .add_node(keep_best_attempt)
    .add_node(decline)
    #
    .add_edge(START, "retrieve")
    .add_conditional_edges("retrieve", grade_and_draft, ["grade_documents", "draft_answer"])
    .add_conditional_edges(
        "grade_documents", after_grade_documents, ["generate", "rewrite_question", "keep_best_attempt", "decline"]
    )
    .add_conditional_edges("rewrite_question", after_rewrite_question, ["retrieve", "keep_best_attempt", "decline"])
    .add_conditional_edges("generate", start_checks, ["check_grounding", "check_usefulness"])
    .add_conditional_edges("generate", after_generate, ["rewrite_question", "keep_best_attempt", END])
    .add_edge(["check_grounding", "check_usefulness"], "check_answer")
    .add_conditional_edges(
        "check_answer", after_check_answer, ["generate", "rewrite_question", "keep_best_attempt", "decline", END]
    )
    .add_edge("keep_best_attempt", END)
    .add_edge("decline", END)
)

self_rag = Pipeline("self_rag", graph)
