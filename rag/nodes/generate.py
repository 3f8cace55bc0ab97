from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.nodes.decline import say_no
from rag.nodes.stream_answer import written
from rag.trace import GenerationDetail


@step
async def generate(state: State, step: NodeStep) -> State:
    """Writes the answer from the passages that are left; a draft from these very passages is the answer.

    Where the last one was not grounded, that one and its claims without support are named to the model.
    """
    question, passages = state["question"], state["relevant"]
    if not passages:
        return say_no(state, step)
    draft, rejected, unsupported = state.get("draft"), None, ()
    if "grounding" in state and state["grounding"].verdict == "no":
        rejected, unsupported = state["answer"], state["grounding"].unsupported
    text = draft.kept if draft and draft.passages == passages and rejected is None else None
    is_draft = text is not None
    if text is None:
        prompt = step.model.prompts.answer(
            question, passages, step.tools.language, rejected, unsupported, style=step.tools.style
        )
        text = await written(step, prompt, question, passages)
    generations = state.get("generations", 0) + 1
    if text.refuses:
        if is_draft:
            step.token(text.written)
        return {**say_no(state, step, text.written), "generations": generations}
    step.detail = GenerationDetail(
        passages=tuple(passage.number for passage in passages),
        text=text.written,
        cited=tuple(text.cited),
        drafted=is_draft,
    )
    return {
        "answer": text.written,
        "confidence": text.confidence,
        "cited": text.cited,
        "declined": False,
        "generations": generations,
    }
