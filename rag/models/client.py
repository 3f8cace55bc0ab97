"""The client that every kind of chat model is asked through: one call, or one stream, with errors in plain words.

Not here: retries of 429, 5xx and refused connections, with back-off, which the openai client does.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any, Literal

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk

from index_store.base.errors import AnswerUnreadable, PlainError
from index_store.base.service import explain, host_of
from rag.errors import EmptyReply
from rag.models.admission import Admission
from rag.models.usage import Usage

log = logging.getLogger(__name__)

RETRY_PAUSE = 0.5
"""seconds before a broken stream is begun anew, doubled each time"""

FAULTS = (openai.OpenAIError, ValueError, TypeError, KeyError)
"""what the client raises: its own errors, and bare ones for an answer that is no chat completion at all"""

Message = tuple[Literal["system", "user", "assistant"], str]
Prompt = list[Message]


class Restart:
    """Stands in a stream where the connection broke: what came before is void."""


class ChatClient:
    """A server that speaks OpenAI's protocol, or in tests a scripted model in its place."""

    def __init__(
        self,
        model: BaseChatModel,
        name: str,
        *,
        base_url: str | None = None,
        retries: int = 0,
        admission: Admission | None = None,
    ) -> None:
        """`retries`: of streams that break after their first piece. `admission`: of calls, each of which waits for its
        turn; there is no bound without it.
        """
        self.name = name
        self._model = model
        self._base_url = base_url
        self._retries = retries
        self._admission = admission or Admission()

    async def ask(self, prompt: Prompt, usage: Usage, **options: Any) -> AIMessage:
        """The whole reply. `options` go into the request. Raises ServiceError, RunLimit."""
        usage.begin_call()
        async with self._admission.turn(usage.budget):
            try:
                message = await self._model.ainvoke(prompt, **options)
            except FAULTS as error:
                raise self._explained(error) from error
        usage.count(message)
        return message

    async def write(self, prompt: Prompt, usage: Usage, **options: Any) -> str:
        """The reply as text. Raises ServiceError, EmptyReply, RunLimit."""
        text = (await self.ask(prompt, usage, **options)).text.strip()
        if not text:
            raise EmptyReply(model=self.name)
        return text

    async def stream(self, prompt: Prompt, usage: Usage, **options: Any) -> AsyncIterator[AIMessageChunk | Restart]:
        """The reply, piece by piece. Raises ServiceError, EmptyReply, RunLimit."""
        empty = True
        for tries in range(self._retries + 1):
            usage.begin_call()
            begun = False
            try:
                async with self._admission.turn(usage.budget):
                    async for chunk in self._model.astream(prompt, **options):
                        begun = True
                        usage.count(chunk)
                        empty = empty and not chunk.text.strip()
                        yield chunk
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

    def _explained(self, error: Exception) -> PlainError:
        if isinstance(error, openai.OpenAIError):
            return explain(error, base_url=self._base_url, model=self.name)
        log.warning("The answer of %s is no chat completion: %s", host_of(self._base_url), type(error).__name__)
        return AnswerUnreadable(host=host_of(self._base_url), model=self.name)
