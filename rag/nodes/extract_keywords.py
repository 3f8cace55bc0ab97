"""Search words: the model picks them from the question, for keyword search."""

import asyncio

from index_store.base.errors import ServiceError
from index_store.full_text.analysis import Analysis
from rag.errors import ModelError, ModelTooSlow
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.chat_model import Keywords
from rag.trace.details import KeywordsDetail, NotUsed

TIME_LIMIT = 30
"""seconds: the question's own words are equally good (docs/pipelines/hybrid.md), and available at once"""

MOST_WORDS = 8
"""a model that names more has copied the question instead of choosing"""


@step
async def extract_keywords(state: State, step: NodeStep) -> State:
    """Lets the model pick the search words from the question; if it fails, the question's own words are used."""
    question, context = state["question"], step.context
    if context.retrieval.mode == "vector":
        step.detail = KeywordsDetail(question=question, words=(), why="no_keyword_side")
        return {"words": None}
    analysis = await asyncio.to_thread(_analysed, question, step)
    detail = KeywordsDetail(question=question, words=(), own_words=tuple(word.written for word in analysis.searched))
    try:
        found = await _ask(step, question)
    except (ServiceError, ModelError) as error:
        step.detail = detail.model_copy(update={"why": "failed", "error": error.as_failure()})
        step.verdict = "no"
        return {"words": None}
    why = await asyncio.to_thread(_reason_against, found, step)
    step.detail = detail.model_copy(update={"words": () if why else found.kept, "named": found.named, "why": why})
    step.verdict = "no" if why else "yes"
    return {"words": None if why else found.kept}


async def _ask(step: NodeStep, question: str) -> Keywords:
    try:
        async with asyncio.timeout(TIME_LIMIT):
            return await step.model.extract_keywords(question, step.usage, language=step.context.language)
    except TimeoutError as error:
        raise ModelTooSlow(model=step.model.name, seconds=TIME_LIMIT) from error


def _reason_against(found: Keywords, step: NodeStep) -> NotUsed | None:
    if len(found.kept) > MOST_WORDS:
        return "too_many"
    # A particle alone is not searched.
    if not found.kept or not _analysed(" ".join(found.kept), step).kept:
        return "none"
    return found.why_not


def _analysed(text: str, step: NodeStep) -> Analysis:
    return step.context.store.analyse(step.context.present_index(), text)
