from rag.errors import PASSING
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.nodes.rewrite_question import LONGEST_QUERY
from rag.text.language import is_written_in
from rag.trace import RewriteDetail


@step
async def rewrite_for_web(state: State, step: NodeStep) -> State:
    """Rewords the question for a web search, in its own language; where that fails, it is searched for as it is."""
    question, language = state["question"], step.tools.language
    try:
        written = await step.model.write(step.model.prompts.web_query(question, language), step.meter)
    except PASSING as error:
        step.fallback, step.verdict = error.as_failure(), "no"
        step.detail = RewriteDetail(before=question, after=question)
        return {"web_query": question}
    query = written.splitlines()[0].strip(" 　\"'“”「」『』")
    usable = 0 < len(query) <= LONGEST_QUERY and is_written_in(query, language)
    step.detail = RewriteDetail(
        before=question, after=query if usable else question, refused=None if usable else written
    )
    step.verdict = "yes" if usable else "no"
    return {"web_query": query if usable else question}
