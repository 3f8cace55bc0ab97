"""A number as a sheet shows it, by its format code (ISO 29500-1, 18.8.31): 12.5%, 1,200, 2026年11月21日.

A date of digits only is written as 2026-11-21, since 3/4/26 means different days in different countries. So is one in
the form of the reader's own system, which the file does not say. Not covered: fractions, which become decimals.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from index_store.parsing.loaders.office.excel.format_sections import ELAPSED, Token, sections

GENERAL = "General"
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
    # with the currency of the reader's system, which the file does not say
    5: "#,##0;-#,##0", 6: "#,##0;-#,##0", 7: "#,##0.00;-#,##0.00", 8: "#,##0.00;-#,##0.00",
    41: '#,##0;-#,##0;"-"', 42: '#,##0;-#,##0;"-"', 43: '#,##0.00;-#,##0.00;"-"', 44: '#,##0.00;-#,##0.00;"-"',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 14: "yyyy-mm-dd",
    15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00", 40: "#,##0.00;-#,##0.00",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    # as in Japanese Excel
    27: "ge.m.d", 28: 'ggge"年"m"月"d"日"', 29: 'ggge"年"m"月"d"日"', 30: "m/d/yy", 31: 'yyyy"年"m"月"d"日"',
    32: 'h"時"mm"分"', 33: 'h"時"mm"分"ss"秒"', 34: 'yyyy"年"m"月"', 35: 'm"月"d"日"', 36: "ge.m.d", 50: "ge.m.d",
    51: 'ggge"年"m"月"d"日"', 52: 'yyyy"年"m"月"', 53: 'm"月"d"日"', 54: 'ggge"年"m"月"d"日"', 55: 'yyyy"年"m"月"',
    56: 'm"月"d"日"', 57: "ge.m.d", 58: 'ggge"年"m"月"d"日"',
}  # fmt: skip

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")
_CURRENCY = re.compile(r"\$([^-]*)")
_FIRST_YEAR = "x-gannen"
"""in the language of a format: the first year of an era is written 元年"""
_SYSTEM_DATE = re.compile(r"\$-(?:F800|x-sysdate)", re.I)
_SYSTEM_TIME = re.compile(r"\$-(?:F400|x-systime)", re.I)
_JAPANESE = re.compile(r"\$-(?:[0-9A-F]{0,5}411|ja)\b", re.I)

_LAST_DAY = 2_958_465
"""9999-12-31"""
_LARGEST = 10**15
"""above it, a sheet's numbers are not exact"""
_DECIMALS = 12
"""at most: the largest number then still fits into the 28 digits of decimal"""
_DIGITS = 10
"""significant digits of a number without a format, about as many as a column shows"""
_ERAS = (
    (date(2019, 5, 1), "令和", "R"),
    (date(1989, 1, 8), "平成", "H"),
    (date(1926, 12, 25), "昭和", "S"),
    (date(1912, 7, 30), "大正", "T"),
    (date(1868, 1, 25), "明治", "M"),
)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@dataclass(frozen=True)
class _Moment:
    """What the parts of a date are read from."""

    time: datetime
    value: float
    has_half: bool
    """whether its hours are counted to 12"""
    has_first_year: bool
    """whether the first year of an era has a name"""
    is_japanese: bool
    """whether its half of the day and the day of the week are in Japanese, whatever the system"""


def shown(value: float, code: str, is_1904: bool = False) -> str:
    """`value` in the format `code`; "" if the format hides it. `is_1904`: days are counted from 1904."""
    if code == GENERAL or abs(value) >= _LARGEST:
        return general(value)
    section = next((section for section in sections(code) if section.is_for(value)), None)
    if section is None:
        return general(value)
    if section.is_date:
        moment = _moment(value, is_1904)
        return _date(section.tokens, moment, value) if moment else general(value)
    number = _number(section.tokens, abs(value))
    return f"-{number}" if value < 0 and not section.has_sign and re.search("[1-9]", number) else number


def shown_text(text: str, code: str, is_1904: bool = False) -> str:
    """`text` as a sheet shows it if it is a number; other text as it is."""
    return shown(float(text), code, is_1904) if _NUMBER.fullmatch(text.strip()) else text


def general(value: float) -> str:
    if abs(value) < _LARGEST and (value == int(value) or round(abs(value)) >= 10**_DIGITS):
        return f"{value:.0f}"
    return f"{value:.{_DIGITS}g}"


def _moment(value: float, is_1904: bool) -> datetime | None:
    if not 0 <= value <= _LAST_DAY:
        return None
    # In the other count, day 60 is 29 February 1900, which never existed.
    first = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30 if value >= 60 else 31)
    return first + timedelta(milliseconds=round(value * 86_400_000))


def _date(tokens: tuple[Token, ...], moment: datetime, value: float) -> str:
    words = [text.lower() for kind, text in tokens if kind == "date"]
    has_words = any(kind in ("quoted", "escaped", "other") and re.search(r"\w", text) for kind, text in tokens)
    spelled = any(word[0] in "gea" or (word[0] in "md" and len(word) > 2) for word in words)
    seconds = next((word for word in words if word[0] == "s"), "")
    rounded = moment if "." in seconds else moment + timedelta(milliseconds=500)
    letters = {word[0] for word in words}
    languages = [text for kind, text in tokens if kind == "bracket"]
    if any(map(_SYSTEM_DATE.match, languages)):
        return f"{moment:%Y-%m-%d}"
    if any(map(_SYSTEM_TIME.match, languages)):
        return f"{rounded:%H:%M:%S}"
    if {"y", "m", "d"} <= letters and not has_words and not spelled:
        if {"h", "s"} <= letters:
            return f"{rounded:%Y-%m-%d %H:%M}:{_second('ss' + seconds.lstrip('s'), rounded)}"
        return f"{moment:%Y-%m-%d %H:%M}" if "h" in letters else f"{moment:%Y-%m-%d}"
    read = _Moment(
        rounded,
        value,
        has_half=any(kind == "half" for kind, _ in tokens),
        has_first_year=any(text.lower().endswith(_FIRST_YEAR) for text in languages),
        is_japanese=any(map(_JAPANESE.match, languages)),
    )
    return "".join(
        _date_token(kind, text, _is_minute(tokens, at), read) for at, (kind, text) in enumerate(tokens)
    ).strip()


def _is_minute(tokens: tuple[Token, ...], at: int) -> bool:
    """Whether an m means minutes: it comes after hours or before seconds."""

    def letter(token: Token) -> str:
        is_time = token[0] == "date" or (token[0] == "bracket" and ELAPSED.fullmatch(token[1]))
        return token[1][0].lower() if is_time else ""

    before = [found for token in tokens[:at] if (found := letter(token))]
    after = [found for token in tokens[at + 1 :] if (found := letter(token))]
    return before[-1:] == ["h"] or after[:1] == ["s"]


def _date_token(kind: str, text: str, is_minute: bool, read: _Moment) -> str:
    moment = read.time
    if kind == "bracket":
        unit = {"h": 24, "m": 1440, "s": 86400}.get(text[:1].lower(), 0) if ELAPSED.fullmatch(text) else 0
        return f"{int(read.value * unit + 1e-6):0{len(text)}}" if unit else ""
    if kind == "half":
        return (("AM", "PM"), ("午前", "午後"))[read.is_japanese][moment.hour >= 12]
    if kind != "date":
        return "" if kind == "skipped" else text
    width = len(text)
    match text[0].lower():
        case "y":
            return f"{moment.year % 100:02}" if width < 3 else str(moment.year)
        case "m" if is_minute:
            return f"{moment.minute:0{width}}"
        case "m":
            return _named(moment.month, width, _MONTHS[moment.month - 1])
        case "d" if read.is_japanese and width > 2:
            return _day_of_week(moment, width)
        case "d":
            return _named(moment.day, width, _DAYS[moment.weekday()])
        case "h":
            return f"{(moment.hour % 12 or 12) if read.has_half else moment.hour:0{width}}"
        case "s":
            return _second(text, moment)
        case "a":
            return _day_of_week(moment, width)
    era = next((era for era in _ERAS if era[0] <= moment.date()), None)
    if text[0].lower() == "e":
        year = moment.year - era[0].year + 1 if era else moment.year
        return "元" if year == 1 and read.has_first_year else f"{year:0{min(width, 2)}}"
    return {1: era[2], 2: era[1][0]}.get(width, era[1]) if era else ""


def _day_of_week(moment: datetime, width: int) -> str:
    return "月火水木金土日"[moment.weekday()] + ("曜日" if width > 3 else "")


def _second(text: str, moment: datetime) -> str:
    whole, _, fraction = text.partition(".")
    part = f".{moment.microsecond:06}"[: len(fraction) + 1] if fraction else ""
    return f"{moment.second:0{len(whole)}}{part}"


def _named(number: int, width: int, name: str) -> str:
    """One or two letters of a format mean digits, three a short name, four a long one."""
    return f"{number:0{width}}" if width < 3 else name[:3] if width == 3 else name


def _number(tokens: tuple[Token, ...], value: float) -> str:
    """`value` is not negative."""
    digits = [text for kind, text in tokens if kind == "digits"]
    percent = sum(text.count("%") for kind, text in tokens if kind == "other")
    exponent = next((text for kind, text in tokens if kind == "exponent"), "")
    pattern = "".join(digits)
    scaled = Decimal(repr(value)) * 100**percent / 1000 ** len(re.findall(",", re.sub(r".*[#0?]", "", pattern)))
    if scaled >= _LARGEST:
        return general(value)
    if exponent:
        filled = [f"{float(scaled):.{len(pattern.partition('.')[2])}E}"]
    elif any("/" in text for kind, text in tokens if kind == "other") and len(digits) > 1:
        filled = [general(value)]
    else:
        filled = _filled(digits, scaled)
    out = []
    for kind, text in tokens:
        if kind == "digits":
            out.append(filled.pop(0) if filled else "")
        elif kind == "general" or text == "@":
            out.append(general(value))
        elif kind == "bracket":
            currency = _CURRENCY.match(text)
            out.append(currency[1] if currency else "")
        elif kind not in ("skipped", "exponent") and not (kind == "other" and text == "/" and len(digits) > 1):
            out.append(text)
    # In Shift_JIS, and so in formats made in Japan, a yen sign is a backslash.
    return "".join(out).replace("\\", "¥").strip()


def _filled(patterns: list[str], value: Decimal) -> list[str]:
    """Puts the number's digits into their places, as in 000-0000; the first place takes the digits that remain."""
    if not patterns:
        return []
    pattern = "".join(patterns)
    whole_pattern, _, fraction_pattern = pattern.rstrip(",").partition(".")
    fraction_pattern = fraction_pattern.replace(".", "")[:_DECIMALS]
    rounded = value.quantize(Decimal(1).scaleb(-len(fraction_pattern)), ROUND_HALF_UP)
    whole, _, fraction = f"{rounded:f}".partition(".")
    # All places from the first 0 on are filled: (00) ####-####.
    filled_places = len(re.sub(r"^[^0]*|[^0#?]", "", whole_pattern))
    whole = ("" if whole == "0" else whole).rjust(filled_places, "0")
    if "," in whole_pattern:
        whole = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", whole)
    required = len(fraction_pattern.rstrip("#?"))
    fraction = fraction[:required] + fraction[required:].rstrip("0")
    # If the fraction is between the places, the whole places before it are filled from the right.
    filled: list[str] = []
    for place in reversed(patterns[1:]):
        if "." in place or len(patterns) == 1:
            filled.append(whole + (f".{fraction}" if fraction else ""))
            whole = fraction = ""
            continue
        count = len(place.replace(",", ""))
        filled.append(whole[-count:])
        whole = whole[:-count]
    filled.append(whole + (f".{fraction}" if fraction else ""))
    return filled[::-1]
