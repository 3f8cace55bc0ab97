"""Answers of a model that cites: all markers get the same form, and markers without a passage are dropped."""

import pytest

from rag.models.service.cited_text import CitedText
from rag.trace.passages import Passage


def passage(number: int, text: str = "", title: str = "規程") -> Passage:
    return Passage(
        number=number, rank=number, score=0.8, document_id="d", section_id=f"s{number}", source="a.md", title=title,
        headings=(), page=None, text=text, start=0, end=len(text),
    )  # fmt: skip


PASSAGES = [
    passage(1, "日当は1日2,500円です。宿泊を伴わない出張では半額になります。"),
    passage(2, "The VPN client is called HazeGate. Version 2.5 needs 8 GB of memory."),
    passage(3, "宿泊費は1泊12,000円を上限とします。"),
]


def cite(answer: str, size: int = 1000) -> str:
    text = CitedText(PASSAGES)
    shown = "".join(text.feed(answer[i : i + size]) for i in range(0, len(answer), size)) + text.end()
    assert shown == text.answer.text
    return shown


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("2,500円です[1]。", "2,500円です[1]。"),
        ("2,500円です[1, 3]。", "2,500円です[1][3]。"),
        ("2,500円です[1、3]。", "2,500円です[1][3]。"),
        ("2,500円です【1】。", "2,500円です[1]。"),
        ("2,500円です［２］。", "2,500円です[2]。"),
        ("2,500円です[ 1 ]。", "2,500円です[1]。"),
        ("2,500円です[1][9]。", "2,500円です[1]。"),
        ("2,500円です[1, 9]。", "2,500円です[1]。"),
        ("2,500円です[0]。", "2,500円です。"),
        ("It is so [9].", "It is so."),
        ("It is so [1] [9].", "It is so [1]."),
        ("An [optional] word, a[i], [", "An [optional] word, a[i], ["),
        ("Not closed [1", "Not closed [1"),
        ("", ""),
    ],
)
def test_markers_take_one_form_and_invented_numbers_are_dropped(answer, shown):
    assert cite(answer) == shown


@pytest.mark.parametrize("size", range(1, 12))
def test_the_size_of_the_pieces_changes_no_cited_text(size):
    answer = "日当は2,500円です[1, 3]。半額[9]にも【２】なります ［３］。[x] 12 [1"
    assert cite(answer, size) == cite(answer)


def test_what_is_cited_is_listed_once_in_the_order_of_the_answer():
    text = CitedText(PASSAGES)
    text.feed("a[3]b[1]c[3]")
    text.end()
    assert text.answer.cited == (3, 1)


def test_a_piece_is_passed_on_at_once_unless_a_marker_may_have_begun():
    text = CitedText(PASSAGES)
    assert [text.feed(piece) for piece in ("日当は", "です[", "1", "]", "。")] == ["日当は", "です", "", "[1]", "。"]
