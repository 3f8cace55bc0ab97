import re

import pytest

from benchmarks import checkpoints

TINY = ("--rounds", 1, "--documents", 1, "--delay", 0, "--token-seconds", 0, "--tokens", 5)


@pytest.mark.soak
def test_runs_are_timed_with_checkpoints_beside_without_and_their_bytes_are_told(printed):
    out = printed(checkpoints, *TINY)
    row = r"^\| (`.+?) \| [\d.]+ \| [\d.]+ \| [\d.]+ \| \d+ to \d+ \| [\d.]+ \| ([\d.]+) \| ([\d.]+) \|$"
    rows = re.findall(row, out, re.MULTILINE)
    assert [name for name, *_ in rows] == list(checkpoints.ASKED)
    sizes = [float(kept) for _, kept, _ in rows]
    assert 0 < sizes[0] < sizes[1] < sizes[2]
    assert all(float(trace) > 0 for *_, trace in rows)
