"""All texts of the pages, one file per language: ja.toml and en.toml, with the same keys."""

import tomllib
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers

from rag.text.language import Language


@cache
def texts(language: Language) -> dict[str, str]:
    """Sections and keys joined by a dot: `[chat] stop` is "chat.stop"."""
    sections = tomllib.loads((Path(__file__).parent / f"{language}.toml").read_text(encoding="utf-8"))
    return {f"{section}.{key}": text for section, keys in sections.items() for key, text in keys.items()}


def preferred_language(headers: Headers) -> Language:
    """The language for a request that is not for a page."""
    return "ja" if headers.get("accept-language", "").startswith("ja") else "en"
