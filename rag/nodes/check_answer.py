"""Is the answer held up by its passages, and does it answer the question: two checks side by side, then their sum.

A check that fails, or can't be read, neither passes an answer nor rejects it: it stands unconfirmed.
"""

from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.grades import UNREADABLE_SUPPORT, UNREADABLE_USEFULNESS, or_unknown
from rag.text.citations import claims
from rag.trace import AnswerCheckDetail, Attempt, GroundingDetail, UsefulnessDetail


@step
async def check_grounding(state: State, step: NodeStep) -> State:
    """Whether the passages say what the answer says (ISSUP of Self-RAG, arXiv 2310.11511)."""
    asking = step.model.support(
        state["question"], state["answer"], state["relevant"], step.meter, confidence=state.get("confidence")
    )
    grade, step.fallback = await or_unknown(asking, UNREADABLE_SUPPORT)
    step.detail = GroundingDetail(grade=grade, claims=tuple(claims(state["answer"])))
    step.verdict = grade.verdict
    return {"grounding": grade}


@step
async def check_usefulness(state: State, step: NodeStep) -> State:
    """Whether the answer answers the question (ISUSE of Self-RAG, arXiv 2310.11511)."""
    asking = step.model.usefulness(state["question"], state["answer"], step.meter)
    grade, step.fallback = await or_unknown(asking, UNREADABLE_USEFULNESS)
    step.detail = UsefulnessDetail(grade=grade)
    step.verdict = grade.verdict
    return {"usefulness": grade}


@step
async def check_answer(state: State, step: NodeStep) -> State:
    """Both verdicts together; the fork behind this step reads them. An honest no is no attempt to be kept."""
    attempts = state.get("attempts", [])
    attempt = Attempt(
        number=len(attempts) + 1,
        text=state["answer"],
        cited=tuple(state["cited"]),
        grounding=state["grounding"],
        usefulness=state["usefulness"],
    )
    step.detail = AnswerCheckDetail(grounding=attempt.grounding, usefulness=attempt.usefulness)
    step.verdict = step.detail.verdict
    return {"attempts": attempts if state.get("declined") else [*attempts, attempt]}
