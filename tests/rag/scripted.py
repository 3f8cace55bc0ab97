"""A scripted chat model: it gives the answers that a test sets, and keeps the prompts that it gets.

After `MockModel` of simonw/llm. It answers in this process, through the same `ServiceChat` as a model behind a key.
Use tests.servers for what only HTTP shows: status codes, broken connections, timeouts.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr

from rag.models.chat_model import ChatModel
from rag.models.client.client import ChatClient
from rag.models.service.chat import ServiceChat
from tests.helpers.waiting import PATIENCE
from tests.servers.script import Script

PIECE = 4
"""characters in one streamed piece of an answer, and in one token of prompts and answers"""


class Gate:
    """Holds answers back until a test opens it."""

    def __init__(self) -> None:
        self._is_open = False
        self.waiting = 0
        """answers held back now"""
        self._changed = threading.Condition()

    def open(self) -> None:
        with self._changed:
            self._is_open = True

    def wait_for(self, count: int, timeout: float = PATIENCE) -> None:
        """Waits until `count` answers are held back at once; AssertionError after `timeout` seconds."""
        with self._changed:
            came = self._changed.wait_for(lambda: self.waiting >= count, timeout)
            assert came, f"{self.waiting} of {count} answers were held back within {timeout} s"

    async def passed(self) -> None:
        self._count(1)
        try:
            while not self._is_open:
                await asyncio.sleep(0.005)
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._changed:
            self.waiting += change
            self._changed.notify_all()


@dataclass(frozen=True)
class Held:
    """An answer that waits at a gate after `shown` was streamed. Without streaming, the whole answer waits."""

    gate: Gate
    text: str
    shown: str = ""


Answer = str | Held | Exception


class ScriptedChat(BaseChatModel):
    """
    chat.enqueue("First it says this.", ServiceBusy(host="h"))
    chat.answer_when("Question: Where", answer="In Osaka.")
    chat.default = "And this to all others."
    ...
    assert "Osaka" in chat.prompts[-1]
    """

    _script: Script[str, Answer] = PrivateAttr(default_factory=lambda: Script("A scripted answer."))
    _messages: list[list[tuple[str, str]]] = PrivateAttr(default_factory=list)

    def enqueue(self, *answers: Answer) -> None:
        """Each answer is given once, in this order, to prompts without an `answer_when`."""
        self._script.enqueue(*answers)

    def answer_when(self, *texts: str, answer: Answer, times: int | None = None) -> None:
        """Answers the next `times` prompts, or all, that contain each of `texts`. The last matching rule wins."""
        self._script.answer_when(lambda prompt: all(text in prompt for text in texts), answer, times=times)

    @property
    def default(self) -> Answer:
        return self._script.default

    @default.setter
    def default(self, answer: Answer) -> None:
        self._script.default = answer

    @property
    def prompts(self) -> list[str]:
        """All prompts so far, each as the joined texts of its messages."""
        return ["\n".join(text for _, text in messages) for messages in self._messages]

    @property
    def messages(self) -> list[list[tuple[str, str]]]:
        """The messages of all prompts so far, as (role, text)."""
        return list(self._messages)

    def prompts_with(self, text: str) -> list[str]:
        return [prompt for prompt in self.prompts if text in prompt]

    @property
    def unused(self) -> int:
        """The number of enqueued answers that nobody has asked for."""
        return self._script.unused

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        raise NotImplementedError("The engine asks its models asynchronously.")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        prompt, answer = self._take(messages)
        if isinstance(answer, Held):
            await answer.gate.passed()
            answer = answer.text
        message = AIMessage(answer, usage_metadata=usage(prompt, answer))
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        prompt, answer = self._take(messages)
        shown = answer.shown if isinstance(answer, Held) else ""
        text = answer.text if isinstance(answer, Held) else answer
        assert text.startswith(shown)
        for piece in pieces(shown):
            yield _chunk(piece)
        if isinstance(answer, Held):
            await answer.gate.passed()
        for piece in pieces(text.removeprefix(shown)):
            yield _chunk(piece)
        yield _chunk("", usage(prompt, text), ends="stop")

    def _take(self, messages: list[BaseMessage]) -> tuple[str, str | Held]:
        prompt = "\n".join(message.text for message in messages)
        self._messages.append([(message.type, message.text) for message in messages])
        answer = self._script.reply_to(prompt)
        if isinstance(answer, Exception):
            raise answer
        return prompt, answer


class ScriptedSource:
    """Gives the engine a scripted model.

    `starts`: the model must be started first. `speculates`: it gives speculative answers. `regenerates`: it is asked
    again after an answer that is not grounded.
    """

    name = "scripted"
    runs_at_once: int | None = None
    is_in_app = False
    suggests = True

    def __init__(
        self, chat: ScriptedChat, *, starts: bool = False, speculates: bool = False, regenerates: bool = True
    ) -> None:
        self._model = ServiceChat(ChatClient(chat, self.name), speculates=speculates)
        self._model.regenerates = regenerates
        self._ready = not starts

    def is_ready(self) -> bool:
        return self._ready

    def open(self) -> ChatModel:
        self._ready = True
        return self._model

    async def close(self) -> None:
        self._ready = False


def pieces(text: str) -> list[str]:
    return [text[i : i + PIECE] for i in range(0, len(text), PIECE)]


def usage(prompt: str, answer: str) -> UsageMetadata:
    read, written = len(pieces(prompt)), len(pieces(answer))
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def _chunk(text: str, usage: UsageMetadata | None = None, *, ends: str | None = None) -> ChatGenerationChunk:
    return ChatGenerationChunk(
        message=AIMessageChunk(text, usage_metadata=usage), generation_info={"finish_reason": ends} if ends else None
    )


class Unending(ScriptedSource):
    """A model that can't be closed, as if its process could not be reached."""

    async def close(self) -> None:
        raise OSError("it does not end")
