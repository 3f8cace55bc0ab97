"""Self-RAG: the model grades what was found, and then what it wrote.

After arXiv 2310.11511, in the form that the LangGraph articles gave it.

    retrieve -> grade_documents -> generate -> check_grounding  -> check_answer -> end
       ^              |               ^    \\-> check_usefulness -/      |
       |              v               |                                |
       +------ rewrite_question <-----+----- not grounded: again ------+  not useful: rewrite

Departs from the articles: all passages are graded at once, so are grounding and usefulness; loops have limits; when
nothing relevant is left it says so instead of answering from memory.
"""

from langgraph.graph import END, START, StateGraph

from rag.nodes import (
    check_answer,
    check_grounding,
    check_usefulness,
    decline,
    generate,
    grade_documents,
    retrieve,
    rewrite_question,
)
from rag.pipelines.pipeline import Pipeline
from rag.state import State
from rag.step import Choice, Limits, Tools, choice


@choice
def after_grade_documents(state: State, limits: Limits) -> Choice:
    if state["relevant"]:
        return Choice("generate", "relevant_found")
    if state.get("rewrites", 0) < limits.rewrites:
        return Choice("rewrite_question", "nothing_relevant")
    return Choice("decline", "rewrite_limit")


@choice
def after_check_answer(state: State, limits: Limits) -> Choice:
    if state["grounding"].verdict == "no":
        if state["generations"] < limits.generations:
            return Choice("generate", "not_grounded")
        return Choice(END, "generation_limit")
    if state["usefulness"].verdict == "no":
        if state["generations"] >= limits.generations:
            return Choice(END, "generation_limit")
        if state.get("rewrites", 0) < limits.rewrites:
            return Choice("rewrite_question", "not_useful")
        return Choice(END, "rewrite_limit")
    if "unknown" in (state["grounding"].verdict, state["usefulness"].verdict):
        return Choice(END, "check_unreadable")
    return Choice(END, "confirmed")


graph = (
    StateGraph(State, context_schema=Tools)
    .add_node(retrieve)
    .add_node(grade_documents)
    .add_node(rewrite_question)
    .add_node(generate)
    .add_node(check_grounding)
    .add_node(check_usefulness)
    .add_node(check_answer)
    .add_node(decline)
    #
    .add_edge(START, "retrieve")
    .add_edge("retrieve", "grade_documents")
    .add_conditional_edges("grade_documents", after_grade_documents, ["generate", "rewrite_question", "decline"])
    .add_edge("rewrite_question", "retrieve")
    .add_edge("generate", "check_grounding")
    .add_edge("generate", "check_usefulness")
    .add_edge(["check_grounding", "check_usefulness"], "check_answer")
    .add_conditional_edges("check_answer", after_check_answer, ["generate", "rewrite_question", END])
    .add_edge("decline", END)
)

self_rag = Pipeline("self_rag", graph)
