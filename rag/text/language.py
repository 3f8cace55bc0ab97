"""The language of a text: Japanese or English."""

import re
from typing import Literal

Language = Literal["ja", "en"]

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_HAN_RUN = re.compile(rf"{_HAN.pattern}+")
_LATINdef _is_english_sentence(text: str) -> bool:
    words = {word.lower() for word in _ASKS_IN_ENGLISH.findall(text)}
    return len(words) >= LEAST_ENGLISH and not _HIRAGANA.search(_NAMED.sub("", text))


def is_written_in(text: str, language: Language) -> bool:
    """True if people would say that `text` is in that language. A Japanese query may name more in Latin letters than it
    has Japanese words. Chinese has no kana, but simplified characters, or words in its long runs of Han characters that
    only its sentences have.
    """
    if language == "en":
        return language_of(text) == "en"
    if _is_english_sentence(text):
        return False
    runs = _HAN_RUN.findall(text)
    return bool(_KANA.search(text)) or (bool(runs) and _is_japanese_without_kana(runs))


_LONG_RUN = 7
"""Han characters in a row: in Japanese a compound, such as 年次有給休暇付与日数; in Chinese often a sentence"""
_CHINESE_SENTENCE = re.compile("[什怎哪嗎呢您你這們沒誰]|没有|幾[天個]|多少|可以|是否|如何|請問")
"""words of Chinese sentences, mostly of questions, that no Japanese compound has"""

_CHARACTER_SETS = ("cp932", "shift_jis_2004")
"""of Japanese; only the first has 髙, only the second 塡; both lack most simplified characters"""


def _is_japanese_without_kana(runs: list[str]) -> bool:
    is_sentence = any(len(run) >= _LONG_RUN and _CHINESE_SENTENCE.search(run) for run in runs)
    return not is_sentence and any(_has_all(each, "".join(runs)) for each in _CHARACTER_SETS)


def _has_all(character_set: str, text: str) -> bool:
    try:
        text.encode(character_set)
    except UnicodeEncodeError:
        return False
    return True
