"""Who reads the page: their language and time zone."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qs
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag.text.language import Language


class Reader(NamedTuple):
    language: Language
    zone: str
    """time zone, an IANA name"""


_reader: ContextVar[Reader | None] = ContextVar("reader", default=None)
"""for code that runs while no page is drawn, for example when a requested file is made"""

LANGUAGE = "language of the page"
"""in the session"""

LANGUAGES: dict[Language, str] = {"ja": "日本語", "en": "English"}


def reader() -> Reader:
    """The reader of the page that is being drawn."""
    return Reader(language(), zone())


@contextmanager
def written_for(reader: Reader) -> Iterator[None]:
    """Inside it, texts are for this reader, in any thread."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def language() -> Language:
    """The language of the page, as `follow_language` keeps it."""
    if told := _reader.get():
        return told.language
    context = get_script_run_ctx()
    # A fragment may be drawn for a request with the address before a press on the other language.
    if context and LANGUAGE in context.session_state:
        kept: Language = context.session_state[LANGUAGE]
        return kept
    return _language_asked_for(context.query_string if context else "")


def follow_language() -> None:
    """Keeps the language of the address in the session. While the page is open, the session counts, unless the browser
    goes back or forward: see pages/widgets/chat/conversation/address.py. Call it first on every page.
    """
    context = get_script_run_ctx()
    told = _language_asked_for(context.query_string if context else "")
    if LANGUAGE not in st.session_state or (context and context.is_history_navigation):
        st.session_state[LANGUAGE] = told
    elif told != st.session_state[LANGUAGE]:
        st.query_params["lang"] = st.session_state[LANGUAGE]


def choose_language(chosen: Language) -> None:
    st.session_state[LANGUAGE] = chosen
    st.query_params["lang"] = chosen


def _language_asked_for(query: str) -> Language:
    """The language in the address (?lang=), so that it survives a reload; otherwise a guess from the browser."""
    chosen = _named_in(query) or st.context.locale or ""
    return "ja" if chosen.startswith("ja") else "en"


@lru_cache(maxsize=64)
def _named_in(query: str) -> str:
    """The language in an address. It is looked up for each text of a page; with `st.query_params`, that took a fifth of
    the time to draw a trace.
    """
    return parse_qs(query).get("lang", [""])[-1]


def zone() -> str:
    """The reader's time zone."""
    if told := _reader.get():
        return told.zone
    try:
        return ZoneInfo(st.context.timezone or "UTC").key
    except (ZoneInfoNotFoundError, ValueError):
        return "UTC"
