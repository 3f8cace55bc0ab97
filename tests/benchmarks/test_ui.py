import re

import pytest

from benchmarks import ui
from tests.browser.conftest import installed_chromium


def test_four_columns_are_timed_beside_each_of_them_alone(printed):
    if not installed_chromium():
        pytest.skip("there is no Chromium (`make chromium` installs it)")
    out = printed(
        ui, "columns", "--rounds", 1, "--documents", 1, "--delay", 0, "--token-seconds", 0, "--tokens", 5
    )  # fmt: skip
    rows = re.findall(r"^\| (.+) \| \d+\.\d\d \|$", out, re.MULTILINE)
    assert rows == [*(f"{name} alone" for name in ui.COMPARED), "all 4"]
    assert re.search(r"4 columns take \d+\.\d\d of the slowest alone", out)
