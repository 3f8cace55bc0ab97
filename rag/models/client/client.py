"""The client of every kind of chat model: one call or one stream, with plain errors.

Not here: retries of 429, 5xx and refused connections, with back-off; the openai client does them.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Literal, TypeVar

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
from index_store.base.service import explain, host_of, is_too_long, said_in
from index_store.base.text.bidi import without_bidi_controls
from rag.errors import EmptyReply, ModelError, PromptTooLong, ReplyBrokenOff, ReplyCut, ReplyFiltered, ReplyRefused
from rag.models.admission import Admission
from rag.models.client.refused_fields import STREAM, RefusedFields, more_refused, prompt_sent
from rag.models.restart import Restart
from rag.models.usage import ReceivedReply, Usage
from rag.text.reply.end_tokens import EndTokenFilter
from rag.text.reply.instruction_filter import InstructionFilter
from rag.text.reply.reasoning_filter import ReasoningFilter
from rag.text.reply.surrogates import SurrogateFilter
from rag.text.reply.wrapper_filter import WrapperFilter
from rag.trace.calls import CallSubject, Request
from rag.trace.calls import Message as Sent
from rag.trace.details import CutBy

log = logging.getLogger(__name__)

RETRY_PAUSE = 0.5
"""seconds before a broken stream starts again, doubled each time"""

FAULTS = (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError)
"""errors of the openai client: its own, and built-in ones if the answer is not a chat completion"""

UNREAD: Mapping[CutBy | None, type[ModelError]] = {"length": ReplyCut, "filter": ReplyFiltered}
"""the error of a reply that ended before it could be read, by what ended it"""

REPLY_FORMATS = {"response_format": "json_schema", "tools": "function_call"}
"""how a schema is requested, by the option that contains it"""

OTHER = CallSubject("other")

USUAL_TEMPERATURE = 0.0
"""the likeliest words, so that the same question gets the same answer"""

Message = tuple[Literal["system", "user", "assistant"], str]
Prompt = list[Message]


WHOLE = frozenset(
    {
        "stop", "tool_calls", "function_call", "completed",
        "end_turn", "stop_sequence", "eos", "eos_token", "complete",
    }
)  # fmt: skip
"""reasons with which services end a whole reply: OpenAI's, then those of others"""

NO_REASON = frozenset({"", "null", "none"})
"""what stands in the pieces before the end; Alibaba's own protocol, and gateways to it, write null as a word"""

AT_THE_LIMIT = frozenset({"length", "max_output_tokens", "max_tokens", "model_length"})
"""the same for a reply that reached its limit of tokens"""

BY_A_FILTER = "content_filter"
"""how the reasons begin with which a content filter ends a reply; some services put their own one behind it"""


OUT_OF_TOKENS = "max_tokens or model output limit was reached"
"""words with which OpenAI and Azure refuse a request after the reply of a reasoning model reached its limit"""


def cut_by(piece: AIMessage) -> CutBy | None:
    """What ends the reply here too early, if anything does."""
    return _cut_by(_end_of(piece))


def _cut_by(end: str | None) -> CutBy | None:
    if end is None or end in WHOLE:
        return None
    if end in AT_THE_LIMIT:
        return "length"
    return "filter" if end.startswith(BY_A_FILTER) else "service"


def _end_of(piece: AIMessage) -> str | None:
    """Why the reply ends here, if it does, in lower case. OpenAI's Responses API tells a status instead."""
    told = piece.response_metadata
    reason = told.get("finish_reason") or (told.get("incomplete_details") or {}).get("reason") or told.get("status")
    said = str(reason or "").lower()
    return said if said not in NO_REASON else None


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
        shown = ReplyFilter(asked)
        return _with_text(message, shown.feed(message.text) + shown.end())

    async def _reply(
        self, asked: list[tuple[str, str]], usage: Usage, about: CallSubject, sent: dict[str, Any]
    ) -> AIMessage:
        with self._call(asked, usage, about, sent) as reply:
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
            begun, end, shown = False, None, ReplyFilter(asked)
            try:
                async with (
                    self._admission.turn(usage.budget, within=usage.budget.party),
                    aclosing(self._chunks(model, prompt_sent(asked, refused), usage, about, sent)) as chunks,
                ):
                    async for chunk in chunks:
                        begun, end = True, _end_of(chunk) or end
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
                    raise self._without_text(_cut_by(end))
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
        asked: list[tuple[str, str]],
        usage: Usage,
        about: CallSubject,
        sent: dict[str, Any],
    ) -> AsyncGenerator[AIMessageChunk, None]:
        """The reply to one call, as the service sends it."""
        end = None
        with self._call(asked, usage, about, sent) as reply:
            try:
                async for chunk in model.astream(asked, **sent):
                    end = _end_of(chunk) or end
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


def _is_filtered(error: openai.APIError) -> bool:
    """True if the service refuses the prompt for its content. OpenRouter does so with 403, as for a key, and says which
    text was flagged.
    """
    details = error.body.get("metadata") if isinstance(error.body, dict) else None
    is_flagged = isinstance(details, dict) and "flagged_input" in details
    return is_flagged or (error.code or "").startswith(BY_A_FILTER)


class ReplyFilter:
    """Takes a reply in pieces, and returns the part that readers may see."""

    def __init__(self, prompt: Sequence[tuple[str, str]]) -> None:
        self._system = "\n".join(text for role, text in prompt if role == "system")
        self._characters = SurrogateFilter()
        self._reasoning = ReasoningFilter()
        self._end_tokens = EndTokenFilter()
        self._wrapper = WrapperFilter()
        self._instructions = InstructionFilter(self._system)

    @property
    def is_void(self) -> bool:
        """The latest piece showed that readers may see nothing of what was returned before it."""
        return self._reasoning.is_void

    def feed(self, piece: str) -> str:
        reply = self._reasoning.feed(without_bidi_controls(self._characters.feed(piece)))
        if self.is_void:
            self._end_tokens = EndTokenFilter()
            self._wrapper = WrapperFilter()
            self._instructions = InstructionFilter(self._system)
        return self._instructions.feed(self._wrapper.feed(self._end_tokens.feed(reply)))

    def end(self) -> str:
        rest = self._reasoning.feed(self._characters.end()) + self._reasoning.end()
        rest = self._end_tokens.feed(rest) + self._end_tokens.end()
        rest = self._wrapper.feed(rest) + self._wrapper.end()
        return self._instructions.feed(rest) + self._instructions.end()


M = TypeVar("M", bound=AIMessage)


def _with_text(message: M, text: str) -> M:
    return message if text == message.text else message.model_copy(update={"content": text})
