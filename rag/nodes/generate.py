"""Nodes that write an answer: from passages, speculatively during grading, from memory, or as small talk."""

import asyncio

from langgraph.runtime import Runtime

from rag.errors import PASSING
from rag.graph.context import RunContext
from rag.graph.state import State, not_grounded
from rag.graph.step import NodeStep, step
from rag.models.calls.restart import Restart
from rag.models.chat_model import Answer, AnswerStream, RejectedAnswer
from rag.nodes.decline import say_no_answer
from rag.nodes.refine import refined, strips
from rag.trace.details import DraftDetail, GenerationDetail


@step(role="answers")
async def generate(state: State, step: NodeStep) -> State:
    """Writes the answer from the remaining passages. A speculative answer from exactly these passages is used.

    If the last answer was not grounded in these passages, the model gets it and its unsupported claims.
    """
    question, passages = state["question"], state["relevant"]
    if not passages:
        return await say_no_answer(state, step)
    speculative = state.get("speculative")
    answer = speculative.take(passages) if speculative else None
    was_speculative = answer is not None
    if answer is None:
        context = step.context
        writing = step.model.answer(
            question, passages, step.usage, language=context.language, style=context.style, rejected=_rejected(state)
        )
        answer = await stream_answer(step, writing)
    numbers = tuple(passage.number for passage in passages)
    changes: State = {"generations": state.get("generations", 0) + 1, "answered_from": numbers}
    if answer.is_no_answer:
        if was_speculative:
            step.token(answer.text)
        return {**await say_no_answer(state, step, answer.text, numbers), **changes}
    step.detail = GenerationDetail(
        passages=numbers,
        text=answer.text,
        cited=answer.cited,
        drafted=was_speculative,
        is_cut=answer.is_cut,
        cut_by=answer.cut_by,
    )
    return {"answer": answer, **changes}


def _rejected(state: State) -> RejectedAnswer | None:
    """The last answer, if it is not grounded, and some of its passages are still there: a fork may leave others out."""
    numbers = {passage.number for passage in state["relevant"]}
    if not not_grounded(state) or numbers.isdisjoint(state.get("answered_from", numbers)):
        return None
    return RejectedAnswer(state["answer"].text, state["grounding"].unsupported)


@step(role="answers_from_model")
async def answer_from_memory(state: State, step: NodeStep) -> State:
    """Answers without any source. The run's outcome says so, and the page and the command line show it."""
    language, temperature = step.context.language, step.context.style.temperature
    writing = step.model.answer_from_memory(state["question"], step.usage, language=language, temperature=temperature)
    return await _without_passages(step, writing)


@step(role="answers_from_model")
async def small_talk(state: State, step: NodeStep) -> State:
    """Replies at once, without any source. The run's outcome says so."""
    language, temperature = step.context.language, step.context.style.temperature
    writing = step.model.small_talk(state["question"], step.usage, language=language, temperature=temperature)
    return await _without_passages(step, writing)


async def _without_passages(step: NodeStep, writing: AnswerStream) -> State:
    answer = await stream_answer(step, writing)
    step.detail = GenerationDetail(passages=(), text=answer.text, cited=(), is_cut=answer.is_cut, cut_by=answer.cut_by)
    return {"answer": answer}


async def stream_answer(step: NodeStep, writing: AnswerStream, *, is_shown: bool = True) -> Answer:
    """The whole answer. `is_shown`: emit its tokens while it is written. Raises ServiceError, ModelError, RunLimit."""
    async for piece in writing:
        match piece:
            case Answer():
                return piece
            case Restart() if is_shown:
                step.token("", restart=True)
            case str() if piece and is_shown:
                step.token(piece)
    raise TypeError("An answer stream ends with an Answer.")


def grade_and_draft(state: State, runtime: Runtime[RunContext]) -> list[str]:
    """Starts both nodes if a speculative answer is possible and can save time. It is not a decision in the trace."""
    return ["grade_documents", "draft_answer"] if _may_speculate(state, runtime) else ["grade_documents"]


def grade_and_draft_refined(state: State, runtime: Runtime[RunContext]) -> list[str]:
    return ["grade_documents", "draft_refined"] if _may_speculate(state, runtime) else ["grade_documents"]


def _may_speculate(state: State, runtime: Runtime[RunContext]) -> bool:
    grades = state.get("grades", {})
    known = [grades[passage.number].verdict for passage in state["passages"] if passage.number in grades]
    return runtime.context.limits.speculates and len(known) < len(state["passages"]) and "no" not in known


@step
async def draft_answer(state: State, step: NodeStep) -> State:
    """Starts the answer from all passages while they are graded. Its text is shown, and is void if a passage is
    dropped.
    """
    return await _speculate(state, step)


@step
async def draft_refined(state: State, step: NodeStep) -> State:
    """The same from refined passages: refinement needs no grades, and gives the same result after grading."""
    if speculative := state.get("speculative"):
        window = step.model.context_window.beside(state["question"])
        kept = await asyncio.to_thread(strips, state["question"], speculative.passages, window)
        speculative.passages = refined(speculative.passages, kept)
    return await _speculate(state, step)


async def _speculate(state: State, step: NodeStep) -> State:
    speculative, context = state.get("speculative"), step.context
    if speculative is None:  # in a fork of a run that ended meanwhile: no checkpoint keeps it
        step.verdict, step.detail = "no", DraftDetail(passages=(), text="", kept=False)
        return {}
    writing = step.model.answer(
        state["question"], speculative.passages, step.usage, language=context.language, style=context.style
    )
    try:
        await speculative.write(stream_answer(step, writing))
    except PASSING as error:  # the answer is then written as usual
        step.fallback = error.as_failure()
    if not speculative.kept:
        step.token("", restart=True)
        step.verdict = "no"
    step.detail = DraftDetail(
        passages=tuple(passage.number for passage in speculative.passages),
        text=speculative.kept.text if speculative.kept else "",
        kept=speculative.kept is not None,
    )
    return {}
