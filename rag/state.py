"""What the nodes of a graph hand to each other."""

from typing import TypedDict

from rag.trace import Grade, Passage


class State(TypedDict, total=False):
    question: str
    """as it was asked; answers and grades are held against this one"""
    query: str
    """what is searched: the question, or its latest rewrite"""
    words: tuple[str, ...] | None
    """what the keyword side is asked for; None: the words of `query`"""
    seen: dict[tuple[str, int, int], Passage]
    """every passage of the run by its section and where in it, so that it keeps its number"""
    passages: list[Passage]
    """what the last search found"""
    grades: dict[int, Grade]
    """by passage number"""
    relevant: list[Passage]
    """what grading left of `passages`"""
    answer: str
    cited: list[int]
    generations: int
    rewrites: int
    grounding: Grade
    usefulness: Grade
    declined: bool
    """the answer says that the documents do not hold it"""
