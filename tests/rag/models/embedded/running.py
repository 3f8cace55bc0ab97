"""The embedded model that an engine has started, asked without the engine: a second process would take seconds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rag.models.chat_model import ChatModel
from rag.models.embedded.source import EmbeddedSource
from rag.runs.engine import UserEngine
from tests.local import process_of

Reply = TypeVar("Reply")


def ask_running(engine: UserEngine, ask: Callable[[ChatModel], Awaitable[Reply]]) -> Reply:
    """In an event loop of its own, with a client of its own."""
    process = process_of(engine)

    async def asked() -> Reply:
        source = EmbeddedSource(process.settings)
        source._server = process._models.usual._server
        try:
            return await ask(source.open())
        finally:
            await source._http.aclose()

    return asyncio.run(asked())
