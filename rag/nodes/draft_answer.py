import asyncio

from langgraph.runtime import Runtime

from rag.errors import PASSING
from rag.graph.state import State
from rag.graph.step import NodeStep, Tools, step
from rag.nodes.stream_answer import written
from rag.nodes.strips import refined, strips
from rag.trace import DraftDetail


def grade_and_draft(state: State, runtime: Runtime[Tools]) -> list[str]:
    """Both at once, where the model may work ahead and there is something to be ahead of. No decision of the trace."""
    return ["grade_documents", "draft_answer"] if _may_draft(state, runtime) else ["grade_documents"]


def grade_and_draft_refined(state: State, runtime: Runtime[Tools]) -> list[str]:
    return ["grade_documents", "draft_refined"] if _may_draft(state, runtime) else ["grade_documents"]


def _may_draft(state: State, runtime: Runtime[Tools]) -> bool:
    grades = state.get("grades", {})
    known = [grades[passage.number].verdict for passage in state["passages"] if passage.number in grades]
    return runtime.context.model.works_ahead and len(known) < len(state["passages"]) and "no" not in known


@step
async def draft_answer(state: State, step: NodeStep) -> State:
    """Begins the answer from all passages while they are graded. Its words are shown, and void when one is dropped."""
    return await _draft(state, step)


@step
async def draft_refined(state: State, step: NodeStep) -> State:
    """The same from what refinement leaves of them: it needs no grades, and will leave the same after them."""
    draft = state["draft"]
    cut = await asyncio.to_thread(strips, state["question"], draft.passages, step.model.room)
    draft.passages = refined(draft.passages, cut)
    return await _draft(state, step)


async def _draft(state: State, step: NodeStep) -> State:
    question, draft = state["question"], state["draft"]
    prompt = step.model.prompts.answer(question, draft.passages, step.tools.language, style=step.tools.style)
    try:
        await draft.write(written(step, prompt, question, draft.passages))
    except PASSING as error:  # nothing is lost: the answer is still to be written
        step.fallback = error.as_failure()
    if not draft.kept:
        step.token("", restart=True)
        step.verdict = "no"
    step.detail = DraftDetail(
        passages=tuple(passage.number for passage in draft.passages),
        text=draft.kept.written if draft.kept else "",
        kept=draft.kept is not None,
    )
    return {}
