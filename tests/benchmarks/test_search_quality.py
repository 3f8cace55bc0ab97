import json
from pathlib import Path

import pytest

from benchmarks import search_quality
from benchmarks.search_quality import Span, english_subject, is_given, japanese_subject
from index_store.search.hits import Hit
from index_store.search.searcher import MODES
from tests.benchmarks.conftest import Printed

PASSAGES = {
    "jsquad": {"a": ("規程", "出張の日当は1日2,500円です。"), "b": ("規程", "タクシーは終電の後に使えます。")},
    "squad": {"a": ("Handbook", "A password has 14 characters."), "b": ("Handbook", "Printers need a badge.")},
}
QUESTIONS = {
    "jsquad": [("a", "出張の日当はいくらですか。", "2,500円"), ("b", "終電の後に使えるのは何か。", "タクシー")],
    "squad": [("a", "How many characters has a password?", "14"), ("b", "What do printers need?", "a badge")],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, passages in PASSAGES.items():
        folder = tmp_path / "qa" / name
        folder.mkdir(parents=True)
        paragraphs = [{"pid": pid, "title": title, "text": text} for pid, (title, text) in passages.items()]
        questions = [
            {
                "pid": pid,
                "question": question,
                "answers": [{"text": answer, "start": passages[pid][1].index(answer)}],
            }
            for pid, question, answer in QUESTIONS[name]
        ]
        questions.append({"pid": "b", "question": "Not in any passage?", "answers": [], "answer_in_text": False})
        for file, rows in (("paragraphs", paragraphs), ("questions", questions)):
            lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
            (folder / f"{file}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def cells_of(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@pytest.mark.soak
def test_a_small_set_is_measured_and_its_vectors_are_kept(printed: Printed, data: Path, tmp_path: Path) -> None:
    outputs = [printed(search_quality, "--data", data, "--cache", tmp_path / "vectors.npz") for _ in range(2)]
    quality, given = outputs[0].split("\n\n")
    rows = cells_of(quality)
    assert [row[:2] for row in rows] == [
        [name, mode] for name in ("jsquad", "squad") for mode in ("vector", "keyword", "hybrid", "hybrid by rank")
    ]
    assert all(row[2:6] == ["1.000"] * 4 for row in rows if row[1] == "hybrid")
    assert outputs[1] == outputs[0]
    units = [(name, mode, unit) for name in PASSAGES for mode in MODES for unit in ("chunk", "section")]
    assert cells_of(given) == [[*each, "1.000", "1.000"] for each in units]
    assert (tmp_path / "vectors.npz").exists()


def test_the_subject_of_a_question_is_its_longest_run_of_content():
    assert japanese_subject("日本で梅雨がないのは北海道とどこか。") == "北海道"
    assert japanese_subject("それは?") == "それは?"
    assert english_subject("Who led the Denver Broncos?") == "Denver Broncos"
    assert english_subject("What is it?") == "What is it?"


def test_an_answer_is_given_where_its_very_place_has_room():
    text = "14 days. " + "Nothing of it. " * 20 + "A password has 14 characters."
    answer = Span("s", text.rindex("14"), text.rindex("14") + 2)

    def hit(rank: int, section: str) -> Hit:
        whole = {"start": 0, "end": len(text), "best_start": 0, "best_end": 8}
        return Hit(
            rank=rank, score=1, chunk_id=f"{section}-c", section_id=section, document_id="d", source="a.md", title="A",
            headings=(), page=None, text=text, **whole,
        )  # fmt: skip

    assert is_given(200, [hit(1, "s")], answer)
    assert not is_given(60, [hit(1, "s")], answer)
    assert not is_given(200, [hit(1, "other")], answer)
    assert not is_given(130, [hit(1, "other"), hit(2, "s")], answer)
    assert is_given(500, [hit(1, "other"), hit(2, "s")], answer)
