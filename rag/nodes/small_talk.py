from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.nodes.stream_answer import written
from rag.trace import GenerationDetail


@step
async def small_talk(state: State, step: NodeStep) -> State:
    """Answers at once, from no source: the run's outcome says so."""
    prompt = step.model.prompts.talk(state["question"], step.tools.language)
    text = await written(step, prompt, state["question"], [])
    step.detail = GenerationDetail(passages=(), text=text.written, cited=())
    return {"answer": text.written, "cited": []}
