"""A passage in another language than the question can't hold its words, so how many it holds says nothing about it.

Languages are told apart by their letters: Japanese or Latin. Texts of figures, codes and addresses are of no language.
"""

import re
from collections.abc import Sequence

from index_store.full_text.words import HAS_JAPANESE

LEAST_JAPANESE = 0.4
"""share of letters: Japanese texts name much in Latin letters, and English questions something in Japanese"""
LEAST_ENGLISH = 0.3
"""share of words among what stands between spaces: tables in English are half figures"""
_WORD = re.compile(r"(?<![^\s(\"'“‘*])[A-Za-z]++(?<=[a-z]{2})[.,;:!?)\"'”’*]*+(?:\s|\Z)")
"""ends in small letters and stands alone: no code such as ZT-4083, and no part of an address"""


def is_japanese(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters > 0 and len(HAS_JAPANESE.findall(text)) >= LEAST_JAPANESE * letters


def is_english(text: str) -> bool:
    text = text.replace("|", " ")  # stands between the cells of tables
    parts = text.split()
    return bool(parts) and not is_japanese(text) and len(_WORD.findall(text)) >= LEAST_ENGLISH * len(parts)


def differ_in_language(one: str, other: str) -> bool:
    return (is_japanese(one) and is_english(other)) or (is_english(one) and is_japanese(other))


def translated_share(question: str, words: Sequence[str]) -> float:
    """The share of the words of a question that a text in the other language would translate, 0 to 1.

    Words of a Japanese question in Latin letters, such as VPN or ZT-4083, stand in an English text, too; so do those of
    an English question that have a capital or a digit.
    """
    asks_in_japanese = is_japanese(question)
    translated = [word for word in words if (HAS_JAPANESE.search(word) if asks_in_japanese else _is_plain(word))]
    return len(translated) / len(words) if words else 0.0


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()
