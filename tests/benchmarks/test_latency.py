import re

import pytest

from benchmarks import latency
from rag.pipelines import PIPELINES

AT_ONCE = ["--delay", "0", "--token-seconds", "0", "--tokens", "5", "--documents", "1", "--rounds", "1"]


@pytest.mark.soak  # it runs every pipeline
def test_every_pipeline_is_timed_beside_the_serial_flow_with_as_many_calls(printed):
    out = printed(latency, *AT_ONCE)
    seconds = r"\d+\.\d{3}"
    row = rf"^\| (.+?) \| (\d+) \| {seconds} \| {seconds} \| {seconds} \| (.*) \|$"
    rows = re.findall(row, out, re.MULTILINE)
    calls = {name: int(number) for name, number, *_ in rows}
    many = {"serial Self-RAG, 10 passages", "self_rag, 10 passages"}
    assert calls.keys() == {"the server alone", "serial Self-RAG", "serial corrective", *PIPELINES} | many
    with_own_part = {name for name, _, own in rows if re.match(r"-?\d+\.\d%", own)}
    assert with_own_part == {*latency.CHAINS, "self_rag, 10 passages"}
    assert calls["self_rag"] == calls["serial Self-RAG"] == 7
    assert calls["self_rag, 10 passages"] == calls["serial Self-RAG, 10 passages"] == 13
    assert calls["corrective"] == calls["serial corrective"] == 5
    assert calls["adaptive"] == 8
    assert (calls["multivector"], calls["hybrid"], calls["self_rag_candidates"]) == (1, 2, 17)
    assert calls["naive"] == calls["the server alone"] == 1
    ratios = re.findall(r"^\| .+? to .+? \| \d+\.\d{3} \| \d\.\d{2} \| (?:met|missed) \|$", out, re.MULTILINE)
    assert len(ratios) == 8
