import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.search_quality import english_subject, japanese_subject
from tests.conftest import ROOT

PASSAGES = {
    "jsquad": {"a": ("規程", "出張の日当は1日2,500円です。"), "b": ("規程", "タクシーは終電の後に使えます。")},
    "squad": {"a": ("Handbook", "A password has 14 characters."), "b": ("Handbook", "Printers need a badge.")},
}
QUESTIONS = {
    "jsquad": [("a", "出張の日当はいくらですか。"), ("b", "終電の後に使えるのは何か。")],
    "squad": [("a", "How many characters has a password?"), ("b", "What do printers need?")],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, passages in PASSAGES.items():
        folder = tmp_path / "qa" / name
        folder.mkdir(parents=True)
        paragraphs = [{"pid": pid, "title": title, "text": text} for pid, (title, text) in passages.items()]
        questions = [{"pid": pid, "question": question} for pid, question in QUESTIONS[name]]
        questions.append({"pid": "b", "question": "Not in any passage?", "answer_in_text": False})
        for file, rows in (("paragraphs", paragraphs), ("questions", questions)):
            lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
            (folder / f"{file}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_a_small_set_is_measured_and_its_vectors_are_kept(data, tmp_path):
    command = [sys.executable, "-m", "benchmarks.search_quality", "--data", data, "--cache", tmp_path / "vectors.npz"]
    outputs = [subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in outputs[0].splitlines()[2:]]
    assert [row[:2] for row in rows] == [
        [name, mode] for name in ("jsquad", "squad") for mode in ("vector", "keyword", "hybrid", "hybrid by rank")
    ]
    assert all(row[2:6] == ["1.000"] * 4 for row in rows if row[1] == "hybrid")
    assert outputs[1] == outputs[0]
    assert (tmp_path / "vectors.npz").exists()


def test_the_subject_of_a_question_is_its_longest_run_of_content():
    assert japanese_subject("日本で梅雨がないのは北海道とどこか。") == "北海道"
    assert japanese_subject("それは?") == "それは?"
    assert english_subject("Who led the Denver Broncos?") == "Denver Broncos"
    assert english_subject("What is it?") == "What is it?"
