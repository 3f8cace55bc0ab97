"""The reader's language, and the page's texts in it."""

import streamlit as st

from pages.texts import texts
from rag.language import Language

LANGUAGES: dict[Language, str] = {"ja": "日本語", "en": "English"}


def language() -> Language:
    """What the address says (?lang=), so that it survives a reload; else a guess from the browser."""
    chosen = st.query_params.get("lang") or (st.context.locale or "")
    return "ja" if chosen.startswith("ja") else "en"


def say(key: str, **parts: object) -> str:
    """The text of `key` in the reader's language."""
    return texts(language())[key].format(**parts)


def counted(key: str, count: int) -> str:
    """A text with a number in it, which English writes otherwise for one."""
    return say(f"{key}_one") if count == 1 else say(key, count=count)


def thousands(number: int) -> str:
    """2130 -> 2.1k"""
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)
