"""Asks the embedded model of a running engine directly, because a second process takes seconds to start."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rag.models.chat_model import ChatModel
from rag.models.embedded.source import EmbeddedSource
from rag.runs.engine import UserEngine
from tests.helpers.back_doors import process_of

Reply = TypeVar("Reply")


def ask_running(engine: UserEngine, ask: Callable[[ChatModel], Awaitable[Reply]]) -> Reply:
    """Uses its own event loop and its own HTTP client."""
    process = process_of(engine)

    async def asked() -> Reply:
        source = EmbeddedSource(process.settings)
        source._server = process._models.usual._server
        try:
            return await ask(source.open())
        finally:
            await source._http.aclose()

    return asyncio.run(asked())
