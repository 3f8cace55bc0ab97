"""The one Engine of the process, made when the first page asks for it; and who asks."""

import gc
import threading
import uuid

import streamlit as st

from rag.runs.engine import Engine

_lock = threading.Lock()
_engine: Engine | None = None
_is_frozen = False


def engine() -> Engine:
    """Raises PlainError, such as StoreInUse, when there can't be one."""
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


def person() -> str:
    """The session, until people sign in."""
    session: str = st.session_state.setdefault("person", uuid.uuid4().hex)
    return session
