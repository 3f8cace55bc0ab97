from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.nodes import declining
from rag.trace import DeclineDetail, Passage

MOST_NEAREST = 3
"""passages that an honest no shows"""


@step
async def decline(state: State, step: NodeStep) -> State:
    """Says honestly that the documents don't hold the answer, without asking the model, whose memory is no source."""
    return say_no(state, step)


def say_no(state: State, step: NodeStep, said: str = "") -> State:
    """An honest no as the outcome of `step`. `said`: what the model has written of it, which is shown already."""
    tools, web = step.tools, state.get("searched_web", False)
    queries = tuple(dict.fromkeys(state.get("queries") or (state["question"],)))
    nearest = nearest_passages(state)
    sentence = said or declining.sentence(tools.index, tools.language, web=web)
    account = declining.account(tools.index, queries, [passage.number for passage in nearest], tools.language, web=web)
    rest = f"\n\n{account}"
    step.token(rest if said else sentence + rest)
    step.detail = DeclineDetail(text=sentence + rest, queries=queries, nearest=nearest, web=web)
    return {"answer": sentence, "cited": [], "declined": True}


def nearest_passages(state: State) -> tuple[Passage, ...]:
    """The best of all searches of the run: by their grades where they have some, else by their ranks."""
    grades = state.get("grades", {})
    found = {passage.number: passage for passage in (*state.get("seen", {}).values(), *state.get("passages", ()))}

    def distance(passage: Passage) -> tuple[float, int]:
        grade = grades.get(passage.number)
        return (1 - grade.score if grade and grade.score is not None else 1.0), passage.rank

    return tuple(sorted(found.values(), key=distance)[:MOST_NEAREST])
