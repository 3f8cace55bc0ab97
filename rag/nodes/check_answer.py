"""Is the answer held up by its passages, and does it answer the question: two checks side by side, then their sum."""

from rag.citations import claims
from rag.errors import NoJson
from rag.state import State
from rag.step import NodeStep, step
from rag.trace import AnswerCheckDetail, GroundingDetail, UsefulnessDetail


@step
async def check_grounding(state: State, step: NodeStep) -> State:
    """Whether the passages say what the answer says (ISSUP of Self-RAG, arXiv 2310.11511)."""
    prompt = step.model.prompts.grounding(state["question"], state["answer"], state["relevant"])
    grade = await step.model.grade(prompt, step.meter)
    step.detail = GroundingDetail(grade=grade, claims=tuple(claims(state["answer"])))
    step.verdict = grade.verdict
    return {"grounding": grade}


@step
async def check_usefulness(state: State, step: NodeStep) -> State:
    """Whether the answer answers the question (ISUSE of Self-RAG, arXiv 2310.11511)."""
    prompt = step.model.prompts.usefulness(state["question"], state["answer"])
    grade = await step.model.grade(prompt, step.meter)
    step.detail = UsefulnessDetail(grade=grade)
    step.verdict = grade.verdict
    return {"usefulness": grade}


@step
async def check_answer(state: State, step: NodeStep) -> State:
    """Both verdicts together; the fork behind this step reads them."""
    grounding, usefulness = state["grounding"], state["usefulness"]
    verdicts = {grounding.verdict, usefulness.verdict}
    if verdicts == {"unknown"}:
        raise NoJson(model=step.model.name)
    step.detail = AnswerCheckDetail(grounding=grounding, usefulness=usefulness)
    step.verdict = next(verdict for verdict in ("no", "unknown", "yes") if verdict in verdicts)
    return {}
