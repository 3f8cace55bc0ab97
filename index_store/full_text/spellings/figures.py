"""Telephone numbers, postal codes and percentages, each in one spelling."""

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


def _number(written: str) -> Decimal:
    return Decimal(written) if written[0].isdecimal() else Decimal(value_of(written))


def _percentage(number: Decimal) -> str:
    """25.0 is 25."""
    return f"{number.normalize():f}%"
