"""ChatOpenAI, with what it leaves out of a streamed reply: the refusal, which OpenAI sends beside the text, and a whole
reply, which some gateways send instead of a stream.
"""

from collections.abc import AsyncIterator
from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI

from rag.models.usage import REFUSAL, current_reply


class ServiceChatOpenAI(ChatOpenAI):
    """As for a whole reply, a refusal is in `additional_kwargs`. A whole reply is the only piece of its stream."""

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
        piece = super()._convert_chunk_to_generation_chunk(chunk, *args)
        choices = chunk.get("choices")
        if piece and choices and (refusal := (choices[0]["delta"] or {}).get(REFUSAL)):
            piece.message.additional_kwargs[REFUSAL] = refusal
        return piece
