"""Parts of the app that callers can't reach, for tests that break them, hold them or look into them."""

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # tests of index_store load nothing of rag
    from index_store.access.principal import Principal
    from index_store.catalogue.catalogue import Catalogue
    from index_store.library.library import Library
    from index_store.store.index_store import IndexStore
    from rag.runs.engine import Engine, UserEngine


def process_of(engine: "UserEngine") -> "Engine":
    return engine._engine


def loop_of(engine: "UserEngine") -> asyncio.AbstractEventLoop:
    return process_of(engine)._loop


def person_of(engine: "UserEngine") -> "Principal":
    return engine._ownership.who()


def let_time_pass(engine: "UserEngine", seconds: float) -> None:
    """Puts the clock of the engine's event loop forward, so that what it does within a time limit is late."""
    loop = loop_of(engine)
    loop.time = lambda: time.monotonic() + seconds
    loop.call_soon_threadsafe(lambda: None)  # wakes it


def library_of(store: "IndexStore") -> "Library":
    return store._library


def catalogue_of(store: "IndexStore") -> "Catalogue":
    return store._catalogue
