from rag.errors import PASSING
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.text.routing import is_small_talk
from rag.trace import RouteDetail


@step
async def route_question(state: State, step: NodeStep) -> State:
    """Whether it is small talk, a question to the documents, or one about today's world. In doubt: the documents."""
    question = state["question"]
    detail = RouteDetail(question=question, route="documents", why="failed")
    if is_small_talk(question):
        detail = detail.model_copy(update={"route": "talk", "why": "greeting"})
    else:
        try:
            routed = await step.model.route(question, step.meter)
            detail = detail.model_copy(update=routed._asdict())
        except PASSING as error:
            step.fallback = error.as_failure()
    step.detail = detail
    return {"route": detail.route}
