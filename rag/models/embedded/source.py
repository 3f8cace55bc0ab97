"""Where the embedded model comes from: its file, and the child process that serves it."""

import httpx2
import openai
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from index_store.base.errors import AnswerUnreadable, PlainError, ServiceFailed, ServiceTimedOut, ServiceUnreachable
from rag.errors import PromptTooLong, ReplyBrokenOff
from rag.models.chat_model import ChatModel
from rag.models.client.client import ChatClient
from rag.models.embedded.chat import ANSWER_TOKENS, EmbeddedChat
from rag.models.embedded.errors import ModelFailed, ModelTookTooLong, PassagesTooLong
from rag.models.embedded.fetch import CHAT_MODEL, models_folder
from rag.models.embedded.process import EmbeddedServer
from rag.settings import Settings

TIMEOUT = 300
"""seconds: llama.cpp reads 70 tokens a second, and requests wait for each other"""


class EmbeddedSource:
    runs_at_once: int | None = 1
    """Its requests wait for each other. In parallel all would be slow, and the cached beginning of each prompt would be
    lost."""
    is_in_app = True
    suggests = False
    """the next question would wait for them, about ten seconds"""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.embedded_model or models_folder(settings.data_dir) / CHAT_MODEL.name
        self.name = self._path.stem
        self._server = EmbeddedServer(self._path, log_path=settings.data_dir / "logs" / "embedded-model.log")
        # trust_env: a proxy can't reach this machine's loopback address.
        self._http = openai.DefaultAsyncHttpxClient(
            trust_env=False,
            # llama.cpp may close a kept connection while the next request is on its way.
            limits=httpx2.Limits(max_keepalive_connections=0),
        )
        self._blocking_http = openai.DefaultHttpxClient(trust_env=False)
        """for calls that wait, which nobody makes; ChatOpenAI would create one that needs the environment's proxies"""

    def is_ready(self) -> bool:
        return self._server.is_running()

    def open(self) -> ChatModel:
        endpoint = self._server.start()
        model = ChatOpenAI(
            model=self.name,
            api_key=SecretStr(endpoint.api_key),
            base_url=endpoint.base_url,
            http_client=self._blocking_http,
            http_async_client=self._http,
            openai_proxy=None,  # as in service/source.py
            timeout=TIMEOUT,
            stream_chunk_timeout=None,  # as there
            max_retries=0,
            http_socket_options=(),
            max_tokens=ANSWER_TOKENS,
            stream_usage=True,
        )
        client = ChatClient(model, self.name, base_url=endpoint.base_url, own_error=self._own_error)
        return EmbeddedChat(client)

    async def close(self) -> None:
        await self._http.aclose()
        self._blocking_http.close()
        self._server.stop()

    def _own_error(self, error: PlainError) -> PlainError:
        """Those of services advise what helps only there: another address, or a setting that is not used here."""
        match error:
            case ServiceUnreachable() | ServiceFailed() | ReplyBrokenOff() | AnswerUnreadable():
                return ModelFailed(log=self._server.log_path)
            case ServiceTimedOut():
                return ModelTookTooLong(seconds=TIMEOUT)
            case PromptTooLong():
                return PassagesTooLong()
        return error
