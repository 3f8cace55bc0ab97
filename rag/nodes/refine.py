import asyncio

from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.nodes.strips import refined, strips
from rag.trace import RefinementDetail


@step
async def refine(state: State, step: NodeStep) -> State:
    """Leaves of the passages what bears on the question (knowledge refinement of CRAG, arXiv 2401.15884). A citation
    still opens its passage as it was found.
    """
    passages = state["relevant"]
    cut = await asyncio.to_thread(strips, state["question"], passages, step.model.room)
    step.detail = RefinementDetail(strips=tuple(cut))
    return {"relevant": refined(passages, cut)}
