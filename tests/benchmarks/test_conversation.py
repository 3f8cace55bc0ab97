import os
import re
import subprocess
import sys

from tests.conftest import ROOT


def test_a_long_conversation_is_timed_beside_a_short_one():
    command = [sys.executable, "-m", "benchmarks.conversation", "--rounds", "1", "--turns", "12"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    drawn = re.findall(r"^(\d+) turns: \d+ ms a redraw, median of 1; (\d+) answers drawn$", done.stdout, re.MULTILINE)
    assert drawn == [("5", "5"), ("12", "5")]
    assert re.search(r"^12 turns take [\d.]+ times as long as 5$", done.stdout, re.MULTILINE)
