from collections.abc import Awaitable
from typing import TypeVar

from index_store.base.errors import PlainError
from rag.errors import PASSING, NoJson
from rag.graph.side_by_side import side_by_side
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.grades import UNREADABLE, UNREADABLE_SUPPORT, UNREADABLE_USEFULNESS, or_unknown
from rag.nodes.critique import score
from rag.nodes.stream_answer import written
from rag.trace import Candidate, CandidatesDetail, Grade, Passage

T = TypeVar("T", bound=Grade)


@step
async def write_candidates(state: State, step: NodeStep) -> State:
    """Writes an answer from each passage alone, and grades each as soon as it is there; all side by side.

    An answer that can't be written is left out. Raises what failed where none could be written, and NoJson where no
    grade of any could be read.
    """
    question, model, meter = state["question"], step.model, step.meter
    failed: list[PlainError] = []

    async def graded(asking: Awaitable[T], unknown: T) -> T:
        grade, error = await or_unknown(asking, unknown)
        step.fallback = step.fallback or error
        return grade

    async def checked(passage: Passage) -> dict | None:
        prompt = model.prompts.answer(question, [passage], step.tools.language, style=step.tools.style)
        try:
            answer = await written(step, prompt, question, [passage], is_shown=False)
        except PASSING as error:
            failed.append(error)
            return None
        text, sure = answer.written, answer.confidence
        grounding, usefulness = await side_by_side(
            [
                graded(model.support(question, text, [passage], meter, confidence=sure), UNREADABLE_SUPPORT),
                graded(model.usefulness(question, text, meter), UNREADABLE_USEFULNESS),
            ]
        )
        return {"text": text, "refuses": answer.refuses, "grounding": grounding, "usefulness": usefulness}

    async def candidate(passage: Passage) -> Candidate | None:
        relevance, answer = await side_by_side(
            [graded(model.grade(model.prompts.relevance(question, passage), meter), UNREADABLE), checked(passage)]
        )
        if answer is None:
            return None
        worth = score(relevance, answer["grounding"], answer["usefulness"])
        return Candidate(passage=passage, relevance=relevance, score=worth, **answer)

    candidates = [each for each in await side_by_side(map(candidate, state["passages"])) if each]
    if failed:
        if not candidates:
            raise failed[0]
        step.fallback = failed[0].as_failure()
    if candidates and not step.fallback and all(map(_is_ungraded, candidates)):
        raise NoJson(model=model.name)
    # What its passage does not support is not chosen, however it scores: the paper's hard control.
    candidates.sort(key=lambda each: (each.is_supported, each.score), reverse=True)
    step.detail = CandidatesDetail(candidates=tuple(candidates))
    step.verdict = "yes" if any(each.is_supported for each in candidates) else "no"
    return {"candidates": candidates}


def _is_ungraded(candidate: Candidate) -> bool:
    grades = (candidate.relevance, candidate.grounding, candidate.usefulness)
    return all(grade.verdict == "unknown" for grade in grades)
