import re

import pytest

from benchmarks import first_minutes
from tests.conftest import ROOT


@pytest.mark.soak
@pytest.mark.parametrize("waits", [1, 3])
def test_each_wait_of_a_new_user_is_timed_beside_that_with_an_earlier_version(printed, server, tmp_path, waits):
    word = tmp_path / "long.md"
    word.write_text("# Trains\n\nThe green car needs the approval of a director.\n", encoding="utf-8")
    out = printed(first_minutes, "--before", ROOT, "--word", word, "--rounds", 1, "--first", waits)
    rows = re.findall(r"^\| .+ \| \d+\.\d \| \d+\.\d \| \d+\.\d\d \|$", out, re.MULTILINE)
    assert len(rows) == waits
