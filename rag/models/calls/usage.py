"""The costs and texts of model calls, per step."""

import json
import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import httpx2
from langchain_core.messages import AIMessage

from index_store.base.errors import Failure, PlainError
from rag.errors import Unexpected
from rag.models.calls.budget import Budget
from rag.models.calls.prompt import Prompt
from rag.models.context_window import TOKENS_A_CHARACTER, length
from rag.text.reply.surrogates import whole_characters
from rag.trace.calls import Call, Request, ShortenedText, TokenProbability

RETRIES = "x-stainless-retry-count"
"""a request header of the openai client: the number of earlier tries of the same call"""

REFUSAL = "refusal"
"""the field of a reply in which OpenAI's models refuse to answer"""

Token = Mapping[str, Any]
"""a token of a reply in OpenAI's protocol: {"token", "logprob", "top_logprobs"}"""


@dataclass
class Usage:
    """Calls and tokens of one step."""

    budget: Budget = field(default_factory=Budget)
    """of the run"""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    record: list[Call] | None = None
    """the calls, word for word, added as they end; None: not recorded"""
    prompt: Prompt = field(default_factory=list)
    """(role, text) of each message that the first call sends instead of its own, if a person changed the prompt"""

    def take_prompt(self) -> Prompt:
        """Returns it once, and an empty list after that."""
        taken, self.prompt = self.prompt, []
        return taken

    @asynccontextmanager
    async def call(self, request: Request) -> AsyncIterator["ReceivedReply"]:
        """One call, counted at its start and recorded at its end, good or bad. Raises RunLimit."""
        await self.budget.spend_call()
        self.calls += 1
        number, reply, begun = self.calls, ReceivedReply(self), time.monotonic()
        _current.set(reply)
        error: Failure | None = None
        is_whole = False
        try:
            yield reply
            is_whole = True
        except Exception as raised:
            error = (raised if isinstance(raised, PlainError) else Unexpected(kind=type(raised).__name__)).as_failure()
            raise
        finally:
            if not error and not reply.is_counted:
                # So that nobody uses a limited service for nothing, by stopping each answer just before its end.
                self.budget.spend_tokens(_estimate(request, reply))
            if self.record is not None:
                self.record.append(
                    Call(
                        **dict(request),
                        number=number,
                        reply=ShortenedText(text=whole_characters("".join(reply.pieces))),
                        tokens=tuple(reply.tokens),
                        tokens_in=reply.tokens_in,
                        tokens_out=reply.tokens_out,
                        milliseconds=(time.monotonic() - begun) * 1000,
                        retries=reply.retries,
                        status="finished" if is_whole else "failed" if error else "stopped",
                        error=error,
                    )
                )
            await self.budget.allowance.after_call()


class ReceivedReply:
    """The reply to one call, as far as it has arrived."""

    def __init__(self, usage: Usage) -> None:
        self._usage = usage
        self.pieces: list[str] = []
        self.tokens: list[TokenProbability] = []
        self.tokens_in = self.tokens_out = self.retries = 0
        self.is_marked_whole = False
        """the service sent its mark of the end of a stream"""
        self.body: dict[str, Any] | None = None
        """the whole reply as JSON, if the service sent no stream"""
        self.is_refusal = False
        """the model refused to answer"""

    @property
    def is_counted(self) -> bool:
        """The service told its tokens, as most do at the end of a reply."""
        return self.tokens_in + self.tokens_out > 0

    def read(self, message: AIMessage) -> None:
        """Reads the whole reply, or the next piece."""
        self._count(message)
        self.pieces.append(message.text)
        if refusal := message.additional_kwargs.get(REFUSAL):
            self.is_refusal = True
            self.pieces.append(str(refusal))
        self.pieces += [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
        self.pieces += [call["args"] or "" for call in message.invalid_tool_calls]
        for each in tokens_of(message):
            # A token may be half a character.
            top = tuple(
                (whole_characters(other["token"]), other["logprob"]) for other in each.get("top_logprobs") or ()
            )
            self.tokens.append(
                TokenProbability(
                    token=whole_characters(each["token"]), logprob=each["logprob"], top=top if len(top) > 1 else ()
                )
            )

    def _count(self, message: AIMessage) -> None:
        """Adds only what is new: some servers send the count so far with every piece."""
        usage = message.usage_metadata
        if usage:
            read = max(usage["input_tokens"] - self.tokens_in, 0)
            written = max(usage["output_tokens"] - self.tokens_out, 0)
            self.tokens_in += read
            self.tokens_out += written
            self._usage.tokens_in += read
            self._usage.tokens_out += written
            self._usage.budget.spend_tokens(read + written)


def _estimate(request: Request, reply: ReceivedReply) -> int:
    """Tokens read and written, where the service does not tell them. They count for limits, and are shown nowhere."""
    texts = [message.text for message in request.messages] + reply.pieces
    return math.ceil(sum(map(length, texts)) * TOKENS_A_CHARACTER)


_current: ContextVar[ReceivedReply] = ContextVar("current reply")
"""the reply that this task's requests belong to; each call sets it"""


def current_reply() -> ReceivedReply | None:
    """The reply that this task is waiting for."""
    return _current.get(None)


async def count_retries(request: httpx2.Request) -> None:
    """A request hook of an HTTP client: the openai client reports its retries nowhere else."""
    if reply := current_reply():
        reply.retries = int(request.headers.get(RETRIES, 0))


def tokens_of(message: AIMessage) -> Sequence[Token]:
    """The reply's tokens with their log-probabilities; empty if the server does not report them."""
    return (message.response_metadata.get("logprobs") or {}).get("content") or ()
