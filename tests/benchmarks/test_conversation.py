import re

import pytest

from benchmarks import conversation


@pytest.mark.soak
def test_a_long_conversation_is_timed_beside_a_short_one(printed):
    out = printed(conversation, "--rounds", 1, "--turns", 12)
    drawn = re.findall(r"^(\d+) turns: \d+ ms a redraw, median of 1; (\d+) answers drawn$", out, re.MULTILINE)
    assert drawn == [("5", "5"), ("12", "5")]
    assert re.search(r"^12 turns take [\d.]+ times as long as 5$", out, re.MULTILINE)
