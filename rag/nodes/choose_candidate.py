from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.text.citations import MARKER
from rag.trace import AnswerCheckDetail


@step
async def choose_candidate(state: State, step: NodeStep) -> State:
    """The best candidate is the answer; what its grades said is what the answer is worth."""
    best = state["candidates"][0]
    step.token(best.text)
    step.detail = AnswerCheckDetail(grounding=best.grounding, usefulness=best.usefulness)
    step.verdict = step.detail.verdict
    return {"answer": best.text, "cited": [int(number) for number in MARKER.findall(best.text)]}
