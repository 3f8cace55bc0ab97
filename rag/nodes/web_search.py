"""Web search, in addition to the passages that were kept."""

from collections.abc import Sequence

from rag.errors import WebSearchError
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.trace.details import WebSearchDetail
from rag.trace.passages import Passage
from rag.web import WebResult


@step
async def web_search(state: State, step: NodeStep) -> State:
    """Searches the web, in addition to the remaining passages. Its results get the next numbers."""
    web, query = step.context.web, state.get("web_query") or state["question"]
    detail = WebSearchDetail(query=query, provider=web.provider if web else None, passages=(), why="nothing")
    seen, found = dict(state.get("seen", {})), []
    if web is None:
        detail = detail.model_copy(update={"why": "off"})
    else:
        try:
            found = _numbered(await web.search(query, step.context.language), seen)
        except WebSearchError as error:
            step.fallback = error.as_failure()
            detail = detail.model_copy(update={"why": "failed", "error": step.fallback})
    if found:
        detail = detail.model_copy(update={"passages": tuple(found), "why": None})
    step.detail = detail
    step.verdict = "yes" if found else "no"
    changes: State = {"seen": seen, "web": found, "relevant": [*state.get("relevant", []), *found]}
    if detail.why in ("off", "failed"):
        return changes
    return {**changes, "searched_web": True, "queries": (*state.get("queries", ()), query)}


def _numbered(results: Sequence[WebResult], seen: dict[tuple[str, int, int], Passage]) -> list[Passage]:
    """The results as passages, which are also added to `seen`."""
    found = []
    for rank, result in enumerate(results, start=1):
        place = (result.url, 0, len(result.text))
        seen[place] = Passage(
            number=seen[place].number if place in seen else len(seen) + 1,
            document_id="",
            section_id="",
            source=result.url,
            title=result.title,
            headings=(),
            page=None,
            text=result.text,
            start=0,
            end=len(result.text),
            origin="web",
            published=result.published,
            rank=rank,
            score=result.score,
        )
        found.append(seen[place])
    return found
