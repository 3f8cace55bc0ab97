"""ChatOpenAI, with the refusal of a streamed reply: OpenAI sends it beside the text, and ChatOpenAI leaves it out."""

from typing import Any

from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI

from rag.models.usage import REFUSAL


class RefusingChatOpenAI(ChatOpenAI):
    """As for a whole reply, a refusal is in `additional_kwargs`."""

    def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *args: Any) -> ChatGenerationChunk | None:
        # The method that LangChain's own packages override to keep a field of their service.
        piece = super()._convert_chunk_to_generation_chunk(chunk, *args)
        choices = chunk.get("choices")
        if piece and choices and (refusal := (choices[0]["delta"] or {}).get(REFUSAL)):
            piece.message.additional_kwargs[REFUSAL] = refusal
        return piece
