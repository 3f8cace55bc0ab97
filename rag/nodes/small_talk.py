from rag.state import State
from rag.step import NodeStep, step
from rag.trace import GenerationDetail
from rag.writing import written


@step
async def small_talk(state: State, step: NodeStep) -> State:
    """Answers at once, from no source: the run's outcome says so."""
    prompt = step.model.prompts.talk(state["question"], step.tools.language)
    text = await written(step, prompt, state["question"], [])
    step.detail = GenerationDetail(passages=(), text=text.written, cited=())
    return {"answer": text.written, "cited": []}
