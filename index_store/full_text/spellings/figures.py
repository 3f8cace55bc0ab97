"""Telephone numbers, postal codes, percentages, amounts and counts in words, each in one spelling."""

import re
from collections.abc import Iterator
from decimal import Decimal

from index_store.full_text.folding import value_of

HYPHEN = "[-\u2010\u2011\u2013\u2212ー]"
"""ー is what Japanese input methods offer for the key of the hyphen; PDFs have the en dash"""
_TELEPHONE = re.compile(
    rf"(?<![\d.])(?<!\d{HYPHEN})(?:\+81(?: |{HYPHEN})?(?:\(0\))?|(?=\(?0))"
    rf"(?:\(\d{{1,5}}\) ?|\d{{1,5}}(?:\(|{HYPHEN}| ))\d{{1,4}}(?:\)|{HYPHEN}| )\d{{3,4}}(?!\d|{HYPHEN}\d)"
)
"""03-1234-5678, (03)1234-5678, 03(1234)5678, 0120-123-456, +81 3-1234-5678"""
_POSTAL = re.compile(rf"(?<![\d.])(?<!\d{HYPHEN})\d{{3}}{HYPHEN}\d{{4}}(?!\d|{HYPHEN}\d)")

_NUMERAL = "[一二三四五六七八九十百]"
_PERCENT = re.compile(r"(?<![\d.,・])(\d{1,4}(?:\.\d{1,4})?)\s?(?:%|パーセント|per ?cent(?![a-z]))")
_TENTHS = re.compile(
    rf"(?<![\d.,・])(?<!{_NUMERAL})(\d{{1,2}}|[一二三四五六七八九十])割(?!り?[当振切込])(?:([\d一二三四五六七八九])分)?"
)
_HUNDREDTHS = re.compile(
    rf"(?:(?<![\d.,・])100|(?<!{_NUMERAL})百)分の"
    rf"(\d{{1,4}}(?:\.\d{{1,4}})?|{_NUMERAL}(?:〇|{_NUMERAL}){{0,5}})(?!{_NUMERAL}|[\d千])"
)

_WORTH = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "b": 9, "bn": 9, "billion": 9}
_AMOUNT = re.compile(
    r"(?<![\d.,])(?P<before>[$€£¥]\s?|(?<![a-z])(?:usd|eur|gbp|jpy)\s)?"
    r"(?P<whole>\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(?P<cents>\.\d{1,4})?(?!\d|[.,]\d)"
    r"(?:(?P<short>k|mn?|bn?)(?![a-z\d])|[ -]?(?P<worth>thousand|million|billion)(?![a-z]))?"
    r"(?=(?P<after>\s(?:usd|eur|gbp|jpy|dollars|euros|pounds|yen)(?![a-z]))?)"
)
"""$1.5k, 1.5k USD, $2 million, 1,500.00; of 50m and 10k without a currency, the letter is a unit or a name"""

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_IN_WORDS = {
    **{word: count for count, word in enumerate(_ONES, 1)},
    **{"ten": 10, "eleven": 11, "twelve": 12, "fourteen": 14, "fifteen": 15, "eighteen": 18},
    **{f"{tens}-{ones}": 10 * ten + one for ten, tens in enumerate(_TENS, 2) for one, ones in enumerate(_ONES, 1)},
    **{tens: 10 * ten for ten, tens in enumerate(_TENS, 2)},
}
_COUNT = re.compile(
    rf"(?<![\w-])({'|'.join(sorted(_IN_WORDS, key=len, reverse=True))})"
    r"(?:(?P<percent> per ?cent(?![a-z]))|(?=[ -](?:(?:working|business|calendar|consecutive|full|more) )?"
    r"(?:minute|hour|day|night|week|month|quarter|year)s?(?![a-z])))"
)
"""only before a unit: "one" may be anybody, and Seven a name"""


def numbers_without_hyphens(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and digits of each telephone number of Japan and postal code in `text`, which is folded."""
    for found in _TELEPHONE.finditer(text):
        digits = re.sub(r"\D", "", re.sub(r"^\+81\D*0?", "0", found[0]))
        if 10 <= len(digits) <= 11:
            yield *found.span(), digits
    for found in _POSTAL.finditer(text):
        yield *found.span(), re.sub(r"\D", "", found[0])


def percentages(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and percentage (30%) of each in `text`, which is folded: 30%, 30 percent, 3割, 百分の三十."""
    for pattern in (_PERCENT, _HUNDREDTHS):
        for found in pattern.finditer(text):
            yield *found.span(), _percentage(_number(found[1]))
    for found in _TENTHS.finditer(text):
        yield *found.span(), _percentage(_number(found[1]) * 10 + _number(found[2] or "0"))


def amounts(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and number (1500) of each amount in `text`, which is folded, that is written otherwise: $1.5k, $2
    million, $1,500.00.
    """
    for found in _AMOUNT.finditer(text):
        has_currency = bool(found["before"] or found["after"])
        if found["short"] and not has_currency:
            continue
        worth = found["short"] or found["worth"]
        cents = found["cents"] or ""
        if worth or cents == ".00" or (has_currency and cents.endswith("0")):
            number = Decimal(found["whole"].replace(",", "") + cents).scaleb(_WORTH[worth] if worth else 0)
            yield found.start("whole"), found.end(), f"{number.normalize():f}"


def counts_in_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and number of each count of time and percentage in words in `text`, which is folded: seven days, ten
    percent.
    """
    for found in _COUNT.finditer(text):
        yield *found.span(), f"{_IN_WORDS[found[1]]}{'%' if found['percent'] else ''}"


def _number(written: str) -> Decimal:
    return Decimal(written) if written[0].isdecimal() else Decimal(value_of(written))


def _percentage(number: Decimal) -> str:
    """25.0 is 25."""
    return f"{number.normalize():f}%"
