"""A service that speaks OpenAI's protocol, with scripted answers: chat, embeddings, models."""

import array
import base64
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from tests.servers.chat import Answer, ChatRequest, Completion, Raw
from tests.servers.embeddings import DIMENSIONS, embed
from tests.servers.loopback import Connection, Fault, LoopbackServer, Refusal
from tests.servers.script import Script

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
MODELS = "/v1/models"

Reply = str | Answer | Raw | Refusal | Fault
Scripted = Reply | Callable[[ChatRequest], Reply]

LARGEST_INPUT = 2048
"""texts in a request for embeddings; the limit of OpenAI's own service"""


class OpenAIServer(LoopbackServer):
    """
    with OpenAIServer() as server:
        server.answer_when(lambda request: "relevant" in request.prompt, '{"verdict": "yes"}')
        server.enqueue("First it says this.", "Then that.")
        server.default = "And this to all others."
        ...
        assert "the question" in server.requests[0].prompt
    """

    request_type = ChatRequest

    def __init__(
        self,
        *,
        key: str | None = None,
        delay: float = 0,
        token_seconds: float = 0,
        tokens: int | None = None,
        refuses: frozenset[str] | set[str] = frozenset(),
        ignores: frozenset[str] | set[str] = frozenset(),
    ) -> None:
        """
        `delay`, `token_seconds`, `tokens`: defaults for each Answer.
        `refuses`: fields of a request, such as response_format or tools, that older servers answer with 400.
        `ignores`: fields that older servers ignore. If it ignores stream_options, it streams no usage.
        """
        super().__init__(key=key)
        self.delay = delay
        self.token_seconds = token_seconds
        self.tokens = tokens
        self.refuses = set(refuses)
        self.ignores = set(ignores)
        self.dimensions = DIMENSIONS
        """length of a vector, at most DIMENSIONS"""
        self.embeds: threading.Semaphore | None = None
        """if set, each request for embeddings waits until it may take one"""
        self.models = ["test-chat", "test-embedding"]
        self._script: Script[ChatRequest, Scripted] = Script("This is the answer of the tests' own server.")
        self.enqueue = self._script.enqueue
        self.answer_when = self._script.answer_when
        self.routes = {
            ("POST", CHAT): self._chat,
            ("POST", EMBEDDINGS): self._embed,
            ("GET", MODELS): self._list_models,
        }

    @property
    def base_url(self) -> str:
        """The value for OPENAI_BASE_URL."""
        return f"{self.url}/v1"

    @property
    def default(self) -> Scripted:
        """The answer to requests without a scripted one; a callable is called each time."""
        return self._script.default

    @default.setter
    def default(self, reply: Scripted) -> None:
        self._script.default = reply

    @property
    def unused(self) -> int:
        return self._script.unused

    @property
    def chats(self) -> list[ChatRequest]:
        return [request for request in self.requests if request.path == CHAT]

    @property
    def prompts(self) -> list[str]:
        return [request.prompt for request in self.chats]

    def refusal_body(self, refusal: Refusal) -> dict:
        message = refusal.message or HTTPStatus(refusal.status).phrase
        return {"error": {"message": message, "type": refusal.code or "error", "param": None, "code": refusal.code}}

    def _chat(self, request: ChatRequest, connection: Connection, fault: Fault | None) -> None:
        for name in sorted(self.refuses & request.body.keys()):
            return self.refuse(connection, Refusal(HTTPStatus.BAD_REQUEST, f"{name} is not supported."))
        seen = replace(request, body={k: v for k, v in request.body.items() if k not in self.ignores})
        reply = self._script.reply_to(request)
        reply = reply(request) if callable(reply) else reply
        if reply in (Fault.HANGS, Fault.CLOSES) or isinstance(reply, Refusal):
            return self.respond(request, connection, reply)
        if isinstance(reply, Raw):
            return _send_raw(reply, connection)
        if isinstance(reply, Fault):
            fault, reply = reply, "This is cut in the middle."
        answer = Answer(reply) if isinstance(reply, str) else reply
        answer = replace(answer, tokens=self.tokens if answer.tokens is None else answer.tokens)
        completion = Completion(seen, answer)
        delay = self.delay if answer.delay is None else answer.delay
        token_seconds = self.token_seconds if answer.token_seconds is None else answer.token_seconds
        connection.wait(delay)
        if seen.streams:
            return self._stream(completion, connection, token_seconds, answer.until, fault)
        connection.wait(token_seconds * len(completion.pieces))
        return connection.send_json(HTTPStatus.OK, completion.whole(), fault=fault)

    def _stream(
        self,
        completion: Completion,
        connection: Connection,
        token_seconds: float,
        until: threading.Event | None,
        fault: Fault | None,
    ) -> None:
        connection.start_events()
        tokens = len(completion.pieces)
        for number, chunk in enumerate(completion.chunks(), start=1):
            event = json.dumps(chunk, ensure_ascii=False)
            if fault is not None and number > tokens // 2:
                if fault is Fault.MALFORMED:
                    connection.send_event(event[: len(event) // 2])
                return connection.close()
            if until and number == tokens // 2 + 1:
                connection.wait_for(until)
            if number <= tokens:
                connection.wait(token_seconds)
            connection.send_event(event)
        connection.send_event("[DONE]")
        return connection.end_events()

    def _embed(self, request: ChatRequest, connection: Connection, fault: Fault | None) -> None:
        given = request.body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
            refusal = Refusal(HTTPStatus.BAD_REQUEST, "input has to be a text or a list of texts, none of them empty.")
            return self.refuse(connection, refusal)
        if len(texts) > LARGEST_INPUT:
            return self.refuse(connection, Refusal(HTTPStatus.BAD_REQUEST, f"At most {LARGEST_INPUT} texts."))
        connection.wait(self.delay)
        if self.embeds:
            connection.wait_for(self.embeds)
        encode = _as_base64 if request.body.get("encoding_format") == "base64" else list
        tokens = sum(map(len, texts))
        body = {
            "object": "list",
            "model": request.body.get("model", ""),
            "data": [
                {"object": "embedding", "index": index, "embedding": encode(embed(text)[: self.dimensions])}
                for index, text in enumerate(texts)
            ],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
        return connection.send_json(HTTPStatus.OK, body, fault=fault)

    def _list_models(self, request: ChatRequest, connection: Connection, fault: Fault | None) -> None:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "tests"} for name in self.models]
        connection.send_json(HTTPStatus.OK, {"object": "list", "data": data}, fault=fault)


def _send_raw(answer: Raw, connection: Connection) -> None:
    if not answer.events:
        return connection.send_json(answer.status, answer.body, content_type=answer.content_type)
    connection.start_events(byte_order_mark=answer.byte_order_mark)
    for event in answer.events:
        connection.send_event(event if isinstance(event, str) else json.dumps(event, ensure_ascii=False))
    return connection.close() if answer.is_closed else connection.end_events()


def _as_base64(vector: list[float]) -> str:
    """Little-endian 32-bit floats, as OpenAI sends them."""
    return base64.b64encode(array.array("f", vector).tobytes()).decode()
