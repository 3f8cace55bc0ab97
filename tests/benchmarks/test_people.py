import re
import subprocess
import sys

AT_ONCE = ["--delay", "0", "--token-seconds", "0", "--tokens", "5"]


def measured(*options: str) -> str:
    command = [sys.executable, "-m", "benchmarks.people", *options, *AT_ONCE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_answers_of_people_who_ask_at_once_are_timed_beside_that_of_one():
    printed = measured("--people", "1", "3", "--rounds", "1")
    numbers = r"(?: \d+(?:\.\d+)? \|){8}"
    assert re.findall(rf"^\| (\d+) \|{numbers}$", printed, re.MULTILINE) == ["1", "3"]


def test_memory_at_the_end_of_a_churn_is_told_beside_that_of_its_middle():
    printed = measured("--churn", "12", "--seed", "1")
    told = r"5 people for 12 s, seed 1, (\d+) questions: \d+ MB after 6 s, \d+ MB at the end, (\d\.\d\d) times as much"
    [(questions, ratio)] = re.findall(told, printed)
    assert int(questions) > 0
    assert float(ratio) > 0
