from rag.errors import NoJson
from rag.graph.side_by_side import side_by_side
from rag.graph.state import State
from rag.graph.step import NodeStep, step
from rag.models.grades import UNREADABLE, or_unknown
from rag.trace import GradesDetail, Passage, PassageGrade


@step
async def grade_documents(state: State, step: NodeStep) -> State:
    """Asks of every passage whether it bears on the question, all at once (ISREL of Self-RAG, arXiv 2310.11511).

    A passage graded earlier in the run is not asked about again. One whose grader fails or can't be read stays: it is
    not known to be irrelevant. A draft that is written meanwhile is told whether it stands, at the first one to go.
    """
    question, known, draft = state["question"], state.get("grades", {}), state.get("draft")

    async def grade(passage: Passage) -> PassageGrade:
        if passage.number in known:
            return PassageGrade(passage=passage, grade=known[passage.number], known=True)
        prompt = step.model.prompts.relevance(question, passage)
        grade, error = await or_unknown(step.model.grade(prompt, step.meter), UNREADABLE)
        if draft and grade.verdict == "no":
            draft.settle(stands=False)
        return PassageGrade(passage=passage, grade=grade, error=error)

    graded = await side_by_side(map(grade, state["passages"]))
    grades = known | {each.passage.number: each.grade for each in graded if each.grade.verdict != "unknown"}
    step.fallback = next((each.error for each in graded if each.error), None)
    if graded and not grades and not step.fallback:
        raise NoJson(model=step.model.name)
    step.detail = GradesDetail(question=question, grades=tuple(graded))
    relevant = [each.passage for each in graded if each.grade.verdict != "no"]
    if draft:
        draft.settle(stands=len(relevant) == len(graded))
    step.verdict = ("yes" if grades else "unknown") if relevant else "no"
    return {"grades": grades, "relevant": relevant}
