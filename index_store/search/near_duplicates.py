"""Finds near duplicates: a page stored under two names, a notice in every document."""

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from index_store.full_text.folding import fold

SHINGLE = 4
"""characters"""

ALIKE = 0.9
"""the share of shingles that both have (Jaccard; Broder, 1997); above it, only a word or two differ"""

_NUMBER = re.compile("[\\d〇一二三四五六七八九十百千万億兆]+")
_NUMBER_IN_WORDS = re.compile(
    r"[日月火水木金土]曜|(?<![a-z])(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august"
    "|september|october|november|december|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|half|twice|first|second|third|fourth)(?![a-z])"
)
"""also days of the week and months"""
_NEGATION = re.compile(
    "ない|なか|なく|なし|無し|ません|まじ|せず|(?<![必先ま])ず(?=[、。に])|[不非未無禁否○◯●△▲×✕✖✗✘✓✔☐☑☒]|[午事][前後]|以[上下前後]"
    "|[上下]限|最[大小高低長短多少]|税[込抜別]|象外|[翌当前次毎隔][日月週年]|[平休]日|[上下]期|必須|任意|開始|終了|国内|海外|[男女]性|[増減]|[有失]効|"
    "(?<![a-z])(?:no|not|cannot|never|none|nor|without|except|unless|before|after"
    "|until|am|pm|may|must|only|unpaid|ineligible|invalid|(?:hour|dai|week|month|quarter|year)ly"
    "|(?:minute|hour|day|week|month|year)s?"
    "|maximum|minimum|more|less|fewer|weekdays?|weekends?|allowed|permitted|forbidden|prohibited|mandatory|required|optional"
    "|part|full|domestic|foreign|increases?d?|decreases?d?|(?:in|ex)clu(?:d(?:ed?|es|ing)|sive)|(?:in|ex)ternal(?:ly)?"
    "|above|below|over|under|inside|outside|gross|net|permanent|temporary|enabled?|disabled?"
    "|(?:buyer|seller|employer|employee|customer|client|supplier|vendor|landlord|tenant|less(?:or|ee)|licens(?:or|ee))s?"
    ")(?![a-z])|(?<![a-z])non-?|n['’]t"
)
"""negations, ticks, the side of a limit, and what must be and what only may be: they turn a rule round; and the
party of a contract that it binds"""


def are_near_duplicates(one: str, other: str, asked: Collection[str] = (), places: tuple[str, str] = ("", "")) -> bool:
    """False if they differ in a number, in a negation, or in one of the words that are `asked` about: two rules may
    differ in nothing else. `places`: the title and headings of each; two notices from one template may differ in them.
    Equal texts say the same in every place.
    """
    if _plain(one) == _plain(other):
        return True
    if _numbers(one) != _numbers(other) or _negations(one) != _negations(other):
        return False
    a, b = _shingles(one), _shingles(other)
    # Texts of very different length can't be near duplicates: no need to compare them.
    if min(len(a), len(b)) < ALIKE * max(len(a), len(b)):
        return False
    shared = len(a & b)
    if shared < ALIKE * (len(a) + len(b) - shared):
        return False
    above_one, above_other = places
    return _counts(f"{above_one} {one}", asked) == _counts(f"{above_other} {other}", asked)


def _counts(text: str, words: Collection[str]) -> list[int]:
    plain = _plain(text)
    return [plain.count(_plain(word)) for word in words]


@lru_cache(maxsize=1024)
def _shingles(text: str) -> frozenset[str]:
    plain = _plain(text)
    return frozenset([plain[i : i + SHINGLE] for i in range(max(len(plain) - SHINGLE + 1, 1))])


@lru_cache(maxsize=1024)
def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(_plain(text)) + _NUMBER_IN_WORDS.findall(unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=1024)
def _negations(text: str) -> list[str]:
    return _NEGATION.findall(unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """As words are compared in a search: a question about 高橋 is one about 髙橋."""
    return "".join(fold(text).text.split())
