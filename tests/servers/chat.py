"""A chat completion in OpenAI's protocol: the request as a test reads it, and the answer as a client gets it.

Source: https://platform.openai.com/docs/api-reference/chat. One choice; no images, no audio.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tests.servers.loopback import Request

CHARACTERS_A_TOKEN = 4
"""of an invented tokenizer, for texts whose number of tokens is not given"""


@dataclass(frozen=True)
class Answer:
    """The model's answer to one request. For a field that is None, the server has a common value."""

    text: str = ""
    tool_calls: tuple[tuple[str, dict], ...] = ()
    """name and arguments of each function to call"""
    logprobs: tuple[dict[str, float], ...] = ()
    """for each token: natural log-probability of each candidate, sent if the request asks for them"""
    tokens: int | None = None
    """number of tokens that the text counts as"""
    delay: float | None = None
    """seconds before the first token"""
    token_seconds: float | None = None
    """seconds per token"""
    finish_reason: str | None = None
    """why it ends here, such as content_filter"""
    until: threading.Event | None = None
    """if the answer is streamed, its second half waits for this"""

    def pieces(self) -> list[str]:
        """The text, cut into its tokens. If there are more tokens than characters, the last ones are empty."""
        count = -(-len(self.text) // CHARACTERS_A_TOKEN) if self.tokens is None else self.tokens
        size = -(-len(self.text) // count) if count else 0
        return [self.text[i * size : (i + 1) * size] for i in range(count)]


@dataclass(frozen=True)
class Raw:
    """An answer as it is, which need not follow the protocol."""

    body: object = None
    """sent as JSON"""
    content_type: str = "application/json"
    """what the body is said to be"""
    events: tuple[object, ...] = ()
    """if there are any, they are sent instead as a stream: a text as it is, others as JSON. [DONE] is one of them"""
    byte_order_mark: bool = False
    """the stream begins with one"""
    status: int = 200
    is_closed: bool = False
    """the connection closes behind the last event, without the end of the stream"""


def chunk(text: str | None = None, *, ends: str | None = None, **more: object) -> dict:
    """An event of a streamed answer. `more`: other fields of what it adds."""
    return {"object": "chat.completion.chunk", "choices": [{"delta": {"content": text, **more}, "finish_reason": ends}]}


@dataclass(eq=False)
class ChatRequest(Request):
    @cached_property
    def messages(self) -> list[dict]:
        return self.body.get("messages", [])

    @cached_property
    def prompt(self) -> str:
        """All that the model reads: the messages, one after another, without their roles."""
        return "\n".join(_text_of(message.get("content")) for message in self.messages)

    @property
    def text(self) -> str:
        return self.prompt if self.messages else super().text

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def wants_usage(self) -> bool:
        return not self.streams or bool((self.body.get("stream_options") or {}).get("include_usage"))

    @property
    def schema(self) -> dict | None:
        """The JSON schema that the answer must follow: of response_format, or of the function that it must call."""
        form = self.body.get("response_format") or {}
        if form.get("type") == "json_schema":
            return form["json_schema"]["schema"]
        return self._forced_function["parameters"] if self._forced_function else None

    @property
    def forced_function(self) -> str | None:
        return self._forced_function["name"] if self._forced_function else None

    @property
    def _forced_function(self) -> dict | None:
        choice = self.body.get("tool_choice")
        functions = [tool["function"] for tool in self.body.get("tools") or []]
        if isinstance(choice, dict):
            return next((f for f in functions if f["name"] == choice["function"]["name"]), None)
        return functions[0] if choice in ("required", "any") and functions else None

    @property
    def token_limit(self) -> int | None:
        return self.body.get("max_completion_tokens") or self.body.get("max_tokens")


class Completion:
    """An answer to a request, as the JSON of the protocol."""

    def __init__(self, request: ChatRequest, answer: Answer) -> None:
        self._request = request
        self._tool_calls = _tool_calls(request, answer)
        self._logprobs = answer.logprobs
        self._given_reason = answer.finish_reason
        written = "".join(call["function"]["arguments"] for call in self._tool_calls) or answer.text
        pieces = replace(answer, text=written).pieces()
        self.pieces = pieces[: request.token_limit]
        self._was_cut = len(self.pieces) < len(pieces)

    def whole(self) -> dict:
        message = {"role": "assistant", "content": None if self._tool_calls else "".join(self.pieces)}
        if self._tool_calls:
            message["tool_calls"] = self._tool_calls
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason}
        if self._wants_logprobs:
            choice["logprobs"] = {"content": [self._logprob(i) for i in range(len(self.pieces))]}
        return self._envelope("chat.completion") | {"choices": [choice], "usage": self._usage}

    def chunks(self) -> Iterator[dict]:
        """One chunk per token, then one with the reason of the end, then usage if the request wants it."""
        for index, piece in enumerate(self.pieces):
            yield self._chunk(self._delta(index, piece), index=index)
        yield self._chunk({}, finish_reason=self._finish_reason)
        if self._request.wants_usage:
            yield self._envelope("chat.completion.chunk") | {"choices": [], "usage": self._usage}

    def _delta(self, index: int, piece: str) -> dict:
        role = {"role": "assistant"} if index == 0 else {}
        if not self._tool_calls:
            return role | {"content": piece}
        if index > 0:
            return {}
        return role | {"tool_calls": [{"index": i} | call for i, call in enumerate(self._tool_calls)]}

    def _chunk(self, delta: dict, *, index: int | None = None, finish_reason: str | None = None) -> dict:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        if index is not None and self._wants_logprobs:
            choice["logprobs"] = {"content": [self._logprob(index)]}
        return self._envelope("chat.completion.chunk") | {"choices": [choice]}

    def _logprob(self, index: int) -> dict:
        candidates = self._logprobs[index] if index < len(self._logprobs) else {self.pieces[index]: 0.0}
        ranked = sorted(candidates.items(), key=lambda candidate: -candidate[1])
        entries = [{"token": token, "logprob": value, "bytes": list(token.encode())} for token, value in ranked]
        return entries[0] | {"top_logprobs": entries[: self._request.body.get("top_logprobs", 0)]}

    def _envelope(self, kind: str) -> dict:
        return {"id": "chatcmpl-loopback", "object": kind, "created": 0, "model": self._request.body.get("model", "")}

    @property
    def _wants_logprobs(self) -> bool:
        return bool(self._request.body.get("logprobs"))

    @property
    def _finish_reason(self) -> str:
        if self._given_reason:
            return self._given_reason
        if self._was_cut:
            return "length"
        return "tool_calls" if self._tool_calls else "stop"

    @property
    def _usage(self) -> dict:
        prompt = -(-len(self._request.prompt) // CHARACTERS_A_TOKEN)
        written = len(self.pieces)
        return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def _tool_calls(request: ChatRequest, answer: Answer) -> list[dict]:
    """The calls in the answer. If the request forces a function, the answer's JSON becomes its arguments."""
    calls = [(name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in answer.tool_calls]
    if not calls and request.forced_function and _is_json_object(answer.text):
        calls = [(request.forced_function, answer.text)]
    return [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _text_of(content: str | list[dict] | None) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""
