"""Nodes that rewrite a question: for the next search of the documents, or for a web search."""

from rag.errors import PASSING
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.text.language import Language, is_written_in
from rag.text.places import place
from rag.text.repetition import repeats
from rag.text.reply.written_line import written_line
from rag.trace.details import RewriteDetail

LONGEST_QUERY = 300
"""characters; a longer text is an essay, not a query"""

LONGEST_REASON = 200
"""characters of a passage's place and its grader's reason, of which there may be twenty; or of a no answer"""


@step(role="rewrites")
async def rewrite_question(state: State, step: NodeStep) -> State:
    """Rewrites the question for the next search, in its own language. The model is told why the last search failed.

    If it fails, or gives no usable query or one that was searched before, the query stays as it was.
    """
    language, before = step.context.language, state["query"]
    dropped, not_useful = ("", _lacking(state)) if state["relevant"] else (_dropped(state), "")
    after, refused = before, None
    try:
        written = await step.model.rewrite_question(
            state["question"], before, step.usage, language=language, dropped=dropped, not_useful=not_useful
        )
    except PASSING as error:
        step.fallback = error.as_failure()
    else:
        line = written_line(written)
        if _is_usable(line, language) and not repeats(line, state["queries"]):
            after = line
        elif not repeats(line, [before]):
            refused = written
    reworded = after != before
    step.detail = RewriteDetail(before=before, after=after, refused=refused, reason=dropped or not_useful)
    step.verdict = "yes" if reworded else "no"
    changes: State = {"reworded": reworded, "rewrites": state.get("rewrites", 0) + 1}
    if reworded:
        changes |= {"query": after, "words": None}  # the search words belong to the old query
    return changes


@step(role="rewrites")
async def rewrite_for_web(state: State, step: NodeStep) -> State:
    """Rewrites the question for a web search, in its own language; if that fails, the question itself is the query."""
    question, language = state["question"], step.context.language
    try:
        written = await step.model.rewrite_for_web(question, step.usage, language=language)
    except PASSING as error:
        step.fallback, step.verdict = error.as_failure(), "no"
        step.detail = RewriteDetail(before=question, after=question)
        return {"web_query": question}
    query = written_line(written)
    usable = _is_usable(query, language)
    step.detail = RewriteDetail(
        before=question, after=query if usable else question, refused=None if usable else written
    )
    step.verdict = "yes" if usable else "no"
    return {"web_query": query if usable else question}


def _is_usable(query: str, language: Language) -> bool:
    """A small model may change the language, or answer instead of asking: then the query before it is better."""
    return 0 < len(query) <= LONGEST_QUERY and is_written_in(query, language)


def _lacking(state: State) -> str:
    """What the latest answer lacks: a no answer says it itself."""
    answer = state["answer"]
    return answer.text[:LONGEST_REASON] if answer.is_no_answer else state["usefulness"].reason


def _dropped(state: State) -> str:
    """The places of the passages that their graders dropped, with the reasons. A fork may leave out others."""
    graded = ((passage, state.get("grades", {}).get(passage.number)) for passage in state["passages"])
    lines = ((place(passage), grade.reason) for passage, grade in graded if grade and grade.verdict == "no")
    return "\n".join(": ".join(filter(None, line))[:LONGEST_REASON] for line in lines)
