import json
import re
from pathlib import Path

import pytest

from benchmarks import ingest
from tests.benchmarks.conftest import Printed


@pytest.mark.soak
def test_adding_is_timed_beside_embedding_alone_and_adding_again_and_a_crawl(printed: Printed, tmp_path: Path) -> None:
    data = tmp_path / "paragraphs.jsonl"
    lines = [{"title": f"Town {number // 4}", "text": f"Town {number} has {number} wells."} for number in range(8)]
    data.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    out = printed(ingest, "--data", data, "--pages", 8)
    rows = re.findall(r"^\| (.+?) \| -?\d+\.\d{3} \| \S+ \| (?:met|missed) \| (.+?) \|$", out, re.MULTILINE)
    assert len(rows) == 7
    assert [re.search(r"(\d+) documents", details)[1] for name, details in rows if "growth" in name] == ["8", "2"]
    assert "8 sections, of paragraphs.jsonl" in out
