"""What a grader said."""

from typing import Literal

from pydantic import Field

from index_store.base.errors import Failure
from rag.trace.frozen import Frozen
from rag.trace.passages import Passage

MarginPart = Literal["asked", "words", "named", "unsourced", "confidence"]
"""what goes into a margin: the yes-or-no question, words that question and passage share, names and numbers that no
passage has, a sentence that no passage is the source of, how sure the model was of the answer's words"""


class Grade(Frozen):
    """A grader's word on one thing. `unknown`: it gave no readable answer, which is neither yes nor no."""

    verdict: Literal["yes", "no", "unknown"]
    score: float | None
    """0 to 1, how sure of yes; the cut is at 0.5"""
    reason: str = ""
    """in the grader's words; empty where it gives none"""
    margin: float | None = None
    """log P(yes) - log P(no) and what is added to it, for a grader that is read by its log-probabilities"""
    parts: dict[MarginPart, float] = Field(default_factory=dict)
    """the margin's, that add up to it; empty in histories of before they were told"""
    cut: float | None = None
    """the margin from which on it counts as yes"""


Level = Literal["fully", "partly", "no"]


class Support(Grade):
    """Whether the passages bear an answer out (ISSUP of Self-RAG, arXiv 2310.11511); `yes` where they do in full."""

    level: Level | None = None
    """None where it is not known, and in histories of before it was told"""
    unsupported: tuple[str, ...] = ()
    """the claims that they don't bear out"""


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
