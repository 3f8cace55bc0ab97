"""A grade: its verdict, score and explanation."""

from typing import Literal, Self

from index_store.base.errors import Failure
from rag.trace.passages import Frozen, Passage

Verdict = Literal["yes", "no", "unknown"]
"""`unknown`: the grader gave no readable answer, which is neither yes nor no"""


class Factor(Frozen):
    """One term of a grade: its name in both languages, and its value."""

    en: str
    ja: str
    value: float


class Explanation(Frozen):
    """How a grader that adds up came to its verdict: yes where the sum of its factors is at least the threshold.

    It carries its own words, as a Failure does: whoever shows it need not know what kind of grader it was.
    """

    en: str
    ja: str
    """what is added up, such as log-odds"""
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
    """in the grader's words; empty where it gives none"""
    explanation: Explanation | None = None
    """where the grader has more to tell than a reason"""
    by_hand: bool = False
    """a person turned it over, in a fork"""

    @classmethod
    def unknown(cls) -> Self:
        return cls(verdict="unknown", score=None)


Level = Literal["fully", "partly", "no"]


class Grounding(Grade):
    """Whether an answer is grounded in its passages (ISSUP of Self-RAG, arXiv 2310.11511); `yes` where it is fully."""

    level: Level | None = None
    """None where it is not known, and in histories from before it was stored"""
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
    """why it is not graded, where the grader failed"""
