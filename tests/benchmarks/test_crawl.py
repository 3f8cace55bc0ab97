import re
import subprocess
import sys


def test_a_crawl_is_timed_beside_the_least_that_its_politeness_allows():
    command = [sys.executable, "-m", "benchmarks.crawl", "--pages", "30", "--delay", "0.01"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    rows = re.findall(
        r"^\| \d+ \| \d+ \| (\d+\.\d\d) \| (\d+\.\d\d) \| \d+\.\d{3} \| 1\.3 \|$", done.stdout, re.MULTILINE
    )
    assert len(rows) == 3
    assert all(float(measured) >= float(least) for least, measured in rows)
