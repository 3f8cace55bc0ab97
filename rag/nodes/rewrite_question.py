from rag.language import is_written_in
from rag.state import State
from rag.step import NodeStep, step
from rag.trace import RewriteDetail

LONGEST_QUERY = 300
"""characters; what is longer is an essay on the question, not a question"""


@step
async def rewrite_question(state: State, step: NodeStep) -> State:
    """Rewords the question for the next search, in its own language."""
    language, before = step.tools.language, state["query"]
    written = await step.model.write(step.model.prompts.rewrite(state["question"], before, language), step.meter)
    after = written.splitlines()[0].strip(" 　\"'“”「」『』")
    # A small model slips into another language, or answers instead of asking: then what was asked is better.
    usable = 0 < len(after) <= LONGEST_QUERY and is_written_in(after, language)
    step.detail = RewriteDetail(before=before, after=after if usable else before, refused=None if usable else written)
    step.verdict = "yes" if usable else "no"
    rewrites = state.get("rewrites", 0) + 1
    if not usable:
        return {"query": before, "rewrites": rewrites}
    return {"query": after, "words": None, "rewrites": rewrites}  # search words were those of the question before
