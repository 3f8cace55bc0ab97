"""Corrective RAG: assesses the passages before use, and searches the web for what is missing.

After CRAG, arXiv 2401.15884, and the LangGraph article that made it a graph.

    retrieve -> grade_documents -> assess -- correct ----------------------> refine -> generate -> end
        \\-> draft_refined            |                                       ^         ^
               |                     +-- ambiguous, --> rewrite_for_web       |         |
               |                         incorrect        -> web_search ------+         |
               |                                              +-- nothing: decline      |
               +------------------------------------------------------------------------+

Differences from the article: passages are graded in parallel while a speculative answer is written; without a web
search it says so, and answers from the passages or not at all; strips are scored without a model.
"""

from langgraph.graph import END, START, StateGraph

from rag.graph.context import GraphLimits, RunContext
from rag.graph.state import State
from rag.graph.step import Choice, router
from rag.nodes.decline import decline
from rag.nodes.generate import draft_refined, generate, grade_and_draft_refined
from rag.nodes.grade_documents import assess, grade_documents
from rag.nodes.refine import refine
from rag.nodes.retrieve import retrieve
from rag.nodes.rewrite import rewrite_for_web
from rag.nodes.web_search import web_search
from rag.pipelines.pipeline import Pipeline


@router
def after_assess(state: State, limits: GraphLimits) -> Choice:
    if state["action"] == "correct":
        return Choice("refine", "correct")
    to_web = "rewrite_for_web" if limits.web else "web_search"  # web_search then records that there is none
    return Choice(to_web, "incorrect") if state["action"] == "incorrect" else Choice(to_web, "ambiguous")


@router
def after_web_search(state: State, limits: GraphLimits) -> Choice:
    if state["web"]:
        return Choice("refine", "found_on_web")
    searched = state.get("searched_web", False)
    if state["relevant"]:
        return Choice("refine", "what_there_is") if searched else Choice("refine", "what_there_is_without_web")
    return Choice("decline", "nothing_anywhere") if searched else Choice("decline", "nothing_without_web")


graph = (
    StateGraph(State, context_schema=RunContext)
    .add_node(retrieve)
    .add_node(grade_documents)
    .add_node(draft_refined, destinations={"generate": "kept"})  # ends with the grading
    .add_node(assess)
    .add_node(rewrite_for_web)
    .add_node(web_search)
    .add_node(refine)
    .add_node(generate)
    .add_node(decline)
    #
    .add_edge(START, "retrieve")
    .add_conditional_edges("retrieve", grade_and_draft_refined, ["grade_documents", "draft_refined"])
    .add_edge("grade_documents", "assess")
    .add_conditional_edges("assess", after_assess, ["refine", "rewrite_for_web", "web_search"])
    .add_edge("rewrite_for_web", "web_search")
    .add_conditional_edges("web_search", after_web_search, ["refine", "decline"])
    .add_edge("refine", "generate")
    .add_edge("generate", END)
    .add_edge("decline", END)
)

corrective = Pipeline("corrective", graph)
