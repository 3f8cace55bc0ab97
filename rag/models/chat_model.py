"""The interface of a chat model for nodes, the same for every kind of model.

Each kind owns its prompts, its way of citing, its thresholds and what it permits: see service/ and embedded/.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rag.models.client import ChatClient, Restart
from rag.models.context_window import ContextWindow
from rag.models.usage import Usage
from rag.text.fence import place
from rag.text.language import Language
from rag.trace.details import Route, Turn
from rag.trace.events import Style
from rag.trace.grades import Grade, Grounding, Usefulness
from rag.trace.passages import Citation, Passage


@dataclass(frozen=True)
class Answer:
    """A complete answer of a model."""

    text: str
    """with a marker [n] behind what passage n says"""
    cited: tuple[int, ...] = ()
    """the numbers of its markers, each once"""
    is_no_answer: bool = False
    """it says that the passages do not hold the answer"""
    is_cut: bool = False
    """it ends in its midst: the model had written as many tokens as it may"""
    confidence: float | None = None
    """how sure the model was of its words, where that is told: mean log-probability of its tokens"""


AnswerStream = AsyncIterator[str | Restart | Answer]
"""pieces of an answer with its markers in place, and last the whole; after a Restart the pieces before it are void"""


@dataclass(frozen=True)
class RejectedAnswer:
    """An answer that its check rejected."""

    text: str
    unsupported: tuple[str, ...] = ()
    """its claims that the passages do not state, where the check named them"""


@dataclass(frozen=True)
class Routing:
    """The route of a question, and the reason."""

    route: Route
    why: str
    """a key that readers of the trace have words for"""
    reason: str = ""
    """in the model's words"""
    scores: tuple[tuple[Route, float], ...] = ()
    """0 to 1, for models that score each way"""


@dataclass(frozen=True)
class Keywords:
    """Search words that a model picked from a question."""

    named: tuple[str, ...]
    """as it wrote them"""
    kept: tuple[str, ...]
    """those that the question holds, each once"""
    why_not: Literal["invented"] | None = None
    """why not even these can be relied on"""


class ChatModel(ABC):
    """Every method counts its calls in `usage`, and raises ServiceError, ModelError or RunLimit."""

    context_window: ContextWindow
    regenerates: bool
    """whether it pays to ask it again for an answer that was rejected"""
    speculates: bool
    """whether an answer may be begun in vain: not where calls wait for each other, nor where tokens are dear"""
    suggests: bool
    """whether it suggests follow-ups unless the settings say otherwise"""

    def __init__(self, client: ChatClient) -> None:
        self.client = client

    @property
    def name(self) -> str:
        return self.client.name

    # Writing

    @abstractmethod
    def answer(
        self,
        question: str,
        passages: Sequence[Passage],
        usage: Usage,
        *,
        language: Language,
        style: Style,
        rejected: RejectedAnswer | None = None,
    ) -> AnswerStream:
        """From the passages alone. `rejected`: the answer before this one, from the same passages."""

    @abstractmethod
    def answer_from_memory(
        self, question: str, usage: Usage, *, language: Language, temperature: float = 0
    ) -> AnswerStream:
        """Without any source."""

    @abstractmethod
    def small_talk(self, message: str, usage: Usage, *, language: Language, temperature: float = 0) -> AnswerStream:
        """A reply to a greeting or to thanks."""

    @abstractmethod
    async def rewrite_question(
        self,
        question: str,
        query: str,
        usage: Usage,
        *,
        language: Language,
        dropped: str = "",
        not_useful: str = "",
    ) -> str:
        """Another query than `query`, unchecked. `dropped`: what that one found and grading dropped; `not_useful`: what
        its answer lacked.
        """

    @abstractmethod
    async def rewrite_for_web(self, question: str, usage: Usage, *, language: Language) -> str:
        """A query for a web search, unchecked."""

    @abstractmethod
    async def condense_question(self, question: str, turns: Sequence[Turn], usage: Usage, *, language: Language) -> str:
        """A follow-up as a standalone question, unchecked."""

    @abstractmethod
    async def suggest_follow_ups(
        self, question: str, answer: str, sources: Sequence[Citation], usage: Usage, *, language: Language
    ) -> tuple[str, ...]:
        """Up to MOST_FOLLOW_UPS questions that may come next, unchecked. `sources`: what the answer cites."""

    # Grading

    @abstractmethod
    async def grade_relevance(self, question: str, passage: Passage, usage: Usage) -> Grade:
        """Whether the passage helps to answer the question (ISREL of Self-RAG, arXiv 2310.11511)."""

    @abstractmethod
    async def check_grounding(
        self, question: str, answer: Answer, passages: Sequence[Passage], usage: Usage
    ) -> Grounding:
        """Whether the passages state what the answer states (ISSUP). `answer`: as this model gave it."""

    @abstractmethod
    async def check_usefulness(self, question: str, answer: Answer, usage: Usage) -> Usefulness:
        """Whether the answer answers the question, be it right or wrong (ISUSE)."""

    @abstractmethod
    async def grade_retrieval_need(self, question: str, usage: Usage) -> Grade:
        """Whether documents are needed to answer it (Retrieve of Self-RAG)."""

    # Reading a question

    @abstractmethod
    async def route(self, question: str, usage: Usage) -> Routing:
        """Whether it is small talk, or a question to the documents or to the web; in doubt the documents."""

    @abstractmethod
    async def extract_keywords(self, question: str, usage: Usage, *, language: Language) -> Keywords:
        """The search words in it."""


MOST_FOLLOW_UPS = 3
LONGEST_FOLLOW_UP = 150
"""characters: more is no question that fits a button"""

# What a call is about, in few words, for those who read the trace.

LONGEST_QUOTE = 120
"""characters"""


def named(passage: Passage) -> str:
    return f"[{passage.number}] {place(passage)}"


def numbered(passages: Sequence[Passage]) -> str:
    return " ".join(f"[{passage.number}]" for passage in passages)


def quoting(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"


class ModelSource(Protocol):
    """Where the engine gets its chat model from, anew for each run."""

    name: str
    runs_at_once: int | None
    """that the model can serve side by side; None where it is a matter of settings"""

    def is_ready(self) -> bool:
        """Whether `open` returns at once."""
        ...

    def open(self) -> ChatModel:
        """May take seconds. Raises PlainError when there is no model to be had."""
        ...

    async def close(self) -> None:
        """In the event loop that the model was used in."""
        ...
