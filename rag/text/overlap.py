"""How much of one text is in another: by pairs of characters where there are no spaces, else by words and numbers."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from index_store.full_text.folding import fold

_UNSPACED = re.compile(r"[\u3041-\u30ff\u3400-\u9fff々ー]+")
_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_\u3041-\u30ff\u3400-\u9fff]{2,}")
_FUNCTION_WORDS = frozenset(
    """
    the of to in is are was be and or for on at by with as it its that this from an you your can may must not
    """.split()  # noqa: SIM905
)


@lru_cache(maxsize=256)  # every sentence of an answer is compared with the same passages
def features(text: str) -> frozenset[str]:
    """Bigrams of Japanese characters, lower-case words, and numbers without their commas."""
    text = unicodedata.normalize("NFKC", text).lower()
    bigrams = {run[i : i + 2] for run in _UNSPACED.findall(text) for i in range(max(1, len(run) - 1))}
    words = {word.replace(",", "") for word in _WORD.findall(text)} - _FUNCTION_WORDS
    return frozenset(bigrams | words)


def overlap(part: str, whole: str) -> float:
    """The share of `part`'s features that `whole` has, 0 to 1; 0 if `part` has none."""
    wanted = features(part)
    return len(wanted & features(whole)) / len(wanted) if wanted else 0.0


def words_in(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """The `words` that `text` contains, each once; compared as full-text search does."""
    folded = _fold(text)
    found: dict[str, str] = {}
    for word in words:
        if _is_in(_fold(word), folded):
            found.setdefault(_fold(word), word)
    return tuple(found.values())


def _is_in(word: str, text: str) -> bool:
    """Latin words must match whole words: "party" does not contain "art"."""
    before = r"(?<![a-z0-9])" if word[:1].isascii() else ""
    after = r"(?![a-z0-9])" if word[-1:].isascii() else ""
    return any(map(str.isalnum, word)) and re.search(f"{before}{re.escape(word)}{after}", text) is not None


_ONE_SIGN = str.maketrans(dict.fromkeys("\u2010\u2011\u2212", "-") | dict.fromkeys("\u2018\u2019\u2032", "'"))
"""people and models write hyphens and apostrophes in several ways"""
_VOWEL_SIGN_AS_HYPHEN = re.compile("(?<=[a-z0-9])ー(?=[a-z0-9])")
"""Japanese input methods offer ー for the key of the hyphen"""


def _fold(text: str) -> str:
    folded = fold(text).text.translate(_ONE_SIGN)
    return " ".join(_VOWEL_SIGN_AS_HYPHEN.sub("-", folded).split())
