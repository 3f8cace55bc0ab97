from collections.abc import Sequence

from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.trace import Attempt, AttemptsDetail

_BY_SUPPORT = ("no", None, "partly", "fully")
"""worst first; what could not be graded may be better than what was found wanting"""


@step
async def keep_best_attempt(state: State, step: NodeStep) -> State:
    """Of the answers that did not pass, keeps the one with the most support, then the most use, then the later one."""
    attempts = state["attempts"]
    best = best_of(attempts)
    # What is shown may be another attempt, a later no, or what a draft left that was dropped.
    if best is not attempts[-1] or state.get("declined") or not state["relevant"]:
        step.token(best.text)
    step.detail = AttemptsDetail(attempts=tuple(attempts), chosen=best.number)
    return {
        "answer": best.text,
        "cited": list(best.cited),
        "grounding": best.grounding,
        "usefulness": best.usefulness,
        "declined": False,
    }


def best_of(attempts: Sequence[Attempt]) -> Attempt:
    return max(attempts, key=_worth)


def _worth(attempt: Attempt) -> tuple[int, int, int]:
    return _BY_SUPPORT.index(attempt.grounding.level), attempt.usefulness.rating or 0, attempt.number
