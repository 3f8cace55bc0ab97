import re
import subprocess
import sys

import pytest

from rag.pipelines import PIPELINES

AT_ONCE = ["--delay", "0", "--token-seconds", "0", "--documents", "1", "--rounds", "1"]


@pytest.mark.embedded
def test_every_pipeline_is_timed_beside_the_serial_flow_with_as_many_calls():
    command = [sys.executable, "-m", "benchmarks.latency", *AT_ONCE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    seconds = r"(\d+\.\d{3})"
    row = rf"^\| (.+?) \| (\d+) \| {seconds} \| {seconds} \| {seconds} \| (.*) \|$"
    rows = re.findall(row, done.stdout, re.MULTILINE)
    timed = {name: (int(calls), float(first), float(total)) for name, calls, first, total, *_ in rows}
    many = {"serial Self-RAG, 10 passages", "self_rag, 10 passages"}
    assert timed.keys() == {"the server alone", "serial Self-RAG", "serial corrective", *PIPELINES} | many
    assert {name for name, *_, own in rows if re.match(r"-?\d+\.\d%", own)} == {*PIPELINES, "self_rag, 10 passages"}
    assert all(0 <= first <= total for _, first, total in timed.values())
    assert {name for name, *_, embedding, _ in rows if float(embedding)} == {*PIPELINES, "self_rag, 10 passages"}
    assert timed["self_rag"][0] == timed["serial Self-RAG"][0] == 7
    assert timed["self_rag, 10 passages"][0] == timed["serial Self-RAG, 10 passages"][0] == 13
    assert timed["corrective"][0] == timed["serial corrective"][0] == 5
    assert timed["adaptive"][0] == 8
    assert (timed["multivector"][0], timed["hybrid"][0], timed["self_rag_candidates"][0]) == (1, 2, 17)
    assert timed["naive"][0] == timed["the server alone"][0] == 1
    ratios = re.findall(r"^\| .+? to .+? \| \d+\.\d{3} \| \d\.\d{2} \| (?:met|missed) \|$", done.stdout, re.MULTILINE)
    assert len(ratios) == 8
