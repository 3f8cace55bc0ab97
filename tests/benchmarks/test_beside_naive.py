import re

import pytest

from benchmarks import beside_naive


@pytest.mark.soak
def test_a_pipeline_is_timed_beside_naive_question_by_question(printed, server):
    out = printed(beside_naive, "--questions", 2)
    rows = re.findall(r"^\| .+ \| (\d+\.\d) \| (\d+\.\d) \| \d+\.\d\d \|$", out, re.MULTILINE)
    assert len(rows) == 2
    assert re.search(r"^self_rag takes \d+\.\d\d times as long as naive; at most 2\.5\.$", out, re.MULTILINE)
