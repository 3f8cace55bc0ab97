"""The language of a text: Japanese or English."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

Language = Literal["ja", "en"]

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_HAN_RUN = re.compile(rf"{_HAN.pattern}+")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_OKURIGANA = "[いえきぎくけげしじすせちつてねびぶみむめりるれ]"
"""the hiragana with which a noun may end, such as 手引き; none of them is a particle"""
_NAMED = re.compile(
    "「[^「」]*」|『[^『』]*』"
    r"|(?<=[\u30a1-\u30ff\u3400-\u9fff])(?:さん|さま|くん|ちゃん)(?![\u3041-\u309f])"
    rf"|(?<=[\u3400-\u9fff])(?:{_OKURIGANA}{{1,2}}|[かがまもらわ]{_OKURIGANA})(?![\u3041-\u309f])"
    r"|(?<![\u3041-\u309f])[おご](?=[\u3400-\u9fff])"
    r"|(?<=[A-Za-z] )(?!とい|とは|から|まで|より|など|って|および|または|につい)[\u3041-\u309f]{2,}"
    r"(?=[\u30a1-\u30ff\u3400-\u9fff])"
)
"""what a sentence in another language may name: a term in quotes, the hiragana behind a person's name, and the hiragana
of a term such as 申し込み書, 打ち合わせ, お知らせ or みなし残業
"""
_ASKS_IN_ENGLISH = re.compile(
    r"\b(?:what|how|who|whom|whose|when|where|which|why|is|are|was|were|do|does|did|has|have|can|could|should|would|may"
    r"|must|will|the|an|i|my|we|our|you|your|me|please|tell|explain|describe|show|list)\b",
    re.IGNORECASE,
)
LEAST_ENGLISH = 2
"""different words of English sentences: an English title in a Japanese question may have one"""

_BEGINS_IN_ENGLISH = re.compile(
    r"\W*+(?:(?i:(?:what|how|where|when)['’]s)\b|(?i:what|how|who|whose|when|where|which|why|is|are|was|were|do|does|did"
    r"|has|have|can|could|should|would|may|must|will|please|explain|describe)\b(?!['’])"
    r"(?=[^\n]*(?<![A-Za-z])(?!to\b)[a-z]{2}))"
)
"""What's, or a question word and another word in small letters, which an English title in a Japanese question seldom
has
"""


_WORD = re.compile(r"[^\W\d_]+")
_IN_ENGLISH = re.compile(
    rf"{_ASKS_IN_ENGLISH.pattern}|\b(?:and|but|or|so|in|for|more|again|continue|yes|no|hello|hi|thanks|thank)\b",
    re.IGNORECASE,
)
MOST_NAMES = 6
"""words in Latin letters beside Han characters that may all be names, as in Google Workspace 設定"""


def language_of(text: str) -> Language:
    """Japanese if there is kana, or more Han characters than English words ("VPN設定方法"), or Han ones beside a few
    names ("Google Workspace 設定"). But an English sentence may name something Japanese ("What is Zパタン?"): it has no
    hiragana of its own.
    """
    if _is_english_sentence(text):
        return "en"
    if _KANA.search(text):
        return "ja"
    han, words = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    beside_names = han > 0 and words <= MOST_NAMES and not _IN_ENGLISH.search(text)
    return "ja" if han > words or beside_names else "en"


MOST_NAMING = 2
"""words in Latin letters that may be just a name, such as Google Workspace"""


def language_in_conversation(text: str, before: Sequence[str]) -> Language:
    """The language of a text that follows others. One that only names something, such as "VPN?", is in the language of
    the text before it.
    """
    return language_of(next((each for each in (text, *reversed(before)) if not _only_names(each)), text))


def _only_names(text: str) -> bool:
    words = _WORD.findall(unicodedata.normalize("NFKC", text))
    return len(words) <= MOST_NAMING and all(map(str.isascii, words)) and not _IN_ENGLISH.search(text)


def _is_english_sentence(text: str) -> bool:
    words = {word.lower() for word in _ASKS_IN_ENGLISH.findall(text)}
    is_one = len(words) >= LEAST_ENGLISH or _BEGINS_IN_ENGLISH.match(text) is not None
    return is_one and not _HIRAGANA.search(_NAMED.sub("", text))


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
