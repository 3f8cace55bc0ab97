"""Search words that a model picks out of a question: how it is asked for them, and what of its answer counts.

Small models invent words, or copy those of their instructions: what does not stand in the question is dropped.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from rag.models.service.structured import json_objects, schema

KEYWORDS_SCHEMA = schema("keywords", {"words": {"type": "array", "items": {"type": "string"}}})

MOST_WORDS = 8
"""a model that names more has copied the question, and chosen nothing"""

_SEPARATOR = re.compile(r"[,、，;；\n\t]|・(?=\s)|\s[|/]\s")
_DECORATION = " 　\"'“”‘’「」『』【】*`_.。:："
_BULLET = re.compile(r"^\s*(?:[-*・•]|\d{1,2}[.)])\s+")
_LABEL = re.compile(r"^\s*(?:(?:search |key)?words|検索語|キーワード)\s*[:：]", re.IGNORECASE)


def read_keywords(text: str) -> tuple[str, ...]:
    """What a model wrote, as words: of JSON with a list in it, or of a list with commas, bullets or lines."""
    for said in json_objects(text):
        for value in said.values():
            if isinstance(value, list):
                return _clean(each for each in value if isinstance(each, str))
    return _clean(_BULLET.sub("", part) for part in _SEPARATOR.split(_LABEL.sub("", text)))


def standing_in(question: str, words: Sequence[str]) -> tuple[str, ...]:
    """Those of `words` that the question holds, each once; they are held against each other by NFKC and casefold."""
    folded = _fold(question)
    found: dict[str, str] = {}
    for word in words:
        if _is_in(_fold(word), folded):
            found.setdefault(_fold(word), word)
    return tuple(found.values())


def _clean(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(bare for word in words if (bare := " ".join(word.strip(_DECORATION).split())))


def _is_in(word: str, question: str) -> bool:
    """As whole words where they are Latin: the art of a party is not in it."""
    before = r"(?<![a-z0-9])" if word[:1].isascii() else ""
    after = r"(?![a-z0-9])" if word[-1:].isascii() else ""
    return any(map(str.isalnum, word)) and re.search(f"{before}{re.escape(word)}{after}", question) is not None


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
