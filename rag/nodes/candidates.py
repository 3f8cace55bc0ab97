"""Nodes of Self-RAG with candidates: one answer per passage, scored by grades; the best is chosen.

    score = 1.0 * ISREL + 1.0 * ISSUP + 0.5 * ISUSE        -0.5 to 2.5

After arXiv 2310.11511, section 3.3, with the paper's weights and values (its section 4.3 and appendix A.3). The paper
takes the expectation over the model's reflection tokens and adds the probability of the text. Here a grader gives one
grade, which counts fully, and the probability is not available; the paper's own code leaves it out by default.
"""

from collections.abc import Coroutine
from typing import Any, TypeVar

from index_store.base.errors import Failure, PlainError
from rag.errors import PASSING, NoJson
from rag.graph.concurrency import both, gather
from rag.graph.state import State
from rag.graph.step import NodeStep, or_unknown, step
from rag.models.chat_model import Answer
from rag.nodes.generate import stream_answer
from rag.text.citations import markers_of
from rag.trace.details import AnswerCheckDetail, Candidate, CandidatesDetail, FailedCandidate
from rag.trace.grades import Grade, Grounding, Level, Usefulness
from rag.trace.passages import Passage

G = TypeVar("G", bound=Grade)

RELEVANCE, GROUNDING, USEFULNESS = 1.0, 1.0, 0.5
"""weights of the three grades"""

_LEVEL: dict[Level | None, float] = {"fully": 1.0, "partly": 0.5, "no": 0.0, None: 0.5}
_RATING = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0, None: 0.0}
"""unknown grades count as the middle, neither yes nor no"""


def weighted_score(relevance: Grade, grounding: Grounding, usefulness: Usefulness) -> float:
    support, use = _LEVEL[grounding.level], _RATING[usefulness.rating]
    return RELEVANCE * relevance.certainty + GROUNDING * support + USEFULNESS * use


class _Writing:
    """Writes an answer from each passage alone, and grades each one at once."""

    def __init__(self, question: str, step: NodeStep) -> None:
        self.errors: list[PlainError] = []
        """for which answers could not be written, the first one first"""
        self._question = question
        self._step = step
        self._model = step.model
        self._usage = step.usage

    async def candidate(self, passage: Passage) -> Candidate | FailedCandidate:
        relevance, written = await both(
            self._graded(self._model.grade_relevance(self._question, passage, self._usage), Grade.unknown()),
            self._written(passage),
        )
        if isinstance(written, Failure):
            return FailedCandidate(passage=passage, relevance=relevance, error=written)
        answer, grounding, usefulness = written
        return Candidate(
            passage=passage,
            text=answer.text,
            relevance=relevance,
            grounding=grounding,
            usefulness=usefulness,
            score=weighted_score(relevance, grounding, usefulness),
            is_no_answer=answer.is_no_answer,
            is_cut=answer.is_cut,
            cut_by=answer.cut_by,
            cited=answer.cited,
        )

    async def _written(self, passage: Passage) -> tuple[Answer, Grounding, Usefulness] | Failure:
        question, model, usage, context = self._question, self._model, self._usage, self._step.context
        writing = model.answer(question, [passage], usage, language=context.language, style=context.style)
        try:
            answer = await stream_answer(self._step, writing, is_shown=False)
        except PASSING as error:
            self.errors.append(error)
            return error.as_failure()
        grounding, usefulness = await both(
            self._graded(model.check_grounding(question, answer, [passage], usage), Grounding.unknown()),
            self._graded(model.check_usefulness(question, answer, usage), Usefulness.unknown()),
        )
        return answer, grounding, usefulness

    async def _graded(self, asking: Coroutine[Any, Any, G], unknown: G) -> G:
        grade, error = await or_unknown(asking, unknown)
        self._step.fallback = self._step.fallback or error
        return grade


@step
async def write_candidates(state: State, step: NodeStep) -> State:
    """Writes an answer from each passage alone, and grades each one at once; all in parallel.

    An answer that can't be written is told with its error. Raises the first error if none could be written, and NoJson
    if no grade of any could be read.
    """
    writing = _Writing(state["question"], step)
    tried = await gather(map(writing.candidate, state["passages"]))
    candidates = [each for each in tried if isinstance(each, Candidate)]
    if writing.errors:
        if not candidates:
            raise writing.errors[0]
        step.fallback = writing.errors[0].as_failure()
    if candidates and not step.fallback and all(map(_is_ungraded, candidates)):
        raise NoJson(model=step.model.name)
    # An answer that is not grounded in its passage is never chosen, whatever its score: the paper's hard control.
    candidates.sort(key=lambda each: (each.is_grounded, each.score), reverse=True)
    step.detail = CandidatesDetail(
        candidates=tuple(candidates), failed=tuple(each for each in tried if isinstance(each, FailedCandidate))
    )
    step.verdict = "yes" if any(each.is_grounded for each in candidates) else "no"
    return {"candidates": candidates}


def _is_ungraded(candidate: Candidate) -> bool:
    grades = (candidate.relevance, candidate.grounding, candidate.usefulness)
    return all(grade.verdict == "unknown" for grade in grades)


@step
async def choose_candidate(state: State, step: NodeStep) -> State:
    """The best candidate becomes the answer; its grades are the check of the answer."""
    best = state["candidates"][0]
    step.token(best.text)
    step.detail = AnswerCheckDetail(grounding=best.grounding, usefulness=best.usefulness)
    step.verdict = step.detail.verdict
    return {"answer": Answer(best.text, markers_of(best.text) if best.cited is None else best.cited)}
