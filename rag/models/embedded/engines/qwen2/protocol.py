"""The part of OpenAI's protocol for chat completions that the app uses, read and written."""

import time
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, Field

from rag.models.embedded.engines.qwen2.sampling import Chosen


class TextPart(BaseModel):
    type: Literal["text"]
    text: str


class Message(BaseModel):
    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart]

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel):
    messages: Annotated[list[Message], Field(min_length=1)]
    max_tokens: Annotated[
        int | None, Field(ge=1, validation_alias=AliasChoices("max_completion_tokens", "max_tokens"))
    ] = None
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] = 0
    stream: bool | None = None
    stream_options: StreamOptions = StreamOptions()

    @property
    def prompt(self) -> list[tuple[str, str]]:
        return [("system" if each.role == "developer" else each.role, each.text) for each in self.messages]


Finish = Literal["stop", "length"]


class Replies:
    """The objects of one reply."""

    def __init__(self, number: str, model: str) -> None:
        self._common = {"id": f"chatcmpl-{number}", "created": int(time.time()), "model": model}

    def whole(
        self, text: str, finish: Finish, usage: dict[str, int], logprobs: list[dict[str, Any]] | None
    ) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": finish,
            "logprobs": None if logprobs is None else {"content": logprobs},
        }
        return {**self._common, "object": "chat.completion", "choices": [choice], "usage": usage}

    def piece(
        self, text: str, logprobs: list[dict[str, Any]] | None = None, finish: Finish | None = None
    ) -> dict[str, Any]:
        choice = {
            "index": 0,
            "delta": {"role": "assistant", "content": text} if finish is None else {},
            "finish_reason": finish,
            "logprobs": None if logprobs is None else {"content": logprobs},
        }
        return {**self._common, "object": "chat.completion.chunk", "choices": [choice]}

    def used(self, usage: dict[str, int]) -> dict[str, Any]:
        return {**self._common, "object": "chat.completion.chunk", "choices": [], "usage": usage}


def usage_of(prompt: int, reply: int) -> dict[str, int]:
    """Numbers of tokens."""
    return {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}


def logprobs_of(chosen: Chosen, bytes_of: dict[int, bytes]) -> dict[str, Any]:
    """`bytes_of`: of each token that is named."""

    def named(token: int, logprob: float) -> dict[str, Any]:
        spelled = bytes_of[token]
        return {"token": spelled.decode("utf-8", "replace"), "logprob": logprob, "bytes": list(spelled)}

    top = [named(token, logprob) for token, logprob in chosen.top]
    return {**named(chosen.token, chosen.logprob), "top_logprobs": top}


def refusal(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}
