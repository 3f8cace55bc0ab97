"""The one Engine of the process, created when the server starts, and the facade of the person at the browser."""

import gc
import threading
from functools import partial

import streamlit as st
from starlette.requests import HTTPConnection

from index_store.access.access import Access
from index_store.access.principal import Principal
from index_store.base.errors import PlainError
from pages.server.identity import identify
from pages.server.settings import server_settings
from rag.runs.engine import Engine, UserEngine

_lock = threading.Lock()
_engine: Engine | None = None
_is_frozen = False
_is_over = False


class Ending(PlainError):
    en = "The app is ending. Wait a moment, then reload the page."
    ja = "アプリを終了しています。少し待ってから、ページを再読み込みしてください。"


def engine() -> UserEngine:
    """The facade of the person at the browser. It can be kept and called in any thread. Raises the errors of
    `principal`.
    """
    return _as(principal())


def engine_of(request: HTTPConnection) -> UserEngine:
    """The same for a request outside of pages."""
    return _as(principal_of(request))


def _as(principal: Principal) -> UserEngine:
    process = whole_engine()
    _freeze()
    return process.as_user(partial(process.store.access.principal, principal.id))


def whole_engine() -> Engine:
    """For work in nobody's name. Raises Ending, or another PlainError, such as StoreInUse, if the engine can't be
    opened.
    """
    global _engine
    with _lock:
        if _is_over:
            raise Ending
        if _engine is None:
            _engine = Engine()
        return _engine


def _freeze() -> None:
    """Freezes what is loaded when the first person comes, the pages too: a collection over all of it stopped everything
    for 0.3 to 0.6 s, twice in an answer when twenty people ask.
    """
    global _is_frozen
    with _lock:
        if not _is_frozen:
            gc.collect()
            gc.freeze()
            _is_frozen = True


def close_engine(*, for_good: bool = False) -> None:
    """`for_good`: a page that is still being drawn does not open the data again."""
    global _engine, _is_over
    with _lock:
        _is_over = _is_over or for_good
        closing, _engine = _engine, None
        if closing:
            closing.close()


def replica_number() -> int:
    """The number of this app among those that share a database. 0 for a single app, and until its engine exists."""
    process = _engine
    return process.store.replica.number if process and process.store.replica else 0


def access() -> Access:
    """People and their sign-ins, to identify a person. Raises the errors of `whole_engine`."""
    return whole_engine().store.access


def principal() -> Principal:
    """The person at the browser whose page is drawn or whose button was pressed. Call it each time, don't keep the
    result.

    Raises NotSignedIn, AccessWithdrawn; unless AUTH is none, also the errors of `whole_engine`.
    """
    context = st.context
    return identify(server_settings(), access, lambda: context.cookies, lambda name: context.headers.get_all(name))


def principal_of(request: HTTPConnection) -> Principal:
    """The same for a request outside of pages."""
    return identify(server_settings(), access, lambda: request.cookies, request.headers.getlist)
