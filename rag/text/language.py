"""The language of a text: Japanese or English."""

import re
from typing import Literal

Language = Literal["ja", "en"]

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


def language_of(text: str) -> Language:
    """Japanese if there is kana, or more Han characters than English words ("VPN設定方法")."""
    if _KANA.search(text):
        return "ja"
    return "ja" if len(_HAN.findall(text)) > len(_LATIN_WORD.findall(text)) else "en"


def is_written_in(text: str, language: Language) -> bool:
    """True if people would say that `text` is in that language. Long Japanese text has kana, Chinese has none."""
    if language_of(text) != language:
        return False
    return language == "en" or bool(_KANA.search(text)) or len(_HAN.findall(text)) <= _HAN_ALONE


_HAN_ALONE = 6
"""Japanese without kana has at most so many Han characters, as in 出張旅費規程"""
