"""A chat model as steps use it: what every kind of it has in common.

Not here: retries of 429, 5xx and refused connections, with back-off, which the openai client does.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable

from index_store.base.errors import AnswerUnreadable, PlainError
from index_store.base.service import explain, host_of
from rag.errors import EmptyReply
from rag.models.budget import Budget
from rag.models.context_window import Room
from rag.models.grades import GradingPrompt, Prompt
from rag.text.routing import Routed
from rag.trace import Grade, Passage, Support, Usefulness

log = logging.getLogger(__name__)

RETRY_PAUSE = 0.5
"""seconds before a broken stream is begun anew, doubled each time"""

FAULTS = (openai.OpenAIError, ValueError, TypeError, KeyError)
"""what the client raises: its own errors, and bare ones for an answer that is no chat completion at all"""


@dataclass
class Meter:
    """What a step's model calls cost, in calls and tokens."""

    budget: Budget = field(default_factory=Budget)
    """of the run"""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def begin_call(self) -> None:
        """Raises RunLimit."""
        self.budget.spend_call()
        self.calls += 1

    def count(self, message: AIMessage) -> None:
        usage = message.usage_metadata
        if usage:
            self.tokens_in += usage["input_tokens"]
            self.tokens_out += usage["output_tokens"]
            self.budget.spend_tokens(usage["input_tokens"] + usage["output_tokens"])


@dataclass(frozen=True)
class Piece:
    """Of an answer that is being written."""

    text: str
    logprobs: tuple[float, ...] = ()
    """of its tokens, where the model tells them"""


class Restart:
    """Stands in a stream where the connection broke: what came before is void."""


def told_tokens(message: AIMessage) -> Sequence[Mapping]:
    """Its tokens as OpenAI's protocol lists them: {"token", "logprob", "top_logprobs"}; none where it does not."""
    return (message.response_metadata.get("logprobs") or {}).get("content") or ()


class ChatModel:
    """A chat model as steps use it."""

    prompts: ModuleType
    """the wording for this kind of model"""
    cites: bool
    """whether it puts [n] into its answers by itself"""
    room: Room
    """for the passages of a prompt"""
    copies: bool
    """whether what it copies out of a text can be trusted where another part of it is its own invention"""
    corrects: bool
    """whether an answer that was rejected comes out better when it is asked for again"""
    works_ahead: bool
    """whether a draft is begun that may be in vain: not where calls wait for each other, nor where tokens are dear"""

    def __init__(self, client: BaseChatModel, name: str, *, base_url: str | None = None, retries: int = 0) -> None:
        self.client = client
        self.name = name
        self._base_url = base_url
        self._retries = retries

    def stream(self, prompt: Prompt, meter: Meter) -> AsyncIterator[Piece | Restart]:
        """The answer, piece by piece. Raises ServiceError, ModelError."""
        return self._stream(self.client, prompt, meter)

    async def _stream(self, client: Runnable, prompt: Prompt, meter: Meter) -> AsyncIterator[Piece | Restart]:
        empty = True
        for tries in range(self._retries + 1):
            meter.begin_call()
            begun = False
            try:
                async for chunk in client.astream(prompt):
                    begun = True
                    meter.count(chunk)
                    piece = Piece(chunk.text, tuple(token["logprob"] for token in told_tokens(chunk)))
                    empty = empty and not piece.text.strip()
                    if piece.text or piece.logprobs:
                        yield piece
                break
            except FAULTS as error:
                # Until an answer begins the openai client retries; from then on a broken connection is ours to mend.
                broken = isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError)
                if not (begun and broken) or tries == self._retries:
                    raise self._explained(error) from error
            empty = True
            yield Restart()
            await asyncio.sleep(RETRY_PAUSE * 2**tries)
        if empty:
            raise EmptyReply(model=self.name)

    async def write(self, prompt: Prompt, meter: Meter) -> str:
        """The whole answer. Raises ServiceError, ModelError."""
        try:
            text = (await self._ask(self.client, prompt, meter)).text.strip()
        except FAULTS as error:
            raise self._explained(error) from error
        if not text:
            raise EmptyReply(model=self.name)
        return text

    async def grade(self, prompt: GradingPrompt, meter: Meter) -> Grade:
        """Yes or no, or `unknown` where no answer could be read. Raises ServiceError, ModelError."""
        raise NotImplementedError

    async def support(
        self,
        question: str,
        answer: str,
        passages: Sequence[Passage],
        meter: Meter,
        *,
        confidence: float | None = None,
    ) -> Support:
        """Whether the passages bear the answer out. `confidence`: the mean log-probability of its tokens, if known.

        Raises ServiceError, ModelError.
        """
        raise NotImplementedError

    async def usefulness(self, question: str, answer: str, meter: Meter) -> Usefulness:
        """Whether it answers the question. Raises ServiceError, ModelError."""
        raise NotImplementedError

    async def keywords(self, prompt: Prompt, meter: Meter) -> tuple[str, ...]:
        """The words that it picks, not checked yet. Raises ServiceError, ModelError."""
        raise NotImplementedError

    async def route(self, question: str, meter: Meter) -> Routed:
        """Whether it is small talk, or one for the documents or the web. Raises ServiceError, ModelError."""
        raise NotImplementedError

    async def _ask(self, client: Runnable, prompt: Prompt, meter: Meter) -> AIMessage:
        meter.begin_call()
        message = await client.ainvoke(prompt)
        meter.count(message)
        return message

    def _explained(self, error: Exception) -> PlainError:
        if isinstance(error, openai.OpenAIError):
            return explain(error, base_url=self._base_url, model=self.name)
        log.warning("The answer of %s is no chat completion: %s", host_of(self._base_url), type(error).__name__)
        return AnswerUnreadable(host=host_of(self._base_url), model=self.name)
