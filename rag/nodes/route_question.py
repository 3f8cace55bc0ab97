"""Nodes that choose the route of a question before anything is searched."""

from rag.errors import PASSING
from rag.graph.state import State
from rag.graph.step import NodeStep, or_unknown, step
from rag.text.question.small_talk import is_small_talk
from rag.trace.details import RetrievalNeedDetail, RouteDetail
from rag.trace.grades import Grade

LEAST_NEED = 0.2
"""how sure of yes the grade must be: the paper's threshold 'to encourage frequent retrieval' (arXiv 2310.11511, 4.3)"""


@step
async def route_question(state: State, step: NodeStep) -> State:
    """Whether it is small talk, a question for the documents, or one about current events. In doubt, the documents."""
    question = state["question"]
    detail = RouteDetail(question=question, route="documents", why="failed")
    if is_small_talk(question):
        detail = detail.model_copy(update={"route": "talk", "why": "greeting"})
    else:
        try:
            routing = await step.model.route(question, step.usage)
            detail = RouteDetail(
                question=question,
                route=routing.route,
                why=routing.why,
                reason=routing.reason,
                scores=dict(routing.scores),
            )
        except PASSING as error:
            step.fallback = error.as_failure()
    step.detail = detail
    return {"route": detail.route}


@step
async def decide_retrieval(state: State, step: NodeStep) -> State:
    """Whether the question needs documents (Retrieve of Self-RAG); in doubt, it does."""
    asking = step.model.grade_retrieval_need(state["question"], step.usage)
    grade, step.fallback = await or_unknown(asking, Grade.unknown())
    sure_of_no = grade.verdict == "no" and (grade.score is None or grade.score < LEAST_NEED)
    step.detail = RetrievalNeedDetail(grade=grade, needed=not sure_of_no)
    step.verdict = "no" if sure_of_no else "yes" if grade.verdict == "yes" else "unknown"
    return {"needs_documents": not sure_of_no}
