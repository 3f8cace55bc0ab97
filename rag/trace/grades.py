"""A grade: its verdict, score and explanation."""

from typing import Literal, Self

from index_store.base.errors import Failure
from rag.trace.passages import Frozen, Passage

Verdict = Literal["yes", "no", "unknown"]
"""`unknown`: the grader gave no readable answer, neither yes nor no"""


class Factor(Frozen):
    """One term of a grade: its name in both languages, and its value."""

    en: str
    ja: str
    value: float


class Explanation(Frozen):
    """How a grader that adds up factors got its verdict: yes if their sum is at least the threshold.

    It contains its own texts, like a Failure, so that pages need not know the kind of grader.
    """

    en: str
    ja: str
    """the name of what is added up, such as log-odds"""
    factors: tuple[Factor, ...]
    threshold: float

    @property
    def total(self) -> float:
        return sum(factor.value for factor in self.factors)


class Grade(Frozen):
    """A grader's verdict on one thing."""

    verdict: Verdict
    score: float | None
    """0 to 1, how sure of yes; yes from 0.5 on"""
    reason: str = ""
    """in the grader's own text; empty if it gives none"""
    explanation: Explanation | None = None
    """if the grader has more to explain than a reason"""
    by_hand: bool = False
    """a person turned it over in a fork"""

    @property
    def certainty(self) -> float:
        """How sure of yes: the score; without one, unknown is neither good nor bad."""
        return {"yes": 1.0, "no": 0.0, "unknown": 0.5}[self.verdict] if self.score is None else self.score

    @classmethod
    def unknown(cls) -> Self:
        return cls(verdict="unknown", score=None)


Level = Literal["fully", "partly", "no"]


class Grounding(Grade):
    """Whether an answer is grounded in its passages (ISSUP of Self-RAG, arXiv 2310.11511); `yes` if fully."""

    level: Level | None = None
    """None if unknown, and in old histories"""
    unsupported: tuple[str, ...] = ()
    """the claims that the passages do not state"""


class Usefulness(Grade):
    """Whether an answer answers its question (ISUSE of Self-RAG); `yes` from a rating of 3 on."""

    rating: Literal[1, 2, 3, 4, 5] | None = None


class PassageGrade(Frozen):
    passage: Passage
    grade: Grade
    known: bool = False
    """graded earlier in this run, so not asked again"""
    error: Failure | None = None
    """the grader's error, if it failed; with a no, the passage is left out for it"""
