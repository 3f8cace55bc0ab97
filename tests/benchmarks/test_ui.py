import re

import pytest

from benchmarks.ui import __main__ as ui
from benchmarks.ui import columns, first_token
from tests.browser.conftest import installed_chromium

TINY = ("--rounds", 1, "--documents", 1, "--delay", 0, "--token-seconds", 0, "--tokens", 5)

pytestmark = pytest.mark.skipif(not installed_chromium(), reason="there is no Chromium (`make chromium` installs it)")


def rows(out: str) -> list[str]:
    """The first cell of each row of the table, without its head."""
    return re.findall(r"^\| (.+?) \| [\d.,]+%?(?: \| -?[\d.]+)* \|$", out, re.MULTILINE)


@pytest.mark.soak
def test_the_first_token_on_the_page_is_timed_beside_that_of_the_engine(printed):
    out = printed(ui, "first_token", *TINY)
    assert rows(out) == list(first_token.PIPELINES)
    assert re.search(r"The page adds -?\d+ ms to the first token, which (meets|misses) 300 ms\.", out)


@pytest.mark.soak
def test_what_a_streamed_trace_takes_is_told_with_the_number_of_its_events(printed):
    out = printed(ui, "trace", *TINY)
    assert rows(out) == ["the engine without a page", "the app with its page", "Chromium"]
    told = re.search(r"A trace of (\d+) events streams for .+ of one core, which (meets|misses) 10%\.", out)
    assert told
    assert int(told[1]) > 50


@pytest.mark.soak
def test_four_columns_are_timed_beside_each_of_them_alone(printed):
    out = printed(ui, "columns", *TINY)
    assert rows(out) == [*(f"{name} alone" for name in columns.COMPARED), "all 4"]
    assert re.search(r"4 columns take \d+\.\d\d of the slowest alone, which (meets|misses) 1\.2", out)


@pytest.mark.soak
def test_the_runs_page_is_timed_over_many_runs_beside_few(printed):
    out = printed(ui, "runs_page", "--rounds", 1, "--runs", 1000)
    assert rows(out) == ["100 runs", "1,000 runs"]
    assert re.search(r"Over 1,000 runs .+ \d+\.\d\d of the time over 100, which (meets|misses) 1\.5\.", out)


@pytest.mark.soak
@pytest.mark.embedded
def test_the_first_sign_of_life_is_timed_before_the_embedded_model_has_started(printed, embedded_model, monkeypatch):
    monkeypatch.setenv("EMBEDDED_MODEL", str(embedded_model))
    out = printed(ui, "first_sign", "--rounds", 1, "--documents", 1)
    assert rows(out) == ["being started since the page was opened", "not yet started"]
    assert re.search(r"The first sign of life comes within [\d.]+ s, which (meets|misses) 1 s\.", out)
