"""What the nodes of a graph hand to each other."""

from typing import Literal, TypedDict

from rag.graph.speculative_answer import Draft
from rag.trace import Attempt, Candidate, Grade, Passage, Support, Usefulness


class State(TypedDict, total=False):
    question: str
    """as it was asked, a follow-up made to stand alone; answers and grades are held against this one"""
    query: str
    """what is searched: the question, or its latest rewrite"""
    queries: tuple[str, ...]
    """all that was searched for, in the documents and elsewhere"""
    searched_web: bool
    words: tuple[str, ...] | None
    """what the keyword side is asked for; None: the words of `query`"""
    seen: dict[tuple[str, int, int], Passage]
    """every passage of the run by its section and where in it, so that it keeps its number"""
    passages: list[Passage]
    """what the last search found"""
    draft: Draft
    """an answer from all of them, begun while they are graded"""
    grades: dict[int, Grade]
    """by passage number; those that could be read"""
    relevant: list[Passage]
    """what grading left of `passages`"""
    answer: str
    confidence: float | None
    """the mean log-probability of its tokens, where the model tells"""
    cited: list[int]
    generations: int
    rewrites: int
    reworded: bool
    """whether the latest rewrite gave another query"""
    grounding: Support
    usefulness: Usefulness
    route: Literal["talk", "documents", "web"]
    action: Literal["correct", "incorrect", "ambiguous"]
    """what the passages that were found are good for"""
    web_query: str
    """what the web is asked, where that is not the question"""
    web: list[Passage]
    """what a web search found; only there once the web was searched, or could not be"""
    attempts: list[Attempt]
    """the answers that were checked, in their order"""
    needs_documents: bool
    candidates: list[Candidate]
    """best first"""
    declined: bool
    """the answer says that the documents do not hold it"""
