"""The interface of a chat model for nodes, the same for every kind of model.

Each kind has its own prompts, citations, thresholds and limits: see service/ and embedded/.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rag.models.calls.restart import Restart
from rag.models.calls.usage import Usage
from rag.models.context_window import ContextWindow
from rag.text.language import Language
from rag.trace.details import CutBy, Route, Turn
from rag.trace.events import Style
from rag.trace.grades import Grade, Grounding, Usefulness
from rag.trace.passages import Citation, Passage


@dataclass(frozen=True)
class Answer:
    """A complete answer of a model."""

    text: str
    """with a marker [n] after each statement of passage n"""
    cited: tuple[int, ...] = ()
    """the numbers of its markers, each once"""
    is_no_answer: bool = False
    """it says that the passages do not contain the answer"""
    is_cut: bool = False
    """its end is missing"""
    cut_by: CutBy = "length"
    """what ended it, if it is cut"""
    confidence: float | None = None
    """mean log-probability of its tokens, if the model reports it"""


AnswerStream = AsyncIterator[str | Restart | Answer]
"""pieces of an answer with their markers, and last the whole answer; after a Restart, earlier pieces are void"""


@dataclass(frozen=True)
class RejectedAnswer:
    """An answer that its check rejected."""

    text: str
    unsupported: tuple[str, ...] = ()
    """claims that the passages do not state, if the check named them"""


@dataclass(frozen=True)
class Routing:
    """The route of a question, and the reason."""

    route: Route
    why: str
    """a key for the reason; pages have a text for it"""
    reason: str = ""
    """in the model's own text"""
    scores: tuple[tuple[Route, float], ...] = ()
    """0 to 1, for models that score each route"""


@dataclass(frozen=True)
class Keywords:
    """Search words that a model picked from a question."""

    named: tuple[str, ...]
    """as the model wrote them"""
    kept: tuple[str, ...]
    """those that the question contains, each once"""
    why_not: Literal["invented"] | None = None
    """why even these are unreliable"""


class ChatModel(ABC):
    """Every method counts its calls in `usage`, and raises ServiceError, ModelError or RunLimit."""

    name: str
    context_window: ContextWindow
    regenerates: bool
    """True if it helps to ask the model again after a rejected answer"""
    speculates: bool
    """True if a speculative answer is worth its price: not if calls wait for each other, or tokens are expensive"""

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
        """An answer from the passages only. `rejected`: the previous answer from the same passages."""

    @abstractmethod
    def answer_from_memory(
        self, question: str, usage: Usage, *, language: Language, temperature: float = 0
    ) -> AnswerStream:
        """An answer without any source."""

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
        """A query other than `query`, unchecked. `dropped`: passages that `query` found and grading dropped;
        `not_useful`: what its answer lacked.
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
        """Up to MOST_FOLLOW_UPS possible next questions, unchecked. `sources`: the citations of the answer."""

    # Grading

    @abstractmethod
    async def grade_relevance(self, question: str, passage: Passage, usage: Usage) -> Grade:
        """Whether the passage helps to answer the question (ISREL of Self-RAG, arXiv 2310.11511)."""

    @abstractmethod
    async def check_grounding(
        self, question: str, answer: Answer, passages: Sequence[Passage], usage: Usage
    ) -> Grounding:
        """Whether the passages state what the answer states (ISSUP). `answer`: from this model."""

    @abstractmethod
    async def check_usefulness(self, question: str, answer: Answer, usage: Usage) -> Usefulness:
        """Whether the answer answers the question, right or wrong (ISUSE)."""

    @abstractmethod
    async def grade_retrieval_need(self, question: str, usage: Usage) -> Grade:
        """Whether the question needs documents (Retrieve of Self-RAG)."""

    # Reading a question

    @abstractmethod
    async def route(self, question: str, usage: Usage) -> Routing:
        """Whether it is small talk, or a question for the documents or the web; in doubt, the documents."""

    @abstractmethod
    async def extract_keywords(self, question: str, usage: Usage, *, language: Language) -> Keywords:
        """The search words in the question."""


MOST_FOLLOW_UPS = 3
LONGEST_FOLLOW_UP = 150
"""characters: a longer question does not fit a button"""


class ModelSource(Protocol):
    """Where the engine gets its chat model from, again for each run."""

    name: str
    runs_at_once: int | None
    """runs that the model can serve at the same time; None: the settings decide"""
    is_in_app: bool
    """each app has its own, on the processors of its machine; False: a service, which all apps share"""
    suggests: bool
    """True if the model suggests follow-ups, unless the settings say otherwise"""

    def is_ready(self) -> bool:
        """Whether `open` returns at once."""
        ...

    def open(self) -> ChatModel:
        """May take seconds. Raises PlainError if there is no model."""
        ...

    async def close(self) -> None:
        """Call it in the event loop that used the model."""
        ...
