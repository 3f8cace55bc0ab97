"""The chat models that pipelines ask: OpenAI, whatever speaks its protocol, or the embedded one.

All go through one client, `ChatOpenAI`. What differs is how they are asked: a model behind a key cites by itself and
grades by JSON schema; the embedded one, of 1.5 billion parameters, gets plainer prompts, grades by log-probabilities,
and has its sources found for it (docs/decisions/embedded-chat-model.md has the figures).

Not here: retries of 429, 5xx and refused connections, with back-off, which the openai client does.
"""

import asyncio
import json
import logging
import math
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol, TypeVar

import httpx2
import openai
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from index_store.errors import AnswerUnreadable, PlainError
from index_store.service import explain, host_of
from rag.embedded.engine import CONTEXT
from rag.embedded.fetch import CHAT_MODEL, models_folder
from rag.embedded.margin import margin
from rag.embedded.process import EmbeddedServer
from rag.errors import EmptyReply
from rag.grades import UNREADABLE, VERDICT_SCHEMA, GradingPrompt, Prompt, read_verdict
from rag.keywords import KEYWORDS_SCHEMA, read_keywords
from rag.prompts import embedded, service
from rag.room import Room
from rag.settings import SERVICE_CONTEXT, Settings
from rag.trace import Grade

log = logging.getLogger(__name__)

T = TypeVar("T")

RETRY_PAUSE = 0.5
"""seconds before a broken stream is begun anew, doubled each time"""

SERVICE_ANSWER_TOKENS = 1000
"""that room is left for; nothing keeps a model behind a key from writing more"""

EMBEDDED_ANSWER_TOKENS = 400
"""a small model that loops would otherwise fill its context"""

EMBEDDED_KEYWORDS_TOKENS = 60
"""some fifteen words: it may also copy the question"""

EMBEDDED_TIMEOUT = 300
"""seconds: it reads 70 tokens a second, and requests wait for each other"""

NO_CHUNK_TIMEOUT = None
"""ChatOpenAI's own, of each chunk, can swallow a stop that comes with one (asyncio.wait_for of Python 3.11); the
connection's timeout bounds silence all the same"""

PLACEHOLDER_KEY = "none"
"""for servers that need no key; the client insists on one"""


FAULTS = (openai.OpenAIError, ValueError, TypeError, KeyError)
"""what the client raises: its own errors, and bare ones for an answer that is no chat completion at all"""


@dataclass
class Meter:
    """What a step's model calls cost, in calls and tokens."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def count(self, message: AIMessage) -> None:
        usage = message.usage_metadata
        if usage:
            self.tokens_in += usage["input_tokens"]
            self.tokens_out += usage["output_tokens"]


class Restart:
    """Stands in a stream where the connection broke: what came before is void."""


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

    def __init__(self, client: BaseChatModel, name: str, *, base_url: str | None = None, retries: int = 0) -> None:
        self.client = client
        self.name = name
        self._base_url = base_url
        self._retries = retries

    async def stream(self, prompt: Prompt, meter: Meter) -> AsyncIterator[str | Restart]:
        """The answer, piece by piece. Raises ServiceError, ModelError."""
        empty = True
        for tries in range(self._retries + 1):
            meter.calls += 1
            begun = False
            try:
                async for chunk in self.client.astream(prompt):
                    begun = True
                    meter.count(chunk)
                    if text := chunk.text:
                        empty = empty and not text.strip()
                        yield text
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

    async def keywords(self, prompt: Prompt, meter: Meter) -> tuple[str, ...]:
        """The words that it picks, not checked yet. Raises ServiceError, ModelError."""
        raise NotImplementedError

    async def _ask(self, client: Runnable, prompt: Prompt, meter: Meter) -> AIMessage:
        meter.calls += 1
        message = await client.ainvoke(prompt)
        meter.count(message)
        return message

    def _explained(self, error: Exception) -> PlainError:
        if isinstance(error, openai.OpenAIError):
            return explain(error, base_url=self._base_url, model=self.name)
        log.warning("The answer of %s is no chat completion: %s", host_of(self._base_url), type(error).__name__)
        return AnswerUnreadable(host=host_of(self._base_url), model=self.name)


class ServiceChat(ChatModel):
    """A model behind a key or a URL."""

    prompts = service
    cites = True
    copies = True

    def __init__(
        self,
        client: BaseChatModel,
        name: str,
        *,
        context: int = SERVICE_CONTEXT,
        base_url: str | None = None,
        retries: int = 0,
    ) -> None:
        super().__init__(client, name, base_url=base_url, retries=retries)
        self.room = Room.of(context, SERVICE_ANSWER_TOKENS)
        # Servers differ in which way of structured output they know: the first that works is kept.
        self._ways = [_by_json_schema, _by_function_call, _by_words]

    async def grade(self, prompt: GradingPrompt, meter: Meter) -> Grade:
        return await self._structured(prompt.messages, VERDICT_SCHEMA, read_verdict, meter) or UNREADABLE

    async def keywords(self, prompt: Prompt, meter: Meter) -> tuple[str, ...]:
        return await self._structured(prompt, KEYWORDS_SCHEMA, read_keywords, meter) or ()

    async def _structured(
        self, prompt: Prompt, schema: dict, read: Callable[[str], T | None], meter: Meter
    ) -> T | None:
        """None where nothing could be read in any way."""
        for way in tuple(self._ways):
            try:
                message = await self._ask(way(self.client, schema), prompt, meter)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if way is _by_words:
                    raise self._explained(error) from error
                self._forget(way)
                continue
            except FAULTS as error:
                raise self._explained(error) from error
            found = read(_said(message))
            if found is not None:
                return found
        return None

    def _forget(self, way) -> None:
        if way in self._ways:
            self._ways.remove(way)


class EmbeddedChat(ChatModel):
    """The model that comes with the app, served on loopback from a child process."""

    prompts = embedded
    cites = False
    copies = False
    room = Room.of(CONTEXT, EMBEDDED_ANSWER_TOKENS)

    async def grade(self, prompt: GradingPrompt, meter: Meter) -> Grade:
        one_token = self.client.bind(max_tokens=1, logprobs=True, top_logprobs=20)
        try:
            message = await self._ask(one_token, prompt.messages, meter)
        except FAULTS as error:
            raise self._explained(error) from error
        tokens = (message.response_metadata.get("logprobs") or {}).get("content")
        if not tokens:
            return UNREADABLE
        sure = margin(tokens[0]["top_logprobs"]) + prompt.prior
        return Grade(
            verdict="yes" if sure >= prompt.cut else "no",
            score=1 / (1 + math.exp(prompt.cut - sure)),
            margin=sure,
            cut=prompt.cut,
        )

    async def keywords(self, prompt: Prompt, meter: Meter) -> tuple[str, ...]:
        try:
            message = await self._ask(self.client.bind(max_tokens=EMBEDDED_KEYWORDS_TOKENS), prompt, meter)
        except FAULTS as error:
            raise self._explained(error) from error
        return read_keywords(message.text)


def _by_json_schema(client: BaseChatModel, schema: dict) -> Runnable:
    return client.bind(response_format={"type": "json_schema", "json_schema": schema})


def _by_function_call(client: BaseChatModel, schema: dict) -> Runnable:
    function = {"name": schema["name"], "parameters": schema["schema"]}
    return client.bind(
        tools=[{"type": "function", "function": function}],
        tool_choice={"type": "function", "function": {"name": schema["name"]}},
    )


def _by_words(client: BaseChatModel, schema: dict) -> Runnable:
    return client


def _said(message: AIMessage) -> str:
    return json.dumps(message.tool_calls[0]["args"]) if message.tool_calls else message.text


class ModelSource(Protocol):
    """Where the engine gets its chat model from, anew for each run."""

    name: str

    def is_ready(self) -> bool:
        """Whether `open` returns at once."""

    def open(self) -> ChatModel:
        """May take seconds. Raises PlainError when there is no model to be had."""

    async def close(self) -> None:
        """In the event loop that the model was used in."""


def model_source(settings: Settings) -> ModelSource:
    return EmbeddedSource(settings) if settings.uses_embedded_chat else ServiceSource(settings)


class ServiceSource:
    def __init__(self, settings: Settings) -> None:
        self.name = settings.chat_model
        self._settings = settings
        # Its own, since the shared one that ChatOpenAI takes belongs to the event loop that used it first.
        self._http = openai.DefaultAsyncHttpxClient()
        self._model: ServiceChat | None = None

    def is_ready(self) -> bool:
        return True

    def open(self) -> ChatModel:
        if self._model is None:
            url, retries = self._settings.openai_base_url, self._settings.model_retries
            client = ChatOpenAI(
                model=self.name,
                api_key=self._settings.openai_api_key or SecretStr(PLACEHOLDER_KEY),
                base_url=url,
                http_async_client=self._http,
                http_socket_options=(),  # others would take the proxies of the environment away
                timeout=self._settings.model_timeout,
                stream_chunk_timeout=NO_CHUNK_TIMEOUT,
                max_retries=retries,
                temperature=0,
                stream_usage=True,
            )
            self._model = ServiceChat(
                client, self.name, context=self._settings.model_context, base_url=url, retries=retries
            )
        return self._model

    async def close(self) -> None:
        await self._http.aclose()


class EmbeddedSource:
    def __init__(self, settings: Settings) -> None:
        self._path = settings.embedded_model or models_folder(settings.data_dir) / CHAT_MODEL.name
        self.name = self._path.stem
        self._server = EmbeddedServer(self._path, log_path=settings.data_dir / "logs" / "embedded-model.log")
        self._http = openai.DefaultAsyncHttpxClient(
            trust_env=False,  # a proxy can't reach this machine's own address
            # llama.cpp closes a kept connection just when the next request may be on its way.
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    def is_ready(self) -> bool:
        return self._server.is_running()

    def open(self) -> ChatModel:
        endpoint = self._server.start()
        client = ChatOpenAI(
            model=self.name,
            api_key=SecretStr(endpoint.api_key),
            base_url=endpoint.base_url,
            http_async_client=self._http,
            timeout=EMBEDDED_TIMEOUT,
            stream_chunk_timeout=NO_CHUNK_TIMEOUT,
            max_retries=0,
            http_socket_options=(),
            max_tokens=EMBEDDED_ANSWER_TOKENS,
            temperature=0,
            stream_usage=True,
        )
        return EmbeddedChat(client, self.name, base_url=endpoint.base_url)

    async def close(self) -> None:
        await self._http.aclose()
        self._server.stop()
