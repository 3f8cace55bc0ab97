from collections.abc import Sequence

from rag.graph.state import State
from rag.graph.step import Assessing, NodeStep, step
from rag.models.grades import UNREADABLE
from rag.trace import AssessmentDetail, Grade, PassageGrade

UNTOLD = {"yes": 1.0, "no": 0.0, "unknown": 0.5}
"""the score of a grade that has none; not known is neither good nor bad"""


@step
async def assess(state: State, step: NodeStep) -> State:
    """Whether what was found is correct, incorrect or ambiguous, by its grades (CRAG, arXiv 2401.15884)."""
    how, grades = step.tools.assessing, state["grades"]
    graded = [PassageGrade(passage=each, grade=grades.get(each.number, UNREADABLE)) for each in state["passages"]]
    action = _by_any([each.grade for each in graded]) if how.rule == "any" else _by_scores(graded, how)
    step.detail = AssessmentDetail(grades=tuple(graded), rule=how.rule, lower=how.lower, upper=how.upper, action=action)
    step.verdict = {"correct": "yes", "incorrect": "no", "ambiguous": "unknown"}[action]
    if action == "incorrect":
        return {"action": action, "relevant": []}
    if action == "ambiguous" and how.rule == "scores":
        # None is sure; those that are not surely wrong are what there is.
        return {"action": action, "relevant": [each.passage for each in graded if score(each.grade) >= how.lower]}
    return {"action": action}


def score(grade: Grade) -> float:
    return UNTOLD[grade.verdict] if grade.score is None else grade.score


def _by_scores(graded: Sequence[PassageGrade], how: Assessing) -> str:
    scores = [score(each.grade) for each in graded]
    if any(each >= how.upper for each in scores):
        return "correct"
    return "ambiguous" if any(each >= how.lower for each in scores) else "incorrect"


def _by_any(grades: Sequence[Grade]) -> str:
    """The rule of the LangGraph article: one irrelevant document sends the question to the web."""
    irrelevant = sum(grade.verdict == "no" for grade in grades)
    if irrelevant == len(grades):
        return "incorrect"
    return "ambiguous" if irrelevant else "correct"
