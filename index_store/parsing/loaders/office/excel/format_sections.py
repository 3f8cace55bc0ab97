"""The sections of a number format (ISO 29500-1, 18.8.31), each for some numbers: [<=999]000;000-00."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|(?P<skipped>[_*].)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<half>AM/PM|A/P)|(?P<general>General|G/(?:標準|通用格式|표준))|(?P<exponent>E[+-]0+)"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|g+|e+|aaaa?)|(?P<digits>[#0?][#0?,]*(?:\.[#0?]*)?,*|\.[#0?]+)|(?P<other>.)",
    re.I | re.S,
)
ELAPSED = re.compile(r"h+|m+|s+", re.I)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?\d{1,20}(?:\.\d{1,20})?(?:E[+-]?\d{1,2})?)", re.I)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip

Token = tuple[str, str]
"""kind, text"""


@dataclass(frozen=True)
class Condition:
    """Of the numbers that a section of a format is for; without a comparison, it is for all that are left."""

    comparison: str = ""
    limit: float = 0

    def __call__(self, value: float) -> bool:
        return not self.comparison or _COMPARISONS[self.comparison](value, self.limit)

    @property
    def is_below_zero(self) -> bool:
        return self.comparison in ("<", "<=", "=") and self.limit <= 0

    @property
    def leaves_below_zero(self) -> bool:
        return self.comparison in (">", ">=") and self.limit <= 0


@dataclass(frozen=True)
class Section:
    tokens: tuple[Token, ...]
    is_for: Condition
    has_sign: bool
    """whether it is for numbers below zero alone, so that it writes their sign itself"""
    is_date: bool


@lru_cache(maxsize=1024)
def sections(code: str) -> tuple[Section, ...]:
    """The code's parts for numbers; a number is shown by the first one that is for it."""
    parts: list[list[Token]] = [[]]
    for found in _TOKEN.finditer(code[:255]):
        kind = str(found.lastgroup)
        if kind == "other" and found[0] == ";":
            parts.append([])
        else:
            parts[-1].append((kind, found[kind]))
    if len(parts) > 3 or (len(parts) > 1 and ("other", "@") in parts[-1]):
        parts.pop()  # the part for text
    own = [_condition(section) for section in parts[:2]]
    first = own[0] or Condition(("", ">=", ">")[min(len(parts), 3) - 1])
    second = (own[1] if len(parts) > 1 else None) or Condition("<" if len(parts) > 2 else "")
    signs = (first.is_below_zero, second.is_below_zero or (not second.comparison and first.leaves_below_zero), False)
    return tuple(
        Section(tuple(section), is_for, has_sign, _is_date(section))
        for section, is_for, has_sign in zip(parts, (first, second, Condition()), signs, strict=False)
    )


def _is_date(section: list[Token]) -> bool:
    kinds = {kind for kind, _ in section}
    is_elapsed = any(kind == "bracket" and ELAPSED.fullmatch(text) for kind, text in section)
    return ("date" in kinds or is_elapsed) and not kinds & {"digits", "general", "exponent"}


def _condition(section: list[Token]) -> Condition | None:
    for kind, text in section:
        if kind == "bracket" and (found := _CONDITION.fullmatch(text.replace(" ", ""))):
            return Condition(found[1], float(found[2]))
    return None
