import asyncio

from rag.errors import NoJson
from rag.state import State
from rag.step import NodeStep, step
from rag.trace import Grade, GradesDetail, Passage, PassageGrade


@step
async def grade_documents(state: State, step: NodeStep) -> State:
    """Asks of every passage whether it bears on the question, all at once (ISREL of Self-RAG, arXiv 2310.11511).

    A passage graded earlier in the run is not asked about again. One whose grade can't be read stays: it is not known
    to be irrelevant.
    """
    question, known = state["question"], state.get("grades", {})

    async def grade(passage: Passage) -> Grade:
        prompt = step.model.prompts.relevance(question, passage)
        return await step.model.grade(prompt, step.meter)

    new = [passage for passage in state["passages"] if passage.number not in known]
    try:
        async with asyncio.TaskGroup() as group:  # one that fails ends the others, and their requests
            asked = [group.create_task(grade(passage)) for passage in new]
    except ExceptionGroup as failed:
        first = failed.exceptions[0]
        raise first from first.__cause__
    graded = [task.result() for task in asked]
    if graded and all(each.verdict == "unknown" for each in graded):
        raise NoJson(model=step.model.name)
    grades = {**known, **{passage.number: each for passage, each in zip(new, graded, strict=True)}}
    step.detail = GradesDetail(
        question=question,
        grades=tuple(
            PassageGrade(passage=passage, grade=grades[passage.number], known=passage.number in known)
            for passage in state["passages"]
        ),
    )
    relevant = [passage for passage in state["passages"] if grades[passage.number].verdict != "no"]
    step.verdict = "yes" if relevant else "no"
    return {"grades": grades, "relevant": relevant}
