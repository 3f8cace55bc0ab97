"""Nodes that grade passages, and decide from the grades whether retrieval was good enough."""

from collections.abc import Sequence
from typing import Literal

from rag.errors import NoJson
from rag.graph.concurrency import gather
from rag.graph.context import Assessment
from rag.graph.state import State
from rag.graph.step import NodeStep, or_unknown, step
from rag.trace.details import AssessmentDetail, GradesDetail
from rag.trace.grades import Grade, PassageGrade, Verdict
from rag.trace.passages import Passage

Action = Literal["correct", "incorrect", "ambiguous"]

_VERDICTS: dict[Action, Verdict] = {"correct": "yes", "incorrect": "no", "ambiguous": "unknown"}

LEFT_OUT = Grade(verdict="no", score=None)
"""of a passage that can't be read, whatever it says"""


@step
async def grade_documents(state: State, step: NodeStep) -> State:
    """Asks for every passage whether it helps to answer the question, all in parallel (ISREL of Self-RAG, arXiv
    2310.11511).

    A passage graded earlier in the run is not graded again. If the grader fails or is unreadable, the passage stays,
    because it may be relevant. But one that a content filter refuses is left out: the answer would be refused too. If
    all are refused, it is for the question. The first irrelevant passage stops a speculative answer.
    """
    question, known, speculative = state["question"], state.get("grades", {}), state.get("speculative")

    async def grade(passage: Passage) -> PassageGrade:
        if passage.number in known:
            return PassageGrade(passage=passage, grade=known[passage.number], known=True)
        grade, error = await or_unknown(step.model.grade_relevance(question, passage, step.usage), Grade.unknown())
        if speculative and grade.verdict == "no":
            speculative.decide(keep=False)
        return PassageGrade(passage=passage, grade=grade, error=error)

    graded = await gather(map(grade, state["passages"]))
    if not all(map(_is_filtered, graded)):
        graded = [each.model_copy(update={"grade": LEFT_OUT}) if _is_filtered(each) else each for each in graded]
    grades = known | {each.passage.number: each.grade for each in graded if each.grade.verdict != "unknown"}
    step.fallback = next((each.error for each in graded if each.error), None)
    if graded and not grades and not step.fallback:
        raise NoJson(model=step.model.name)
    step.detail = GradesDetail(question=question, grades=tuple(graded))
    relevant = [each.passage for each in graded if each.grade.verdict != "no"]
    if speculative:
        speculative.decide(keep=len(relevant) == len(graded))
    found: State = {"grades": grades, "relevant": relevant}
    step.verdict = ("yes" if has_relevant_grade(found) else "unknown") if relevant else "no"
    return found


def has_relevant_grade(state: State) -> bool:
    """Whether a passage stayed because it is relevant. Others stay because they could not be graded."""
    return any(each.number in state["grades"] for each in state["relevant"])


def _is_filtered(graded: PassageGrade) -> bool:
    return graded.error is not None and graded.error.code == "reply_filtered"


@step
async def assess(state: State, step: NodeStep) -> State:
    """Whether retrieval is correct, incorrect or ambiguous, by the grades (CRAG, arXiv 2401.15884)."""
    rule, grades = step.context.assessment, state["grades"]
    graded = [PassageGrade(passage=each, grade=grades.get(each.number, Grade.unknown())) for each in state["passages"]]
    action = _by_any([each.grade for each in graded]) if rule.rule == "any" else _by_scores(graded, rule)
    step.detail = AssessmentDetail(
        grades=tuple(graded), rule=rule.rule, lower=rule.lower, upper=rule.upper, action=action
    )
    step.verdict = _VERDICTS[action]
    if action == "incorrect":
        return {"action": action, "relevant": []}
    if action == "ambiguous" and rule.rule == "scores":
        # No passage is surely right: keep those that are not surely wrong.
        return {"action": action, "relevant": [each.passage for each in graded if each.grade.certainty >= rule.lower]}
    return {"action": action}


def _by_scores(graded: Sequence[PassageGrade], rule: Assessment) -> Action:
    scores = [each.grade.certainty for each in graded]
    if any(each >= rule.upper for each in scores):
        return "correct"
    return "ambiguous" if any(each >= rule.lower for each in scores) else "incorrect"


def _by_any(grades: Sequence[Grade]) -> Action:
    """The rule of the LangGraph article: one irrelevant document leads to a web search."""
    irrelevant = sum(grade.verdict == "no" for grade in grades)
    if irrelevant == len(grades):
        return "incorrect"
    return "ambiguous" if irrelevant else "correct"
