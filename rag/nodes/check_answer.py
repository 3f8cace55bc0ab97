"""Nodes that check an answer: grounding, usefulness, both together, and the best of several attempts.

A check that fails, or is unreadable, neither passes nor rejects an answer: the answer is unconfirmed. A no answer is
not checked: it states nothing, and does not answer the question.
"""

import asyncio
from collections.abc import Sequence

from rag.graph.state import State
from rag.graph.step import NodeStep, or_unknown, step
from rag.models.chat_model import Answer
from rag.text.citations import claims
from rag.trace.details import AnswerCheckDetail, Attempt, AttemptsDetail, Claim, GroundingDetail, UsefulnessDetail
from rag.trace.grades import Grounding, Usefulness

_BY_LEVEL = ("no", None, "partly", "fully")
"""the worst first; an unknown level may be better than a bad one"""


def start_checks(state: State) -> list[str]:
    """Both checks of an answer, at the same time; none of a no answer."""
    return [] if state["answer"].is_no_answer else ["check_grounding", "check_usefulness"]


@step(role="checks")
async def check_grounding(state: State, step: NodeStep) -> State:
    """Whether the passages state what the answer states (ISSUP of Self-RAG, arXiv 2310.11511)."""
    asking = step.model.check_grounding(state["question"], state["answer"], state["relevant"], step.usage)
    grade, step.fallback = await or_unknown(asking, Grounding.unknown())
    found = await asyncio.to_thread(_claims, state["answer"])
    step.detail = GroundingDetail(grade=grade, claims=found)
    step.verdict = grade.verdict
    return {"grounding": grade}


def _claims(answer: Answer) -> tuple[Claim, ...]:
    """A [12] that the model copied from a passage is no source."""
    return tuple(
        claim.model_copy(update={"sources": tuple(number for number in claim.sources if number in answer.cited)})
        for claim in claims(answer.text)
    )


@step(role="checks")
async def check_usefulness(state: State, step: NodeStep) -> State:
    """Whether the answer answers the question (ISUSE of Self-RAG, arXiv 2310.11511)."""
    asking = step.model.check_usefulness(state["question"], state["answer"], step.usage)
    grade, step.fallback = await or_unknown(asking, Usefulness.unknown())
    step.detail = UsefulnessDetail(grade=grade)
    step.verdict = grade.verdict
    return {"usefulness": grade}


@step(role="checks")
async def check_answer(state: State, step: NodeStep) -> State:
    """Both verdicts together, for the router after this step."""
    attempt = Attempt(
        number=state["generations"],
        text=state["answer"].text,
        cited=state["answer"].cited,
        grounding=state["grounding"],
        usefulness=state["usefulness"],
    )
    step.detail = AnswerCheckDetail(grounding=attempt.grounding, usefulness=attempt.usefulness)
    step.verdict = step.detail.verdict
    return {"attempts": [*state.get("attempts", []), attempt]}


@step
async def keep_best_attempt(state: State, step: NodeStep) -> State:
    """Keeps the best of the answers that failed: one that answers the question, then the best grounded, then the most
    useful, then the latest.
    """
    attempts = state["attempts"]
    best = best_of(attempts)
    # The page may show another text: another attempt, a later no answer, or a dropped speculative answer.
    if best is not attempts[-1] or state["answer"].is_no_answer or not state["relevant"]:
        step.token(best.text)
    step.detail = AttemptsDetail(attempts=tuple(attempts), chosen=best.number)
    return {
        "answer": Answer(best.text, best.cited),
        "grounding": best.grounding,
        "usefulness": best.usefulness,
    }


def best_of(attempts: Sequence[Attempt]) -> Attempt:
    return max(attempts, key=_worth)


def is_worth_keeping(attempt: Attempt) -> bool:
    """It answers the question, and is at least partly grounded. Unknown grades count in its favour."""
    return attempt.grounding.level != "no" and attempt.usefulness.verdict != "no"


def _worth(attempt: Attempt) -> tuple[bool, int, int, int]:
    level = _BY_LEVEL.index(attempt.grounding.level)
    return is_worth_keeping(attempt), level, attempt.usefulness.rating or 0, attempt.number
