"""Refuses a request with a sentence."""

from collections.abc import Mapping
from types import MappingProxyType

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from index_store.base.errors import PlainError
from pages.texts import preferred_language


class Refused(PlainError):
    status = 403


async def refuse(
    error: PlainError,
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})  # such a server answers 403 itself
        return
    sentence = error.sentence(preferred_language(Headers(scope=scope)))
    await PlainTextResponse(f"{sentence}\n", status, {"Cache-Control": "no-store", **headers})(scope, receive, send)
