"""The client of every kind of chat model: one call or one stream, with plain errors.

Not here: retries of 429, 5xx and refused connections, with back-off; the openai client does them.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk

from index_store.base.errors import (
    AnswerUnreadable,
    PlainError,
    RequestRefused,
    ServiceBusy,
    ServiceFailed,
    ServiceUnreachable,
)
from index_store.base.services.openai_errors import explain, is_too_long, said_in
from index_store.base.services.service_address import host_of
from rag.errors import EmptyReply, ModelError, PromptTooLong, ReplyBrokenOff, ReplyCut, ReplyFiltered, ReplyRefused
from rag.models.calls.admission import Admission
from rag.models.calls.prompt import Prompt
from rag.models.calls.restart import Restart
from rag.models.calls.usage import ReceivedReply, Usage
from rag.models.client.finish_reason import BY_A_FILTER, UNREAD, cut_by, cut_of, finish_reason
from rag.models.client.refused_fields import STREAM, RefusedFields, more_refused, prompt_sent
from rag.text.reply.reply_filter import ReplyFilter
from rag.trace.calls import CallSubject, Request
from rag.trace.calls import Message as Sent
from rag.trace.details import CutBy

log = logging.getLogger(__name__)

RETRY_PAUSE = 0.5
"""seconds before a broken stream starts again, doubled each time"""

FAULTS = (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError)
"""errors of the openai client: its own, and built-in ones if the answer is not a chat completion"""

REPLY_FORMATS = {"response_format": "json_schema", "tools": "function_call"}
"""how a schema is requested, by the option that contains it"""

OTHER = CallSubject("other")

USUAL_TEMPERATURE = 0.0
"""the likeliest words, so that the same question gets the same answer"""

OUT_OF_TOKENS = "max_tokens or model output limit was reached"
"""words with which OpenAI and Azure refuse a request after the reply of a reasoning model reached its limit"""


class ChatClient:
    """A server that speaks OpenAI's protocol; in tests, a scripted model.

    Replies lose the reasoning at their start, the tokens at their end, and the prompt's instructions if they repeat
    them; the trace keeps all.
    The temperature is 0 unless a call sets another. A field that the model refuses is not sent again.
    """

    def __init__(
        self,
        model: BaseChatModel,
        name: str,
        *,
        base_url: str | None = None,
        retries: int = 0,
        admission: Admission | None = None,
        both_lengths: bool = False,
        own_error: Callable[[PlainError], PlainError] = lambda error: error,
    ) -> None:
        """`retries`: for streams that break after their first piece. `admission`: a queue for calls; without it there
        is no limit. `both_lengths`: send the limit of a reply's length under its older name too. `own_error`: what to
        raise instead of an error, if the server is no service of somebody else.
        """
        self.name = name
        self._model = model
        self._unstreamed = model.model_copy(update={"disable_streaming": True})
        self._base_url = base_url
        self._retries = retries
        self._admission = admission or Admission()
        self._own_error = own_error
        self._refused = RefusedFields(getattr(model, "max_tokens", None), both=both_lengths)

    async def ask(self, prompt: Prompt, usage: Usage, *, about: CallSubject = OTHER, **options: Any) -> AIMessage:
        """The whole reply. `options` are sent with the request. Raises ServiceError, ModelError, RunLimit."""
        asked = usage.take_prompt() or prompt
        options = {"temperature": USUAL_TEMPERATURE, **options}
        refused = self._refused.known(options, streams=False)
        async with self._admission.turn(usage.budget, within=usage.budget.party):
            while True:
                try:
                    sent = prompt_sent(asked, refused)
                    message = await self._reply(sent, usage, about, self._refused.sent(options, refused))
                    break
                except RequestRefused as error:
                    refused = more_refused(error, refused)
        self._refused.note(options, refused)
        shown = ReplyFilter(_instructions(prompt))  # of ours: what a person writes into a prompt may be repeated
        return _with_text(message, shown.feed(message.text) + shown.end())

    async def _reply(self, asked: Prompt, usage: Usage, about: CallSubject, sent: dict[str, Any]) -> AIMessage:
        async with self._call(asked, usage, about, sent) as reply:
            message = await self._model.ainvoke(asked, **sent)
            reply.read(message)
            self._check_refusal(reply)
        return message

    async def write(self, prompt: Prompt, usage: Usage, *, about: CallSubject = OTHER, **options: Any) -> str:
        """The reply as text. Raises ServiceError, ModelError, RunLimit."""
        message = await self.ask(prompt, usage, about=about, **options)
        text = message.text.strip()
        if not text:
            raise self._without_text(cut_by(message))
        return text

    async def stream(
        self, prompt: Prompt, usage: Usage, *, about: CallSubject = OTHER, **options: Any
    ) -> AsyncIterator[AIMessageChunk | Restart]:
        """The reply in pieces. Raises ServiceError, ModelError, RunLimit."""
        asked, empty, tries = usage.take_prompt() or prompt, True, 0
        options = {"temperature": USUAL_TEMPERATURE, **options}
        refused = self._refused.known(options, streams=True)
        while True:
            sent = self._refused.sent(options, refused)
            model = self._unstreamed if STREAM in refused else self._model
            begun, end, shown = False, None, ReplyFilter(_instructions(prompt))
            try:
                async with (
                    self._admission.turn(usage.budget, within=usage.budget.party),
                    aclosing(self._chunks(model, prompt_sent(asked, refused), usage, about, sent)) as chunks,
                ):
                    async for chunk in chunks:
                        begun, end = True, finish_reason(chunk) or end
                        said = shown.feed(chunk.text)
                        if shown.is_void:
                            empty = True
                            yield Restart()
                        empty = empty and not said.strip()
                        yield _with_text(chunk, said)
                if rest := shown.end():
                    empty = empty and not rest.strip()
                    yield AIMessageChunk(content=rest)
                self._refused.note(options, refused)
                if empty:
                    raise self._without_text(cut_of(end))
                break
            except RequestRefused as error:
                refused = more_refused(error, refused)
                continue
            except (EmptyReply, ReplyBrokenOff, ServiceBusy, ServiceFailed, ServiceUnreachable) as error:
                # The openai client retries until a reply begins. After that, we must: the connection may break, an
                # error come in the stream, or nothing, as at times from Gemini.
                is_refused = isinstance(error.__cause__, openai.APIStatusError | openai.APIConnectionError)
                if (is_refused and not begun) or tries == self._retries:
                    raise
            empty = True
            yield Restart()
            await asyncio.sleep(RETRY_PAUSE * 2**tries)
            tries += 1

    async def _chunks(
        self,
        model: BaseChatModel,
        asked: Prompt,
        usage: Usage,
        about: CallSubject,
        sent: dict[str, Any],
    ) -> AsyncGenerator[AIMessageChunk, None]:
        """The reply to one call, as the service sends it."""
        end = None
        async with self._call(asked, usage, about, sent) as reply:
            try:
                async for chunk in model.astream(asked, **sent):
                    end = finish_reason(chunk) or end
                    reply.read(chunk)
                    yield chunk
            except openai.APIConnectionError:
                # Some gateways close a connection without ending its stream. After its reason to end, a reply is whole.
                if not end:
                    raise
            if reply.pieces:
                self._check_refusal(reply)
                self._check_end(end, reply)

    def _check_refusal(self, reply: ReceivedReply) -> None:
        """Raises ReplyRefused."""
        if reply.is_refusal:
            raise ReplyRefused(model=self.name)

    def _check_end(self, end: str | None, reply: ReceivedReply) -> None:
        """Raises ReplyBrokenOff if the stream just stopped: without a reason, and without its mark."""
        if not end and not reply.is_marked_whole:
            raise self._own_error(ReplyBrokenOff(host=host_of(self._base_url)))

    @asynccontextmanager
    async def _call(
        self, prompt: Prompt, usage: Usage, about: CallSubject, options: dict[str, Any]
    ) -> AsyncIterator[ReceivedReply]:
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
        async with usage.call(request) as reply:
            try:
                yield reply
            except FAULTS as error:
                raise self._own_error(self._explained(error, reply)) from error

    def _without_text(self, cut: CutBy | None) -> ModelError:
        """The error of a reply that says nothing. `cut`: what ended it too early."""
        return UNREAD.get(cut, EmptyReply)(model=self.name)

    def _as_model_error(self, error: openai.OpenAIError) -> ModelError | None:
        """The error of a prompt that the service refuses for its length or its content, or of a reply that was cut."""
        if not isinstance(error, openai.APIError):
            return None
        if is_too_long(error):
            return PromptTooLong(host=host_of(self._base_url), model=self.name)
        if OUT_OF_TOKENS in said_in(error.body):
            return ReplyCut(model=self.name)
        return ReplyFiltered(model=self.name) if _is_filtered(error) else None

    def _explained(self, error: Exception, reply: ReceivedReply) -> PlainError:
        """`reply`: what had arrived before the error."""
        is_connection = isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError)
        if is_connection and any(reply.pieces):
            return ReplyBrokenOff(host=host_of(self._base_url))
        if isinstance(error, openai.OpenAIError):
            explained = explain(error, base_url=self._base_url, model=self.name)
            return self._as_model_error(error) or explained
        log.warning("The answer of %s is not a chat completion: %s", host_of(self._base_url), type(error).__name__)
        return AnswerUnreadable(host=host_of(self._base_url), model=self.name)


def _instructions(prompt: Prompt) -> str:
    return "\n".join(text for role, text in prompt if role == "system")


def _is_filtered(error: openai.APIError) -> bool:
    """True if the service refuses the prompt for its content. OpenRouter does so with 403, as for a key, and says which
    text was flagged.
    """
    details = error.body.get("metadata") if isinstance(error.body, dict) else None
    is_flagged = isinstance(details, dict) and "flagged_input" in details
    return is_flagged or (error.code or "").startswith(BY_A_FILTER)


M = TypeVar("M", bound=AIMessage)


def _with_text(message: M, text: str) -> M:
    return message if text == message.text else message.model_copy(update={"content": text})
