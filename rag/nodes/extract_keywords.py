import asyncio
from collections.abc import Sequence

from index_store.base.errors import ServiceError
from rag.errors import ModelError, ModelTooSlow
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.keywords import MOST_WORDS, standing_in
from rag.trace import KeywordsDetail, NotUsed

TIME_LIMIT = 30
"""seconds: the question's own words do as well (docs/pipelines/hybrid.md), and are there at once"""


@step
async def extract_keywords(state: State, step: NodeStep) -> State:
    """Has the model pick the search words out of the question; where it can't, the question's own words serve."""
    question, tools = state["question"], step.tools
    if tools.retrieval.mode == "vector":
        step.detail = KeywordsDetail(question=question, words=(), why="no_keyword_side")
        return {"words": None}
    analysis = await asyncio.to_thread(tools.store.analyse, tools.index, question)
    detail = KeywordsDetail(
        question=question, words=(), own_words=tuple(word.written for word in analysis.words if not word.dropped)
    )
    try:
        named = await _ask(step, question)
    except (ServiceError, ModelError) as error:
        step.detail = detail.model_copy(update={"why": "failed", "error": error.as_failure()})
        step.verdict = "no"
        return {"words": None}
    words = standing_in(question, named)
    why = await asyncio.to_thread(_reason_against, words, named, step)
    step.detail = detail.model_copy(update={"words": () if why else words, "named": named, "why": why})
    step.verdict = "no" if why else "yes"
    return {"words": None if why else words}


async def _ask(step: NodeStep, question: str) -> tuple[str, ...]:
    try:
        async with asyncio.timeout(TIME_LIMIT):
            return await step.model.keywords(step.model.prompts.keywords(question, step.tools.language), step.meter)
    except TimeoutError as error:
        raise ModelTooSlow(model=step.model.name, seconds=TIME_LIMIT) from error


def _reason_against(words: Sequence[str], named: Sequence[str], step: NodeStep) -> NotUsed | None:
    if len(words) > MOST_WORDS:
        return "too_many"
    # A word that is no more than a particle is not searched.
    if not words or not step.tools.store.analyse(step.tools.index, " ".join(words)).kept:
        return "none"
    # What such a model puts in other words is often the very word that matters (docs/pipelines/hybrid.md).
    if not step.model.copies and len(words) < len(set(named)):
        return "invented"
    return None
