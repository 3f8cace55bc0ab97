"""The state that the nodes of a graph pass on."""

from typing import Annotated, Literal, TypedDict

from langgraph.channels import UntrackedValue

from rag.graph.speculative_answer import SpeculativeAnswer
from rag.models.chat_model import Answer
from rag.trace.details import Attempt, Candidate, Route
from rag.trace.grades import Grade, Grounding, Usefulness
from rag.trace.passages import Passage

STORED: tuple[type, ...] = (Answer, Attempt, Candidate, Grade, Grounding, Passage, Usefulness)
"""types that a checkpoint may contain, in addition to Python's own"""


class State(TypedDict, total=False):
    question: str
    """the question, or the standalone question for a follow-up; answers and grades refer to it"""
    query: str
    """the query: the question, or its latest rewrite"""
    queries: tuple[str, ...]
    """all queries so far, for documents and web"""
    searched_web: bool
    words: tuple[str, ...] | None
    """words for the keyword search; None: the words of `query`"""
    seen: dict[tuple[str, int, int], Passage]
    """every passage of the run, by section and place in it; so a passage keeps its number"""
    passages: list[Passage]
    """results of the last search"""
    speculative: Annotated[SpeculativeAnswer, UntrackedValue]
    """the speculative answer from `passages`; never in a checkpoint, because it is work in progress"""
    grades: dict[int, Grade]
    """by passage number; only readable grades"""
    relevant: list[Passage]
    """the passages that remain after grading"""
    answer: Answer
    """the latest answer; it may be a no answer"""
    answered_from: tuple[int, ...]
    """numbers of the passages that `answer` was written from; missing in checkpoints of earlier versions"""
    generations: int
    rewrites: int
    reworded: bool
    """the latest rewrite changed the query"""
    grounding: Grounding
    usefulness: Usefulness
    route: Route
    action: Literal["correct", "incorrect", "ambiguous"]
    """whether the retrieved passages are good enough"""
    web_query: str
    """the query for the web, if it is not the question"""
    web: list[Passage]
    """results of the web search; missing until a web search was tried"""
    attempts: list[Attempt]
    """checked answers, in order"""
    needs_documents: bool
    candidates: list[Candidate]
    """the best first"""


def not_grounded(state: State) -> bool:
    """The latest answer was checked, and is not grounded. After a no answer, the grade is of the one before it."""
    return "grounding" in state and state["grounding"].verdict == "no" and not state["answer"].is_no_answer
