import asyncio

from index_store import Hit
from rag.state import State
from rag.step import NodeStep, step
from rag.trace import Passage, RetrievalDetail


@step
async def retrieve(state: State, step: NodeStep) -> State:
    """Searches the index. A passage that an earlier search of this run found keeps its number."""
    tools, how = step.tools, step.tools.retrieval
    query = state.get("query") or state["question"]
    hits = await asyncio.to_thread(tools.store.search, tools.index, query, mode=how.mode, unit=how.unit, k=how.k)
    seen = dict(state.get("seen", {}))
    passages = []
    for hit in hits:
        known = seen.get(hit.chunk_id)
        passage = _passage(hit, known.number if known else len(seen) + 1)
        seen[hit.chunk_id] = passage
        passages.append(passage)
    step.detail = RetrievalDetail(query=query, mode=how.mode, unit=how.unit, passages=tuple(passages))
    return {"query": query, "seen": seen, "passages": passages, "relevant": passages}


def _passage(hit: Hit, number: int) -> Passage:
    return Passage(number=number, **hit.model_dump(exclude={"chunk_id"}))
