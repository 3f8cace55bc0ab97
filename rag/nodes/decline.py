from rag.prompts import declining
from rag.state import State
from rag.step import NodeStep, step
from rag.trace import GenerationDetail


@step
async def decline(state: State, step: NodeStep) -> State:
    """Says honestly that the documents don't hold the answer, without asking the model, whose memory is no source."""
    text = declining.sentence(step.tools.index, step.tools.language)
    step.token(text)
    step.detail = GenerationDetail(passages=(), text=text, cited=())
    return {"answer": text, "cited": [], "declined": True}
