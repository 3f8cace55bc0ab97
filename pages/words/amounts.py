"""Amounts and times as the pages show them."""

import math
from datetime import datetime, time
from zoneinfo import ZoneInfo

from pages.words.reader import zone
from pages.words.say import say

UNKNOWN = "–"
"""for tokens where there are none: services tell them at the end of a reply, if at all"""


def thousands(number: int) -> str:
    """2130 -> 2.1k, 2130000 -> 2.1M"""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 999_950 else f"{number / 1_000_000:.1f}M"


def megabytes(size: int) -> str:
    """`size`: bytes. 830 B, 12 KB, 3.4 MB"""
    if size < 1000:
        return f"{size} B"
    return f"{math.ceil(size / 1000)} KB" if size <= 999_000 else f"{size / 1_000_000:.1f} MB"


def duration(seconds: float) -> str:
    """A rough text, for time that remains. `seconds`: of that time."""
    if seconds < 90:
        return say("time.seconds", count=max(1, round(seconds)))
    return (
        say("time.minutes", count=round(seconds / 60))
        if seconds < 5400
        else say("time.hours", count=f"{seconds / 3600:.1f}")
    )


def midnight_before(moment: datetime) -> datetime:
    """With which the reader's day began; the first, if clocks are set back over midnight. `moment`: aware."""
    here = ZoneInfo(zone())
    return datetime.combine(moment.astimezone(here).date(), time(), here)


def when(moment: datetime) -> str:
    """In the reader's time zone. `moment`: aware, or UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo("UTC"))
    return aware.astimezone(ZoneInfo(zone())).strftime("%Y-%m-%d %H:%M")
