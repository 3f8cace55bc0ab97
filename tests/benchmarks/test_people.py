import re

import pytest

from benchmarks import people

AT_ONCE = ("--documents", 1, "--delay", 0, "--token-seconds", 0, "--tokens", 5)


@pytest.mark.soak
def test_the_answers_of_people_who_ask_at_once_are_timed_beside_that_of_one(printed):
    out = printed(people, "--people", 1, 3, "--rounds", 1, *AT_ONCE)
    numbers = r"(?: \d+(?:\.\d+)? \|){8}"
    assert re.findall(rf"^\| (\d+) \|{numbers}$", out, re.MULTILINE) == ["1", "3"]


@pytest.mark.soak
def test_memory_at_the_end_of_a_churn_is_told_beside_that_of_its_middle(printed):
    out = printed(people, "--churn", 6, "--seed", 1, *AT_ONCE)
    told = r"5 people for 6 s, seed 1, (\d+) questions: \d+ MB after 3 s, \d+ MB at the end, (\d\.\d\d) times as much"
    [(questions, ratio)] = re.findall(told, out)
    assert int(questions) > 0
    assert float(ratio) > 0
