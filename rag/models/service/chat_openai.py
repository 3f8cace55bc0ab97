"""ChatOpenAI, whose requests and replies stay JSON, with what it leaves out: the refusal in a streamed reply, which
OpenAI sends beside the text, and a whole reply, which some gateways send instead of a stream.
"""

import warnings
from collections.abc import AsyncIterator
from typing import Any, Self

import httpx2
import openai
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import model_validator

from rag.models.calls.usage import REFUSAL, current_reply

# The replies of the Responses API are objects. What is said about a form that they don't know would quote their text in
# the log.
warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)

NO_FIELD = (openai.Omit, openai.NotGiven)
"""types of values that leave their field out of a request"""


class ServiceChatOpenAI(ChatOpenAI):
    """A refusal is in `additional_kwargs`. A whole reply is the only piece of its stream."""

    @model_validator(mode="after")  # after ChatOpenAI's own, which opens the client
    def keep_json(self) -> Self:
        self.async_client = JsonCompletions(self.root_async_client)
        return self

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        payload = self._get_request_payload(messages, stop=stop, **options)
        if "messages" not in payload:  # it is for OpenAI's Responses API
            return await super()._agenerate(messages, stop, run_manager, **options)
        reply = await self.async_client.create(**payload)
        result = self._create_chat_result(reply)
        if refusal := reply["choices"][0]["message"].get(REFUSAL):
            result.generations[0].message.additional_kwargs[REFUSAL] = refusal
        return result

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        has_begun = False
        async for piece in super()._astream(*args, **options):
            has_begun = True
            yield piece
        reply = current_reply()
        if not has_begun and reply and reply.body and reply.body.get("choices"):
            choices = [{**choice, "delta": choice["message"]} for choice in reply.body["choices"]]
            if whole := self._convert_chunk_to_generation_chunk({**reply.body, "choices": choices}, AIMessageChunk, {}):
                yield whole

    # The methods that LangChain's own packages override to keep a field of their service.
    def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *args: Any) -> ChatGenerationChunk | None:
        choices = chunk.get("choices")
        if choices and choices[0]:
            choices[0].setdefault("delta", {})  # Azure's asynchronous filter leaves it out
        piece = super()._convert_chunk_to_generation_chunk(chunk, *args)
        if piece and choices and (refusal := (choices[0]["delta"] or {}).get(REFUSAL)):
            piece.message.additional_kwargs[REFUSAL] = refusal
        return piece


class JsonCompletions:
    """What ChatOpenAI uses of the openai client's `chat.completions`.

    The client's own methods make an object of each field of a request and of each word of a stream, and ChatOpenAI
    makes JSON of them again: an eighth of the processor time of a run.
    """

    def __init__(self, client: openai.AsyncOpenAI) -> None:
        self._client = client

    async def create(
        self, *, stream: bool | None = False, extra_body: dict[str, Any] | None = None, **fields: Any
    ) -> Any:
        """The reply, a JSON object; or an AsyncStream of such objects, one for each piece. Raises openai.OpenAIError,
        ValueError.
        """
        body = {name: value for name, value in fields.items() if not isinstance(value, NO_FIELD)} | (extra_body or {})
        if stream:
            return await self._client.post(
                "/chat/completions",
                body=body | {"stream": True},
                cast_to=object,
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        # Not `object`: then a body with another type than JSON's would be text.
        return (await self._client.post("/chat/completions", body=body, cast_to=httpx2.Response)).json()
