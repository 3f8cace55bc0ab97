"""Names, codes and numbers in a text, recognised by how they are written. A translation keeps them, and if no passage
contains one, it does not come from the passages.
"""

import re
import unicodedata

from index_store.full_text.folding import fold
from index_store.full_text.spellings.eras import years_of_eras
from index_store.full_text.spellings.figures import percentages

_JAPANESE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff々ー]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[^\W_] )[A-Z][\w-]+|[\u30a1-\u30faー]{3,}")
"""a capitalised word within an English sentence; three or more katakana"""
_LATIN_NAME = re.compile(r"(?:(?<![A-Za-z])[A-Za-z][a-z]*+[A-Z\d]|(?<=[^\W_] )[A-Z])[A-Za-z\d-]*")
"""HazeGate, VPN, S3; or a capitalised word within an English sentence"""
_CODE = re.compile(r"(?<![A-Za-z\d])[A-Za-z]+-?\d(?:-?[A-Za-z\d])*")
"""ZT-4083, FY2024, S3"""
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z\d-]+")
_ZEROS_BEFORE = re.compile(r"^0+(?=[1-9])")
"""those of 09:00 and 2024-04-01, which nobody says"""


def shared_names(part: str, whole: str, known: str) -> float:
    """The share of `part`'s numbers and Latin names that `whole` contains, 0 to 1. Those of `known` are not counted.

    Japanese and English write them alike, so it works if the two texts are in different languages.
    """
    part, whole, known = (unicodedata.normalize("NFKC", text) for text in (part, whole, known))
    name = _LATIN_WORD if _JAPANESE.search(part) else _LATIN_NAME
    wanted = ({each.lower() for each in name.findall(part)} | _numbers(part)) - _terms(known)
    return len(wanted & _terms(whole)) / len(wanted) if wanted else 0.0


def unstated_names(part: str, whole: str) -> tuple[str, ...]:
    """Numbers and names of `part` that `whole` does not contain in any spelling."""
    part, whole = (unicodedata.normalize("NFKC", text) for text in (part, whole))
    numbers = _numbers(whole) | _numbers_in_words(whole)
    unstated = [number for number in _NUMBER.findall(part) if _plain(number) not in numbers]
    lower = whole.lower()
    # サーバー is in サーバの再起動, too.
    names = [name for name in _NAME.findall(part) if name.lower().rstrip("ー") not in lower]
    return tuple(dict.fromkeys(unstated + names))


def unstated_codes(part: str, whole: str) -> tuple[str, ...]:
    """Codes of `part`, such as ZT-4083, that `whole` does not contain."""
    part, whole = (unicodedata.normalize("NFKC", text) for text in (part, whole))
    upper = whole.upper()
    return tuple(dict.fromkeys(code for code in _CODE.findall(part) if code.upper() not in upper))


def _terms(text: str) -> set[str]:
    return {word.lower() for word in _LATIN_WORD.findall(text)} | _numbers(text)


def _numbers(text: str) -> set[str]:
    return {_plain(number) for number in _NUMBER.findall(text)}


def _numbers_in_words(text: str) -> set[str]:
    """三十日 has 30, 三割 has 30, and 令和6年 has 2024."""
    folded = fold(text).text
    percents = {percentage.removesuffix("%") for _, _, percentage in percentages(folded)}
    return _numbers(folded) | percents | {str(year) for _, _, year in years_of_eras(folded)}


def _plain(number: str) -> str:
    return _ZEROS_BEFORE.sub("", number.replace(",", ""))
