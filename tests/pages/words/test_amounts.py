"""Amounts and times, as the pages show them."""

from datetime import datetime

import pytest

from pages.words.amounts import midnight_before
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
