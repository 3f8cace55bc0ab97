import json
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import search_speed
from benchmarks.parts.clustered import Clustered
from benchmarks.search_speed import ASKED, BARE
from tests.benchmarks.conftest import Printed

SENTENCES = ["出張の日当は1日2,500円です。", "タクシーは終電の後に使えます。", "会議室の予約は一週間前からです。"]


@pytest.mark.soak
def test_each_search_is_timed_beside_bare_chroma_as_the_index_grows(printed: Printed, tmp_path: Path) -> None:
    folder = tmp_path / "qa" / "jsquad"
    folder.mkdir(parents=True)
    paragraphs = [{"pid": str(number), "title": "規程", "text": text * 3} for number, text in enumerate(SENTENCES)]
    questions = [
        {"pid": str(number), "question": f"{text[:4]}とは", "answers": [{"text": text[:2], "start": 0}]}
        for number, text in enumerate(SENTENCES)
    ]
    for name, rows in (("paragraphs", paragraphs), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    out = printed(search_speed, "--data", tmp_path, "--sizes", 12, 30)
    header = re.search(r"^\| ms, p50 and p95 \| (\d+) chunks \| (\d+) chunks \|$", out, re.M)
    first, last = map(int, header.groups())
    assert 12 <= first < 30 <= last
    timed = re.findall(r"^\| (.+?) \| \d+\.\d, \d+\.\d \| \d+\.\d, \d+\.\d \|$", out, re.M)
    assert timed == list(ASKED)
    sizes = dict(re.findall(r"^\| (\S+: .+?) \| .+? \| (\S+) \|$", out, re.M))
    assert sizes.keys() >= {"disk: catalogue", "disk: originals"}
    assert sizes.keys() >= {"memory: ours", f"memory: {BARE}"}
    for part in ("disk: full text", "disk: vectors", f"disk: {BARE}"):
        assert float(sizes[part]) > 0
    targets = re.findall(r"^\| .+? \| -?\d+\.\d{3} \| 4 \| (?:met|missed) \| .+ \|$", out, re.M)
    assert len(targets) == 2
    assert "sentences of JSQuAD" in out


def test_stand_in_vectors_are_as_near_to_each_other_as_real_ones() -> None:
    model = Clustered()
    vectors = model.passages([f"passage {number}" for number in range(400)])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    cosines = vectors @ vectors.T
    assert abs(np.median(cosines) - 0.77) < 0.02
    assert np.array_equal(model.passages(["passage 7"])[0], vectors[7])
