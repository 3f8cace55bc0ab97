"""The chat models that pipelines ask: OpenAI, whatever speaks its protocol, or the embedded one.

All go through one client, `ChatOpenAI`. What differs is how they are asked: see service_chat.py and embedded/chat.py.
"""

from typing import Protocol

import httpx2
import openai
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from rag.models.chat_model import ChatModel
from rag.models.embedded.chat import ANSWER_TOKENS, EmbeddedChat
from rag.models.embedded.fetch import CHAT_MODEL, models_folder
from rag.models.embedded.process import EmbeddedServer
from rag.models.service.chat import ServiceChat
from rag.settings import Settings

EMBEDDED_TIMEOUT = 300
"""seconds: it reads 70 tokens a second, and requests wait for each other"""

NO_CHUNK_TIMEOUT = None
"""ChatOpenAI's own, of each chunk, can swallow a stop that comes with one (asyncio.wait_for of Python 3.11); the
connection's timeout bounds silence all the same"""

PLACEHOLDER_KEY = "none"
"""for servers that need no key; the client insists on one"""


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
                client,
                self.name,
                context=self._settings.model_context,
                base_url=url,
                retries=retries,
                works_ahead=self._settings.draft_ahead,
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
            max_tokens=ANSWER_TOKENS,
            temperature=0,
            stream_usage=True,
        )
        return EmbeddedChat(client, self.name, base_url=endpoint.base_url)

    async def close(self) -> None:
        await self._http.aclose()
        self._server.stop()
