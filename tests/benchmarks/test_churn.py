import re

import pytest

from benchmarks.churn import __main__ as churn

SHORT = ("--minutes", 2, "--acts", 6, "--people", 4, "--alone", 1, "--pause", 0, "--documents", 1)
AT_ONCE = ("--delay", 0, "--token-seconds", 0, "--tokens", 5)
MOST_MORE = 14
"""threads that pools start when needed: fewer than the acts, so that a thread left behind by each act is noticed"""


@pytest.mark.soak
def test_of_people_who_ask_upload_and_delete_at_once_nothing_is_lost_or_seen_by_another_and_threads_level_off(printed):
    out = printed(churn, *SHORT, *AT_ONCE, "--seed", 1)
    assert "Nothing was lost, and nobody saw what is another's." in out
    [(acts, answers)] = re.findall(r"4 people for .+ seed 1: (\d+) acts, (\d+) answers\.", out)
    assert int(acts) == 24
    assert int(answers) > 0
    [(before, after)] = re.findall(r"Threads: (\d+) before, (\d+) after\.", out)
    assert int(after) <= int(before) + MOST_MORE
