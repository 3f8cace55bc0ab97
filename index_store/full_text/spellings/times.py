"""Days and quarters of the year, and times of day on a clock of 24 hours."""

import re
from collections.abc import Iterator

from index_store.full_text.folding import value_of

_NUMERAL = "[〇一二三四五六七八九十]"
_DAYS = (
    re.compile(rf"(?<!\d)(\d{{1,2}}|{_NUMERAL}{{1,2}})月(\d{{1,2}}|{_NUMERAL}{{1,3}})日(?!間)"),
    re.compile(
        r"(?:(?<!\d)(?:1[89]|20)\d\d|(?:[治正和成]|(?<![a-z])[mtshr]|(?<![\u3400-\u9fff])[明大昭平令])\d{1,2})"
        r"(?P<sign>[/.-])(\d{1,2})(?P=sign)(\d{1,2})(?!\d|[/.]\d)"
    ),
    re.compile(r"(?<![\d/.])(\d{1,2})/(\d{1,2})(?!\d|[/.]\d)"),
)
"""10月1日; 2024-10-01, R6.10.1; 10/1"""
_DAY_BEFORE_YEAR = re.compile(r"(?<![\d/.-])(\d{1,2})(?P<sign>[/.-])(\d{1,2})(?=(?P=sign)(?:19|20)\d\d(?!\d|[/.-]\d))")
"""3/4/2024, which is 4 March in America and 3 April elsewhere; 25/12/2024, 25.12.2024"""
_MONTH_NAME = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NAMED_DAYS = (
    re.compile(rf"(?<![a-z\d]){_MONTH_NAME}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![a-z\d:%]|[.,/]\d)"),
    re.compile(rf"(?<![\d.,:/])(?P<day>\d{{1,2}})(?:(?:st|nd|rd|th)(?: of)?|(?! may\b)) {_MONTH_NAME}(?![a-z])"),
)
"""Dec. 25, December 25th, 25 Dec, the 25th of December; but not "rule 5 may", which is rarely a day"""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR = re.compile(
    r"(?<![\d.])(?:19|20)\d\d(?=\.\d{1,2}\.\d{1,2}(?!\d|\.\d))"
    r"|(?:(?<=\d\.\d\.)|(?<=\d\.\d\d\.))(?:19|20)\d\d(?!\d|\.\d)"
)
_MONTH = re.compile(
    r"((?<![\d./])(?:19|20)\d\d|(?:昭和|平成|令和|(?<![a-z\d])(?:s(?=\d\d)|[hr])|(?<![\u3400-\u9fff])[昭平令])\d{1,2})"
    r"([./])(0?[1-9]|1[0-2])(?![\d/]|\.\d)"
)
"""2024.4, 2024/04, R6.4"""
_TIME = re.compile(
    rf"(?<![a-z\d:.])(?:(午前|午後|am|pm|(?<![\u3400-\u9fff])(?:夕方?|[深今]?夜|昼)(?=の?\d))の?\s?)?"
    rf"(\d{{1,2}}|(?<=午前|午後)(?!〇){_NUMERAL}{{1,3}}|(?!〇){_NUMERAL}{{1,3}}(?=時(?:半|\d{{1,2}}分(?!間))))\s?"
    r"(?:時(?![間限])(?:(\d{1,2})分|(半))?|(?::|\.(?=\d\d\s?[ap]\.?m\b))(\d\d)(?![\d:])"
    r"|(?=[ap]\.?m\b))(?:\s?([ap])\.?m\b)?"
)
"""午後3時, 夜10時, 15時30分, 八時半, 15:30, 3 p.m., 9.30am, but not 24時間"""
_NOON = re.compile(r"正午|(?<![a-z])noon(?![a-z])")
_QUARTER = re.compile(
    r"(?<![a-z\d.])([1-4])q(?![a-z])|第\s?([1-4一二三四])\s?四半期"
    r"|(?<![a-z])(first|second|third|fourth) quarter(?![a-z])"
)
"""1Q, 第1四半期, the first quarter; Q1 is a word that needs no other spelling"""
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def days_of_the_year(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and day (10/1) of each that `text`, which is folded, names. A year is no part of it."""
    for pattern in _DAYS:
        for found in pattern.finditer(text):
            last = found.re.groups
            month, day = (_number(found[group]) for group in (last - 1, last))
            if 1 <= month <= 12 and 1 <= day <= 31:
                yield found.start(last - 1), found.end(), f"{month}/{day}"
    for found in _DAY_BEFORE_YEAR.finditer(text):
        first, second = int(found[1]), int(found[3])
        # As in 3/4 alone, the month is first where either may be; the other reading is found, too.
        for month, day in dict.fromkeys([(first, second), (second, first)]):
            if 1 <= month <= 12 and 1 <= day <= 31:
                yield *found.span(), f"{month}/{day}"
    for pattern in _NAMED_DAYS:
        for found in pattern.finditer(text):
            if 1 <= int(found["day"]) <= 31:
                yield *found.span(), f"{_MONTHS.index(found['month'][:3]) + 1}/{int(found['day'])}"


def years_with_points(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and year of each day such as 2024.4.1 and 1.4.2024, which is one number otherwise."""
    for found in _YEAR.finditer(text):
        yield *found.span(), found[0]


def months_of_years(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and term of the year and of the month in 2024.4, which is one number otherwise, and of the month in
    2024/04, which is 04 otherwise. Of R6.4, only the month: its year is of an era.
    """
    for found in _MONTH.finditer(text):
        year, sign, month = found.groups()
        if sign == "." and year.isdecimal():
            yield *found.span(1), year
        if sign == "." or month[0] == "0":
            yield *found.span(3), str(int(month))


def times_of_day(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and time (15:00) of each that `text`, which is folded, names."""
    for found in _TIME.finditer(text):
        before, number, minutes, half, after_colon, after = found.groups()
        hour = _number(number)
        minute = 30 if half else int(minutes or after_colon or 0)
        if before in ("午後", "pm") or after == "p":
            hour += 12 if hour < 12 else 0
        elif (
            (before in ("夕", "夕方") and hour < 12)
            or (before in ("夜", "深夜", "今夜") and 5 <= hour <= 12)
            or (before == "昼" and hour < 5)
        ):
            hour += 12
        elif (before in ("午前", "am") or after) and hour == 12:
            hour = 0
        if hour <= 24 and minute < 60:
            yield *found.span(), f"{hour}:{minute:02}"
    for found in _NOON.finditer(text):
        yield *found.span(), "12:00"


def quarters(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and quarter of a year (q1) of each that `text`, which is folded, names otherwise."""
    for found in _QUARTER.finditer(text):
        written = next(filter(None, found.groups()))
        yield *found.span(), f"q{_ORDINALS.get(written) or _number(written)}"


def _number(written: str) -> int:
    return int(written) if written.isdecimal() else value_of(written)
