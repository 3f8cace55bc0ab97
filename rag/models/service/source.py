"""The model of a service: OpenAI, or a compatible server."""

from urllib.parse import urlsplit

import openai
from pydantic import SecretStr

from index_store.base.services.service_address import OPENAI_URL, base_and_query
from rag.models.calls.admission import Admission
from rag.models.calls.usage import count_retries
from rag.models.chat_model import ChatModel
from rag.models.client.client import ChatClient
from rag.models.client.json_body import read_body
from rag.models.client.watched_stream import watch
from rag.models.service.chat import ServiceChat
from rag.models.service.chat_openai import ServiceChatOpenAI
from rag.settings import Settings

NO_CHUNK_TIMEOUT = None
"""ChatOpenAI's own timeout per chunk can swallow a stop that arrives with a chunk (asyncio.wait_for of Python 3.11);
the connection's timeout limits silence anyway"""

PLACEHOLDER_KEY = "none"
"""for servers that need no key; the client requires one"""

OPENAI_HOSTS = (".openai.com", ".azure.com")
"""how the hosts of OpenAI and Azure end. Their newest models refuse the older name of the limit of a reply's length,
and some are asked at /v1/responses: ChatOpenAI tells those by their names. Other servers may not have that.
"""


class ServiceSource:
    runs_at_once: int | None = None
    is_in_app = False
    suggests = True

    def __init__(self, settings: Settings) -> None:
        self.name = settings.chat_model
        self._settings = settings
        # Its own client: ChatOpenAI's shared one belongs to the event loop that used it first.
        self._http = openai.DefaultAsyncHttpxClient(
            event_hooks={"request": [count_retries], "response": [watch, read_body]}
        )
        self._admission = Admission(settings.calls_at_once)
        self._model: ServiceChat | None = None

    def is_ready(self) -> bool:
        return True

    def open(self) -> ChatModel:
        if self._model is None:
            # Never None: then the client would read addresses from the environment, and take an empty one as it is.
            url, query = base_and_query(self._settings.openai_base_url or OPENAI_URL)
            retries = self._settings.model_retries
            is_openai = (urlsplit(url).hostname or "").endswith(OPENAI_HOSTS)
            context = self._settings.model_context
            answer = min(self._settings.answer_tokens, context // 4)
            model = ServiceChatOpenAI(
                model=self.name,
                api_key=self._settings.openai_api_key or SecretStr(PLACEHOLDER_KEY),
                base_url=url,
                default_query=query,
                http_async_client=self._http,
                openai_proxy=None,  # never OPENAI_PROXY: ChatOpenAI refuses it beside a client
                http_socket_options=(),  # other values would ignore the proxies of the environment
                timeout=self._settings.model_timeout,
                stream_chunk_timeout=NO_CHUNK_TIMEOUT,
                max_retries=retries,
                max_tokens=answer,
                stream_usage=True,
                use_responses_api=None if is_openai else False,
            )
            self._model = ServiceChat(
                ChatClient(
                    model,
                    self.name,
                    base_url=url,
                    retries=retries,
                    admission=self._admission,
                    both_lengths=not is_openai,
                ),
                context=context,
                answer=answer,
                speculates=self._settings.draft_ahead,
            )
        return self._model

    async def close(self) -> None:
        await self._http.aclose()
