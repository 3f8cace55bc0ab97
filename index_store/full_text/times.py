"""Times of day, on a clock of 24 hours."""

import re
from collections.abc import Iterator

from index_store.full_text.folding import value_of

_TIME = re.compile(
    r"(?<![a-z\d:.])(?:(午前|午後|am|pm)\s?)?(\d{1,2}|(?<=午前|午後)[一二三四五六七八九十]{1,3})\s?"
    r"(?:時(?![間限])(?:(\d{1,2})分|(半))?|:(\d\d)(?![\d:])|(?=[ap]\.?m\b))(?:\s?([ap])\.?m\b)?"
)
"""午後3時, 15時30分, 15:30, 3 p.m., but not 24時間"""


def times_of_day(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and time (15:00) of each that `text`, which is folded, names."""
    for found in _TIME.finditer(text):
        before, number, minutes, half, after_colon, after = found.groups()
        hour = int(number) if number.isdecimal() else value_of(number)
        minute = 30 if half else int(minutes or after_colon or 0)
        if before in ("午後", "pm") or after == "p":
            hour += 12 if hour < 12 else 0
        elif (before or after) and hour == 12:
            hour = 0
        if hour <= 24 and minute < 60:
            yield *found.span(), f"{hour}:{minute:02}"
