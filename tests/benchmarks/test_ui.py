import re

from benchmarks import ui


def test_the_runs_page_over_many_runs_is_timed_beside_one_over_few(printed):
    out = printed(ui, "--rounds", 3, "--runs", 300)
    assert re.findall(r"^runs page over (\d+) runs: \d+ ms$", out, re.MULTILINE) == ["100", "300"]
    assert re.search(r"^300 runs take [\d.]+ times as long as 100 \(at most 1.5\)$", out, re.MULTILINE)
