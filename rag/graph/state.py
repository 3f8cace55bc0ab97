"""The state that the nodes of a graph pass on."""

from typing import Annotated, Literal, TypedDict

from langgraph.channels import UntrackedValue

from rag.graph.speculative_answer import SpeculativeAnswer
from rag.models.chat_model import Answer
from rag.trace.details import Attempt, Candidate, Route
from rag.trace.grades import Grade, Grounding, Usefulness
from rag.trace.passages import Passage

STORED: tuple[type, ...] = (Answer, Attempt, Candidate, Grade, Grounding, Passage, Usefulness)
"""all types of its values that a checkpoint may hold, beside those of Python"""


class State(TypedDict, total=False):
    question: str
    """as it was asked, a follow-up condensed; answers and grades are held against this one"""
    query: str
    """what is searched: the question, or its latest rewrite"""
    queries: tuple[str, ...]
    """all that was searched for, in the documents and elsewhere"""
    searched_web: bool
    words: tuple[str, ...] | None
    """what the keyword search is asked for; None: the words of `query`"""
    seen: dict[tuple[str, int, int], Passage]
    """every passage of the run by its section and where in it, so that it keeps its number"""
    passages: list[Passage]
    """what the last search found"""
    speculative: Annotated[SpeculativeAnswer, UntrackedValue]
    """from all of them, begun while they are graded; in no checkpoint, as it is work under way"""
    grades: dict[int, Grade]
    """by passage number; those that could be read"""
    relevant: list[Passage]
    """what grading left of `passages`"""
    answer: Answer
    """the latest; one that is no answer says so"""
    generations: int
    rewrites: int
    reworded: bool
    """whether the latest rewrite gave another query"""
    grounding: Grounding
    usefulness: Usefulness
    route: Route
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
