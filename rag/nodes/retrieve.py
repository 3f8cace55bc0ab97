"""Retrieval: searches the documents as the run's options say."""

import asyncio

from index_store.search.hits import Hit
from rag.graph.speculative_answer import SpeculativeAnswer
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.context_window import fit_to_context
from rag.trace.details import RetrievalDetail
from rag.trace.passages import Passage


@step
async def retrieve(state: State, step: NodeStep) -> State:
    """Searches the index and trims the hits to the context window. A passage that is found again keeps its number."""
    context, how = step.context, step.context.retrieval
    query = state.get("query") or state["question"]
    words = state.get("words") if how.mode != "vector" else None
    window = step.model.context_window.beside(state["question"])

    def search() -> tuple[int, list[Hit], list[Hit]]:
        index = context.present_index()
        pending = context.store.pending(index)  # first: a document may become ready during the search
        hits = context.store.search(index, query, mode=how.mode, unit=how.unit, k=how.k, words=words)
        return pending, hits, fit_to_context(hits, window)

    pending, hits, kept = await asyncio.get_running_loop().run_in_executor(context.search_threads, search)
    seen = dict(state.get("seen", {}))
    passages = []
    for hit, found in zip(kept, hits, strict=False):
        place = (hit.section_id, hit.start, hit.end)
        known = seen.get(place)
        passage = Passage(
            number=known.number if known else len(seen) + 1,
            section_length=None if hit.text == found.text else found.end - found.start,
            **hit.model_dump(exclude={"chunk_id"}),
        )
        seen[place] = passage
        passages.append(passage)
    step.detail = RetrievalDetail(
        query=query,
        mode=how.mode,
        unit=how.unit,
        passages=tuple(passages),
        words=words,
        left_out=len(hits) - len(kept),
        pending=pending,
    )
    return {
        "query": query,
        "queries": (*state.get("queries", ()), query),
        "seen": seen,
        "passages": passages,
        "relevant": passages,
        "speculative": SpeculativeAnswer(passages),
    }
