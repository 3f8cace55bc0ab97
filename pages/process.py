"""The one Engine of the process, made when the first page asks for it: as whoever is at the browser has it."""

import gc
import threading

from index_store.access.gate import as_local
from rag.runs.engine import Engine, UserEngine

_lock = threading.Lock()
_engine: Engine | None = None
_is_frozen = False


def engine() -> UserEngine:
    """As whoever is at the browser has it; it may be kept, and asked in any thread.

    Raises PlainError, such as StoreInUse, when there can't be one.
    """
    return whole_engine().as_user(as_local)


def whole_engine() -> Engine:
    """For what is done in nobody's name. Raises PlainError, such as StoreInUse, when there can't be one."""
    global _engine, _is_frozen
    with _lock:
        if _engine is None:
            _engine = Engine()
        if not _is_frozen:
            # What is loaded by now stays: to look through all of it for garbage held everybody up for 0.3 to 0.6 s,
            # twice in an answer when twenty people ask.
            gc.collect()
            gc.freeze()
            _is_frozen = True
        return _engine


def close_engine() -> None:
    global _engine
    with _lock:
        if _engine is not None:
            _engine.close()
            _engine = None
