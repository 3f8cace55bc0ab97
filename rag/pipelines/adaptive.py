"""Adaptive RAG: the question decides the route; a route that fails leads to the next one.

After arXiv 2403.14403, in the form of the LangGraph articles.

    route_question -- talk ------> small_talk -> end
                   -- documents -> retrieve -> grade_documents -- relevant -----> generate -> checks -> end
                   |                       \\-> draft_answer -------------------^  ^              |
                   -- web -------> web_search -- found ----------> refine --------+              |
                                    ^                                                            |
                                    +-- nothing relevant, or an answer that does not pass -------+

If the documents fail, it searches the web; if the web fails, the documents. If both fail, it keeps the best attempt,
unconfirmed, if that is useful and partly grounded; else it declines. Differences from the articles: small talk has its
own route; the search is hybrid and by section; passages are graded in parallel while a speculative answer is written;
there are limits.
"""

from langgraph.graph import END, START, StateGraph

from rag.graph.context import GraphLimits, RunContext
from rag.graph.state import State, not_grounded
from rag.graph.step import Choice, router
from rag.nodes.check_answer import (
    check_answer,
    check_grounding,
    check_usefulness,
    is_worth_keeping,
    keep_best_attempt,
    start_checks,
)
from rag.nodes.decline import decline
from rag.nodes.generate import draft_answer, generate, grade_and_draft, small_talk
from rag.nodes.grade_documents import grade_documents, has_relevant_grade
from rag.nodes.refine import refine
from rag.nodes.retrieve import retrieve
from rag.nodes.route_question import route_question
from rag.nodes.web_search import web_search
from rag.pipelines.pipeline import Pipeline
from rag.trace.passages import Retrieval


@router
def after_route_question(state: State, limits: GraphLimits) -> Choice:
    match state["route"]:
        case "talk":
            return Choice("small_talk", "talk")
        case "web":
            return Choice("web_search", "todays_world")
    return Choice("retrieve", "for_documents")


@router
def after_grade_documents(state: State, limits: GraphLimits) -> Choice:
    if state["relevant"]:
        is_graded = has_relevant_grade(state)
        return Choice("generate", "relevant_found") if is_graded else Choice("generate", "not_graded")
    return Choice(_next_way(state), "nothing_relevant")


@router
def after_web_search(state: State, limits: GraphLimits) -> Choice:
    if state["web"]:
        return Choice("refine", "found_on_web")
    to = _next_way_or_again(state, limits)
    return Choice(to, "nothing_on_web") if state.get("searched_web") else Choice(to, "no_web")


@router
def after_generate(state: State, limits: GraphLimits) -> Choice | None:
    if not state["answer"].is_no_answer:
        return None  # it is checked
    to = _next_way(state) if state.get("generations", 0) < limits.generations else _end(state)
    to = END if to == "decline" else to
    if not state["relevant"]:  # a person has left out all of them
        return Choice(to, "nothing_relevant")
    return Choice(to, "says_no")


@router
def after_check_answer(state: State, limits: GraphLimits) -> Choice:
    grounding, usefulness = state["grounding"].verdict, state["usefulness"].verdict
    if grounding == usefulness == "yes":
        return Choice(END, "confirmed")
    if "no" not in (grounding, usefulness):
        return Choice(END, "check_unreadable")
    if state.get("generations", 0) >= limits.generations:
        return Choice(_end(state), "generation_limit")
    to = _next_way_or_again(state, limits)
    return Choice(to, "not_grounded") if grounding == "no" else Choice(to, "not_useful")


def _next_way(state: State) -> str:
    """Documents and web, each tried once."""
    if "web" not in state:
        return "web_search"
    return "retrieve" if "passages" not in state else _end(state)


def _next_way_or_again(state: State, limits: GraphLimits) -> str:
    """If both were tried, an answer that is not grounded may be written again."""
    untried = "web" not in state or "passages" not in state
    if not untried and "answer" in state and not_grounded(state):
        may = limits.regenerates and state.get("generations", 0) < limits.generations
        return "generate" if may else _end(state)
    return _next_way(state)


def _end(state: State) -> str:
    """The best attempt is kept, unconfirmed, if it is useful and at least partly grounded."""
    return "keep_best_attempt" if any(map(is_worth_keeping, state.get("attempts", ()))) else "decline"


graph = (
    StateGraph(State, context_schema=RunContext)
    .add_node(route_question)
    .add_node(small_talk)
    .add_node(retrieve)
    .add_node(grade_documents)
    .add_node(draft_answer, destinations={"generate": "kept"})  # ends with the grading
    .add_node(web_search)
    .add_node(refine)
    .add_node(generate)
    .add_node(check_grounding)
    .add_node(check_usefulness)
    .add_node(check_answer)
    .add_node(keep_best_attempt)
    .add_node(decline)
    #
    .add_edge(START, "route_question")
    .add_conditional_edges("route_question", after_route_question, ["small_talk", "retrieve", "web_search"])
    .add_edge("small_talk", END)
    .add_conditional_edges("retrieve", grade_and_draft, ["grade_documents", "draft_answer"])
    .add_conditional_edges(
        "grade_documents", after_grade_documents, ["generate", "web_search", "keep_best_attempt", "decline"]
    )
    .add_conditional_edges(
        "web_search", after_web_search, ["refine", "retrieve", "generate", "keep_best_attempt", "decline"]
    )
    .add_edge("refine", "generate")
    .add_conditional_edges("generate", start_checks, ["check_grounding", "check_usefulness"])
    .add_conditional_edges("generate", after_generate, ["web_search", "retrieve", "keep_best_attempt", END])
    .add_edge(["check_grounding", "check_usefulness"], "check_answer")
    .add_conditional_edges(
        "check_answer",
        after_check_answer,
        ["generate", "web_search", "retrieve", "keep_best_attempt", "decline", END],
    )
    .add_edge("keep_best_attempt", END)
    .add_edge("decline", END)
)

adaptive = Pipeline("adaptive", graph, Retrieval(mode="hybrid", unit="section"))
