from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.grades import UNREADABLE, or_unknown
from rag.trace import RetrievalNeedDetail

LEAST_NEED = 0.2
"""how sure of yes it has to be: the paper's threshold 'to encourage frequent retrieval' (arXiv 2310.11511, 4.3)"""


@step
async def decide_retrieval(state: State, step: NodeStep) -> State:
    """Whether the question needs documents at all (Retrieve of Self-RAG); in doubt it does."""
    prompt = step.model.prompts.retrieval_need(state["question"])
    grade, step.fallback = await or_unknown(step.model.grade(prompt, step.meter), UNREADABLE)
    sure_of_no = grade.verdict == "no" and (grade.score is None or grade.score < LEAST_NEED)
    step.detail = RetrievalNeedDetail(grade=grade, needed=not sure_of_no)
    step.verdict = "no" if sure_of_no else "yes" if grade.verdict == "yes" else "unknown"
    return {"needs_documents": not sure_of_no}
