"""The HTTP server: OpenAI's chat completions, for who has the key."""

import asyncio
import codecs
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from rag.models.embedded.engines.qwen2.protocol import ChatRequest, Finish, Replies, logprobs_of, refusal, usage_of
from rag.models.embedded.engines.qwen2.sampling import Chosen
from rag.models.embedded.engines.qwen2.tokenizer import PromptTokenizer
from rag.models.embedded.engines.qwen2.turns import Job, Piece, Turns

Answer = Callable[[Request], Awaitable[Response]]

GONE = 499
"""the status for a caller who has gone away; nobody reads it"""

LOOK = 0.2
"""seconds between two looks whether somebody still waits for a reply"""


class ChatApp:
    def __init__(self, name: str, tokenizer: PromptTokenizer, turns: Turns, context: int, api_key: str) -> None:
        """`context`: tokens of a prompt and its reply together."""
        self._name, self._tokenizer, self._turns, self._context = name, tokenizer, turns, context
        self._api_key = api_key
        self.routes = Starlette(
            routes=[
                Route("/health", self._health),
                Route("/v1/models", self._for_holders(self._models)),
                Route("/v1/chat/completions", self._for_holders(self._complete), methods=["POST"]),
            ]
        )

    def _for_holders(self, answer: Answer) -> Answer:
        expected = f"Bearer {self._api_key}".encode()

        async def checked(request: Request) -> Response:
            if not secrets.compare_digest(request.headers.get("Authorization", "").encode(), expected):
                return JSONResponse(refusal("This key is not known.", "invalid_api_key"), 401)
            return await answer(request)

        return checked

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": self._name, "object": "model"}]})

    async def _complete(self, request: Request) -> Response:
        try:
            asked = ChatRequest.model_validate_json(await request.body())
        except ValidationError as error:
            return JSONResponse(refusal(str(error), "invalid_request"), 400)
        prompt = await asyncio.to_thread(self._tokenizer.prompt, asked.prompt)
        if len(prompt) >= self._context:
            message = f"The prompt has {len(prompt)} tokens, and the model can read {self._context}."
            return JSONResponse(refusal(message, "context_length_exceeded"), 400)
        reply = _Reply(asked, prompt, self._tokenizer, self._context)
        replies = Replies(secrets.token_hex(12), self._name)
        if asked.stream:
            return StreamingResponse(self._streamed(reply, replies), media_type="text/event-stream")
        writing = asyncio.create_task(self._whole(reply, replies))
        leaving = asyncio.create_task(_gone(request))
        await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if writing.done():
            leaving.cancel()
            return JSONResponse(writing.result())
        writing.cancel()
        return Response(status_code=GONE)

    async def _whole(self, reply: "_Reply", replies: Replies) -> dict[str, Any]:
        text, logprobs = "", list[dict[str, Any]]()
        async with self._computed(reply):
            async for piece, named in reply.pieces():
                text += piece
                logprobs += named
        used = usage_of(len(reply.job.prompt), reply.job.written)
        return replies.whole(text, reply.finish, used, logprobs if reply.asked.logprobs else None)

    async def _streamed(self, reply: "_Reply", replies: Replies) -> AsyncIterator[str]:
        async with self._computed(reply):
            async for text, named in reply.pieces():
                yield _event(replies.piece(text, named if reply.asked.logprobs else None))
            yield _event(replies.piece("", finish=reply.finish))
            if reply.asked.stream_options.include_usage:
                yield _event(replies.used(usage_of(len(reply.job.prompt), reply.job.written)))
            yield "data: [DONE]\n\n"

    @asynccontextmanager
    async def _computed(self, reply: "_Reply") -> AsyncIterator[None]:
        self._turns.add(reply.job)
        try:
            yield
        finally:
            reply.job.is_abandoned = True


class _Reply:
    def __init__(self, asked: ChatRequest, prompt: list[int], tokenizer: PromptTokenizer, context: int) -> None:
        self.asked = asked
        self._tokenizer = tokenizer
        self._told: asyncio.Queue[Piece | Exception] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        self.job = Job(
            prompt,
            most=min(asked.max_tokens or context, context - len(prompt)),
            ends=tokenizer.ends,
            tell=lambda piece: _tell(loop, self._told, piece),
            temperature=asked.temperature,
            top=asked.top_logprobs,
        )

    @property
    def finish(self) -> Finish:
        return "length" if self.job.is_cut else "stop"

    async def pieces(self) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
        """Text, and the log-probabilities of its tokens. A character may take several tokens."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while (piece := await self._told.get()) is not None:
            if isinstance(piece, Exception):
                raise piece
            spelled = self._spelled(piece)
            yield decoder.decode(spelled[piece.token]), [logprobs_of(piece, spelled)]
        if rest := decoder.decode(b"", final=True):
            yield rest, []

    def _spelled(self, piece: Chosen) -> dict[int, bytes]:
        return {token: self._tokenizer.bytes_of(token) for token in (piece.token, *(token for token, _ in piece.top))}


def _tell(loop: asyncio.AbstractEventLoop, told: asyncio.Queue[Piece | Exception], piece: Piece | Exception) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(told.put_nowait, piece)


async def _gone(request: Request) -> None:
    """Returns when the caller has gone away."""
    while not await request.is_disconnected():
        await asyncio.sleep(LOOK)


def _event(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content, ensure_ascii=False)}\n\n"
