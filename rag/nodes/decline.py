"""No answer: says that none was found, what was searched, and which passages were nearest."""

import asyncio
from collections import Counter
from collections.abc import Collection

from index_store.base.errors import PlainError
from index_store.search.hits import Hit
from index_store.search.other_language import differ_in_language
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.chat_model import Answer
from rag.text.no_answer import no_answer_sentence, search_account
from rag.trace.derived.cause import nearness
from rag.trace.details import DeclineDetail, Probe
from rag.trace.passages import Passage

MOST_NEAREST = 3
"""passages that are shown with a no answer"""


@step(role="declines")
async def decline(state: State, step: NodeStep) -> State:
    """Says that no answer was found. Does not ask the model, because its memory is not a source."""
    return await say_no_answer(state, step)


async def say_no_answer(state: State, step: NodeStep, said: str = "", passages: tuple[int, ...] = ()) -> State:
    """Makes a no answer the outcome of `step`. `said`: the model's text, which is already shown; `passages`: numbers of
    those that it was given.
    """
    context, web, documents = step.context, state.get("searched_web", False), "passages" in state
    queries = state.get("queries") or (state["question"],)
    for_web = (state.get("web_query") or state["question"],) if web else ()
    for_documents = tuple(Counter(queries) - Counter(for_web))  # one query may be for both
    nearest = nearest_passages(state)
    sentence = said or no_answer_sentence(context.index, context.language, web=web, documents=documents)
    numbers = [passage.number for passage in nearest]
    account = search_account(context.index, for_documents, numbers, context.language, for_web=for_web)
    rest = f"\n\n{account}"
    step.token(rest if said else sentence + rest)
    step.detail = DeclineDetail(
        text=sentence + rest, queries=tuple(dict.fromkeys(queries)), nearest=nearest, web=web, passages=passages
    )
    # The text is already shown, so nobody waits for this search.
    probe = await _probe(state, step)
    step.detail = step.detail.model_copy(update={"probe": probe})
    return {"answer": Answer(sentence, is_no_answer=True)}


def nearest_passages(state: State) -> tuple[Passage, ...]:
    """The best passages of all searches of the run: by score of their grades if they have one, else by rank."""
    grades = state.get("grades", {})
    found = {passage.number: passage for passage in (*state.get("seen", {}).values(), *state.get("passages", ()))}

    def distance(passage: Passage) -> tuple[float, int]:
        grade = grades.get(passage.number)
        return (1 - grade.score if grade and grade.score is not None else 1.0), passage.rank

    return tuple(sorted(found.values(), key=distance)[:MOST_NEAREST])


PROBED, MOST_PROBED = 20, 5
"""chunks that are searched, and that are kept: many may be similar to the right one"""


async def _probe(state: State, step: NodeStep) -> Probe | None:
    """None if the index can't be searched: the no answer is complete without it."""
    context, question = step.context, state["question"]
    try:
        survey = await asyncio.get_running_loop().run_in_executor(
            context.search_threads,
            lambda: context.store.survey(context.present_index(), question, k=PROBED),
        )
    except PlainError:
        return None
    known = tuple(state.get("seen", {}).values())
    found = sorted(
        zip(survey.hits, survey.shares, strict=True),
        key=lambda each: nearness(
            each[1], each[0].vector_score, survey.mean, across=differ_in_language(each[0].text, question)
        ),
        reverse=True,
    )
    nearest: dict[int, tuple[Passage, float]] = {}
    for hit, share in found[:MOST_PROBED]:
        number = _number_of(hit, known) or max((len(known), *nearest)) + 1
        nearest.setdefault(number, (Passage(number=number, **hit.model_dump(exclude={"chunk_id"})), share))
    return Probe(
        nearest=tuple(passage for passage, _ in nearest.values()),
        shares=tuple(share for _, share in nearest.values()),
        seen=tuple(number for number in nearest if number <= len(known)),
        mean=survey.mean,
        words=survey.words,
        absent=survey.absent,
    )


def _number_of(hit: Hit, known: Collection[Passage]) -> int | None:
    """The number of the known passage that contains the hit, or is inside it; near duplicates count as the same."""
    for passage in known:
        is_within = passage.start <= hit.start and hit.end <= passage.end
        is_around = hit.start <= passage.start and passage.end <= hit.end
        is_it = passage.section_id == hit.section_id and (is_within or is_around)
        copies = (
            *((each.chunk_id, hit.chunk_id) for each in passage.copies),
            *((each.section_id, passage.section_id) for each in hit.copies),
        )
        if is_it or any(one == other for one, other in copies):
            return passage.number
    return None
