from rag.citations import marked
from rag.models import Restart
from rag.state import State
from rag.step import NodeStep, step
from rag.trace import GenerationDetail


@step
async def generate(state: State, step: NodeStep) -> State:
    """Writes the answer from the passages, piece by piece, with a marker [n] at what a passage says."""
    question, passages = state["question"], state["relevant"]
    rejected = state["answer"] if "grounding" in state and state["grounding"].verdict == "no" else None
    prompt = step.model.prompts.answer(question, passages, step.tools.language, rejected)
    text = marked(question, passages, model_cites=step.model.cites)
    async for piece in step.model.stream(prompt, step.meter):
        if isinstance(piece, Restart):
            text = marked(question, passages, model_cites=step.model.cites)
            step.token("", restart=True)
        elif shown := text.feed(piece):
            step.token(shown)
    if rest := text.end():
        step.token(rest)
    step.detail = GenerationDetail(
        passages=tuple(passage.number for passage in passages), text=text.written, cited=tuple(text.cited)
    )
    return {"answer": text.written, "cited": text.cited, "generations": state.get("generations", 0) + 1}
