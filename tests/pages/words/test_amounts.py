"""Amounts and times, as the pages show them."""

from datetime import datetime

import pytest

from pages.words.amounts import megabytes, midnight_before, thousands
from pages.words.reader import Reader, written_for


@pytest.mark.parametrize(
    ("zone", "moment", "began"),
    [
        ("Asia/Tokyo", "2026-04-24T14:59Z", "2026-04-23T15:00Z"),
        ("Africa/Cairo", "2026-04-24T10:00Z", "2026-04-23T22:00Z"),  # from 23:59 to 1:00
        ("America/Havana", "2026-11-01T05:30Z", "2026-11-01T04:00Z"),  # twice from 0:00 to 1:00
    ],
)
def test_a_day_begins_at_midnight_also_if_it_has_none_or_two(zone: str, moment: str, began: str) -> None:
    with written_for(Reader("en", zone)):
        midnight = midnight_before(datetime.fromisoformat(moment))
    assert midnight.timestamp() == datetime.fromisoformat(began).timestamp()


@pytest.mark.parametrize(
    ("number", "told"), [(999, "999"), (2130, "2.1k"), (999_949, "999.9k"), (999_950, "1.0M"), (2_130_000, "2.1M")]
)
def test_a_number_is_told_in_thousands_or_millions(number: int, told: str) -> None:
    assert thousands(number) == told


@pytest.mark.parametrize(
    ("size", "told"), [(830, "830 B"), (999_000, "999 KB"), (999_001, "1.0 MB"), (3_400_000, "3.4 MB")]
)
def test_a_size_is_told_in_bytes_kilobytes_or_megabytes(size: int, told: str) -> None:
    assert megabytes(size) == told
