"""The reader's language, and the page's texts in it."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, time
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qs, unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st
from ada_url import idna_to_unicode
from streamlit.runtime.scriptrunner import get_script_run_ctx

from index_store.base.text.bidi import without_bidi_controls
from pages.texts import texts
from rag.text.language import Language

WORD_JOINER = "\u2060"
"""has no width, and no meaning in a host name"""

_READ_UNESCAPED = re.compile(
    r"(?<=://)|(?<=www)(?=\.)|(?<=@)|(?<=:)(?=streamlit:)|(?<=[<>~-])(?=[-=>](?:\s|$))", re.IGNORECASE
)
"""where Streamlit finds addresses, arrows and its logo after it has removed the escapes; a joiner there splits them"""

_HOST_LABEL = re.compile(r"\bxn--[a-z\d-]+", re.IGNORECASE)
_JAPANESE_LABEL = re.compile("[a-z\\d々〆ぁ-ゖァ-ヺー\u3400-\u9fff-]+")
"""In other scripts there are letters that look like Latin ones, with which a host can pretend to be another."""
_ENCODED = re.compile("(?:%[89A-F][0-9A-F])+", re.IGNORECASE)
"""letters outside ASCII in an address"""

UNKNOWN = "–"
"""for tokens where there are none: services tell them at the end of a reply, if at all"""


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


def say(key: str, **parts: object) -> str:
    """The text of `key` in the reader's language. Without a text, the name in the key, as for a step that only a newer
    version knows.
    """
    text = texts(language()).get(key)
    return key.partition(".")[2].replace("_", " ") if text is None else text.format(**_written(parts))


def _written(parts: dict[str, object]) -> dict[str, object]:
    """Counts with separators: 20,000. A number that is a name, such as that of a page, must come as text."""
    return {name: f"{part:,}" if isinstance(part, int) else part for name, part in parts.items()}


def counted(key: str, count: int) -> str:
    """A text with a number in it; English has another form for one."""
    return say(f"{key}_one") if count == 1 else say(key, count=count)


def thousands(number: int) -> str:
    """2130 -> 2.1k"""
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)


def plain(text: str) -> str:
    """Escapes what Markdown would read as its own. For names from documents, models and people."""
    joined = _READ_UNESCAPED.sub(WORD_JOINER, " ".join(without_bidi_controls(text).split()))
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", joined)


def readable(text: str) -> str:
    """`text` with the addresses in it as a browser shows them: 規程, not %E8%A6%8F%E7%A8%8B, and 日本語.jp, not
    xn--wgv71a119e.jp. The signs that have a meaning in an address, and those that nobody sees, stay encoded. What turns
    the direction of a name is left out.
    """
    shown = _HOST_LABEL.sub(_label, without_bidi_controls(text))
    return _ENCODED.sub(_decoded, shown) if "://" in shown else shown


def _label(encoded: re.Match[str]) -> str:
    letters = idna_to_unicode(encoded[0].lower())
    return letters if _JAPANESE_LABEL.fullmatch(letters) else encoded[0]


def _decoded(encoded: re.Match[str]) -> str:
    try:
        letters = unquote(encoded[0], errors="strict")
    except UnicodeDecodeError:
        return encoded[0]
    return letters if letters.isprintable() else encoded[0]


def about(label: str, what: str) -> str:
    """The label of a button in a row, with `what` the row is about. Only screen readers tell it (style.css); others see
    it beside the button.
    """
    return f"{label} :gray[{plain(what)}]"


def megabytes(size: int) -> str:
    """`size`: bytes. 830 B, 12 KB, 3.4 MB"""
    if size < 1000:
        return f"{size} B"
    return f"{math.ceil(size / 1000)} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def duration(seconds: float) -> str:
    """A rough text, for time that remains. `seconds`: of that time."""
    if seconds < 90:
        return say("time.seconds", count=max(1, round(seconds)))
    return (
        say("time.minutes", count=round(seconds / 60))
        if seconds < 5400
        else say("time.hours", count=f"{seconds / 3600:.1f}")
    )


def zone() -> str:
    """The reader's time zone."""
    if told := _reader.get():
        return told.zone
    try:
        return ZoneInfo(st.context.timezone or "UTC").key
    except (ZoneInfoNotFoundError, ValueError):
        return "UTC"


def midnight_before(moment: datetime) -> datetime:
    """With which the reader's day began; the first, if clocks are set back over midnight. `moment`: aware."""
    here = ZoneInfo(zone())
    return datetime.combine(moment.astimezone(here).date(), time(), here)


def when(moment: datetime) -> str:
    """In the reader's time zone. `moment`: aware, or UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo("UTC"))
    return aware.astimezone(ZoneInfo(zone())).strftime("%Y-%m-%d %H:%M")
