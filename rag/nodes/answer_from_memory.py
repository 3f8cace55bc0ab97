from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.nodes.stream_answer import written
from rag.trace import GenerationDetail


@step
async def answer_from_memory(state: State, step: NodeStep) -> State:
    """Answers without any source; the run's outcome says so, and so does whoever shows it."""
    prompt = step.model.prompts.memory(state["question"], step.tools.language)
    text = await written(step, prompt, state["question"], [])
    step.detail = GenerationDetail(passages=(), text=text.written, cited=())
    return {"answer": text.written, "cited": []}
