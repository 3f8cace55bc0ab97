import re

from benchmarks import crawl
from tests.benchmarks.conftest import Printed


def test_a_crawl_is_timed_beside_the_least_that_its_politeness_allows(printed: Printed):
    out = printed(crawl, "--pages", 10, "--delay", 0.01)
    seconds = r"\d+\.\d\d"
    row = rf"^\| (\d+) \| (\d+) \| ({seconds}) \| {seconds} \| \d+\.\d{{3}} \| 1\.3 \|$"
    rows = re.findall(row, out, re.MULTILINE)
    # rate, pages at once, and the shortest possible time: ten pages take 0.01 s each, several at once
    assert rows == [("1000", "4", "0.03"), ("1000", "8", "0.01"), ("20", "4", "0.50")]
