"""How much of one text stands in another: characters by twos where there are no spaces, else words and numbers.

And what it names that the other does not, or has too, in whatever language: names and numbers outlive a translation.
"""

import re
import unicodedata

_UNSPACED = re.compile(r"[\u3041-\u30ff\u3400-\u9fff々ー]+")
_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[^\W\d_\u3041-\u30ff\u3400-\u9fff]{2,}")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[^\W_] )[A-Z][\w-]+|[\u30a1-\u30faー]{3,}")
"""a capital within an English sentence; katakana, from three on"""
_LATIN_NAME = re.compile(r"(?:[A-Za-z][a-z]*[A-Z\d]|(?<=[^\W_] )[A-Z])[A-Za-z\d-]*")
"""HazeGate, VPN, S3; or a capital within an English sentence"""
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z\d-]+")
_FUNCTION_WORDS = frozenset(
    "the of to in is are was be and or for on at by with as it its that this from an you your can may must not".split()  # noqa: SIM905
)


def features(text: str) -> frozenset[str]:
    """Bigrams of Japanese characters, lower-case words, and numbers without their commas."""
    text = unicodedata.normalize("NFKC", text).lower()
    bigrams = {run[i : i + 2] for run in _UNSPACED.findall(text) for i in range(max(1, len(run) - 1))}
    words = {word.replace(",", "") for word in _WORD.findall(text)} - _FUNCTION_WORDS
    return frozenset(bigrams | words)


def overlap(part: str, whole: str) -> float:
    """The share of `part`'s features that `whole` has, 0 to 1; 0 where `part` has none."""
    wanted = features(part)
    return len(wanted & features(whole)) / len(wanted) if wanted else 0.0


def shared_names(part: str, whole: str, known: str) -> float:
    """The share of `part`'s numbers and Latin names that `whole` has, 0 to 1; those of `known` prove nothing.

    Japanese and English write them alike, so it tells where the two are in different languages, and `overlap` does not.
    """
    part, whole, known = (unicodedata.normalize("NFKC", text) for text in (part, whole, known))
    name = _LATIN_WORD if _UNSPACED.search(part) else _LATIN_NAME
    wanted = ({each.lower() for each in name.findall(part)} | _numbers(part)) - _terms(known)
    return len(wanted & _terms(whole)) / len(wanted) if wanted else 0.0


def unnamed(part: str, whole: str) -> tuple[str, ...]:
    """Numbers and names of `part` that `whole` does not have, as far as names show by how they are written."""
    part, whole = (unicodedata.normalize("NFKC", text) for text in (part, whole))
    numbers = _numbers(whole)
    strange = [number for number in _NUMBER.findall(part) if _plain(number) not in numbers]
    lower = whole.lower()
    return tuple(dict.fromkeys(strange + [name for name in _NAME.findall(part) if name.lower() not in lower]))


def _terms(text: str) -> set[str]:
    return {word.lower() for word in _LATIN_WORD.findall(text)} | _numbers(text)


def _numbers(text: str) -> set[str]:
    return {_plain(number) for number in _NUMBER.findall(text)}


def _plain(number: str) -> str:
    return number.replace(",", "")
