"""The client of every kind of chat model: one call or one stream, with plain errors.

Not here: retries of 429, 5xx and refused connections, with back-off; the openai client does them.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from openai.types.chat import ChatCompletion

from index_store.base.directions import without_turns
from index_store.base.errors import AnswerUnreadable, PlainError, RequestRefused
from index_store.base.service import explain, host_of
from rag.errors import EmptyReply, ModelError, ReplyBrokenOff, ReplyCut, ReplyFiltered
from rag.models.admission import Admission
from rag.models.usage import ReceivedReply, Usage
from rag.text.instruction_filter import InstructionFilter
from rag.text.reasoning_filter import ReasoningFilter
from rag.text.surrogates import SurrogateFilter
from rag.trace.calls import CallSubject, Request
from rag.trace.calls import Message as Sent

log = logging.getLogger(__name__)

RETRY_PAUSE = 0.5
"""seconds before a broken stream starts again, doubled each time"""

FAULTS = (openai.OpenAIError, ValueError, TypeError, KeyError)
"""errors of the openai client: its own, and built-in ones if the answer is not a chat completion"""

REPLY_FORMATS = {"response_format": "json_schema", "tools": "function_call"}
"""how a schema is requested, by the option that contains it"""

OTHER = CallSubject("other")

USUAL_TEMPERATURE = 0.0
"""the likeliest words, so that the same question gets the same answer"""

Message = tuple[Literal["system", "user", "assistant"], str]
Prompt = list[Message]


def is_cut(piece: AIMessage) -> bool:
    """True if the reply ends here because the limit of tokens is reached."""
    return _end_of(piece) == "length"


def _end_of(piece: AIMessage) -> str | None:
    """Why the reply ends here, if it does."""
    reason: str | None = piece.response_metadata.get("finish_reason")
    return reason


class Restart:
    """Marks in a stream that the text before it is void: the connection broke, or it was reasoning."""


class ChatClient:
    """A server that speaks OpenAI's protocol; in tests, a scripted model.

    Replies lose the reasoning at their start, and the prompt's instructions if they repeat them; the trace keeps them.
    The temperature is 0 unless a call sets another, and is left out after the model has refused it.
    """

    def __init__(
        self,
        model: BaseChatModel,
        name: str,
        *,
        base_url: str | None = None,
        retries: int = 0,
        admission: Admission | None = None,
    ) -> None:
        """`retries`: for streams that break after their first piece. `admission`: a queue for calls; without it there
        is no limit.
        """
        self.name = name
        self._model = model
        self._base_url = base_url
        self._retries = retries
        self._admission = admission or Admission()
        self._refused_temperatures = set[float]()

    async def ask(self, prompt: Prompt, usage: Usage, *, about: CallSubject = OTHER, **options: Any) -> AIMessage:
        """The whole reply. `options` are sent with the request. Raises ServiceError, ModelError, RunLimit."""
        asked = usage.take_prompt() or prompt
        sent = self._sent(options)
        async with self._admission.turn(usage.budget, within=usage.budget.party):
            try:
                message = await self._reply(asked, usage, about, sent)
            except RequestRefused as error:
                sent = _without_temperature(sent, error)
                message = await self._reply(asked, usage, about, sent)
        self._note_refusal(options, sent)
        shown = ReplyFilter(asked)
        return _with_text(message, shown.feed(message.text) + shown.end())

    async def _reply(
        self, asked: Prompt | list[tuple[str, str]], usage: Usage, about: CallSubject, sent: dict[str, Any]
    ) -> AIMessage:
        with self._call(asked, usage, about, sent) as reply:
            message = await self._model.ainvoke(asked, **sent)
            reply.read(message)
        return message

    async def write(self, prompt: Prompt, usage: Usage, *, about: CallSubject = OTHER, **options: Any) -> str:
        """The reply as text. Raises ServiceError, ModelError, RunLimit."""
        message = await self.ask(prompt, usage, about=about, **options)
        text = message.text.strip()
        if not text:
            raise self._without_text(_end_of(message))
        return text

    async def stream(
        self, prompt: Prompt, usage: Usage, *, about: CallSubject = OTHER, **options: Any
    ) -> AsyncIterator[AIMessageChunk | Restart]:
        """The reply in pieces. Raises ServiceError, ModelError, RunLimit."""
        asked, empty, tries = usage.take_prompt() or prompt, True, 0
        sent = self._sent(options)
        while True:
            begun, end, shown = False, None, ReplyFilter(asked)
            try:
                async with self._admission.turn(usage.budget, within=usage.budget.party):
                    with self._call(asked, usage, about, sent) as reply:
                        async for chunk in self._model.astream(asked, **sent):
                            begun, end = True, _end_of(chunk) or end
                            reply.read(chunk)
                            said = shown.feed(chunk.text)
                            if shown.is_void:
                                empty = True
                                yield Restart()
                            empty = empty and not said.strip()
                            yield _with_text(chunk, said)
                if rest := shown.end():
                    empty = empty and not rest.strip()
                    yield AIMessageChunk(content=rest)
                break
            except RequestRefused as error:
                sent = _without_temperature(sent, error)
                continue
            except PlainError as error:
                # The openai client retries until a reply begins. After that, we must handle a broken connection.
                fault = error.__cause__
                broken = isinstance(fault, openai.APIConnectionError) and not isinstance(fault, openai.APITimeoutError)
                if not (begun and broken) or tries == self._retries:
                    raise
            empty = True
            yield Restart()
            await asyncio.sleep(RETRY_PAUSE * 2**tries)
            tries += 1
        self._note_refusal(options, sent)
        if empty:
            raise self._without_text(end)

    def _sent(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of the request."""
        sent = {"temperature": USUAL_TEMPERATURE, **options}
        if sent["temperature"] in self._refused_temperatures:
            del sent["temperature"]
        return sent

    def _note_refusal(self, options: Mapping[str, Any], sent: Mapping[str, Any]) -> None:
        """Remembers a refused temperature if the call worked without it. Each one is separate: some models refuse only
        values above 1.
        """
        if "temperature" not in sent:
            self._refused_temperatures.add(options.get("temperature", USUAL_TEMPERATURE))

    @contextmanager
    def _call(
        self, prompt: Sequence[tuple[str, str]], usage: Usage, about: CallSubject, options: dict[str, Any]
    ) -> Iterator[ReceivedReply]:
        """Counts and records a call, and turns its errors into plain ones."""
        request = Request(
            task=about.task,
            of=about.of,
            model=self.name,
            temperature=options.get("temperature"),
            max_tokens=options.get("max_tokens", getattr(self._model, "max_tokens", None)),
            reply_format=next((name for key, name in REPLY_FORMATS.items() if key in options), None),
            messages=tuple(Sent(role=role, text=text) for role, text in prompt),
        )
        with usage.call(request) as reply:
            try:
                yield reply
            except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as error:
                # The openai client raises these for a schema, instead of giving the reply.
                if error.completion:
                    reply.read(_as_message(error.completion))
                is_length = isinstance(error, openai.LengthFinishReasonError)
                raise self._without_text("length" if is_length else "content_filter") from error
            except FAULTS as error:
                raise self._explained(error, reply) from error

    def _without_text(self, end: str | None) -> ModelError:
        """The error of a reply that says nothing. `end`: why it ended."""
        match end:
            case "length":
                return ReplyCut(model=self.name)
            case "content_filter":
                return ReplyFiltered(model=self.name)
        return EmptyReply(model=self.name)

    def _explained(self, error: Exception, reply: ReceivedReply) -> PlainError:
        """`reply`: what had arrived before the error."""
        is_connection = isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError)
        if is_connection and any(reply.pieces):
            return ReplyBrokenOff(host=host_of(self._base_url))
        if isinstance(error, openai.OpenAIError):
            return explain(error, base_url=self._base_url, model=self.name)
        log.warning("The answer of %s is not a chat completion: %s", host_of(self._base_url), type(error).__name__)
        return AnswerUnreadable(host=host_of(self._base_url), model=self.name)


class ReplyFilter:
    """Takes a reply in pieces, and returns the part that readers may see."""

    def __init__(self, prompt: Sequence[tuple[str, str]]) -> None:
        self._system = "\n".join(text for role, text in prompt if role == "system")
        self._characters = SurrogateFilter()
        self._reasoning = ReasoningFilter()
        self._instructions = InstructionFilter(self._system)

    @property
    def is_void(self) -> bool:
        """The latest piece showed that readers may see nothing of what was returned before it."""
        return self._reasoning.is_void

    def feed(self, piece: str) -> str:
        reply = self._reasoning.feed(without_turns(self._characters.feed(piece)))
        if self.is_void:
            self._instructions = InstructionFilter(self._system)
        return self._instructions.feed(reply)

    def end(self) -> str:
        rest = self._reasoning.feed(self._characters.end()) + self._reasoning.end()
        return self._instructions.feed(rest) + self._instructions.end()


M = TypeVar("M", bound=AIMessage)


def _with_text(message: M, text: str) -> M:
    return message if text == message.text else message.model_copy(update={"content": text})


def _as_message(completion: ChatCompletion) -> AIMessage:
    used = completion.usage
    counts = used and UsageMetadata(
        input_tokens=used.prompt_tokens, output_tokens=used.completion_tokens, total_tokens=used.total_tokens
    )
    return AIMessage(completion.choices[0].message.content or "", usage_metadata=counts)


def _without_temperature(sent: Mapping[str, Any], error: RequestRefused) -> dict[str, Any]:
    """The request without temperature, if the model refuses that; else raises `error`."""
    # OpenAI says "Unsupported value: 'temperature' does not support 0 with this model."; other servers use other texts.
    if "temperature" not in sent or "temperature" not in str(error.__cause__):
        raise error
    return {key: value for key, value in sent.items() if key != "temperature"}
