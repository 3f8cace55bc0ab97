"""Answers that are written as a JSON object."""

import pytest

from rag.models.service.cited_text import CitedText
from tests.rag.passages import PASSAGES
from tests.rag.pieces import in_pieces

each_size = in_pieces(1, 4, 1000)


def cite(answer: str, size: int) -> CitedText:
    text = CitedText(PASSAGES)
    shown = "".join(text.feed(answer[at : at + size]) for at in range(0, len(answer), size)) + text.end()
    assert shown == text.answer.text
    return text


@each_size
@pytest.mark.parametrize(
    "written",
    [
        '{"answer": "日当は\\n「2,500円」です【1】。"}',
        '{"answer": "日当は\n「2,500円」です[1]。"}',
        '\n```json\n{\n  "answer": "日当は\\n「2,500円」です[1]。"\n}\n```\n',
        '```\n{"answer":"日当は\\n「2,500円」です[1]。"}\n```',
    ],
)
def test_an_answer_in_a_json_object_is_shown_as_an_answer_with_its_citations(written, size):
    answer = cite(written, size).answer
    assert (answer.text, answer.cited) == ("日当は\n「2,500円」です[1]。", (1,))


@each_size
def test_a_no_answer_in_a_json_object_is_one(size):
    answer = cite('{"answer": "NOT_IN_PASSAGES 資料にはありません。"}', size).answer
    assert (answer.text, answer.is_no_answer) == ("資料にはありません。", True)


@each_size
@pytest.mark.parametrize(
    ("written", "shown", "cited"),
    [
        ('{"answer": "日当は2,500円です[1]。", "sources": ["旅費規程.md"]}', "日当は2,500円です[1]。", (1,)),
        ('```json\n{\n  "answer": "It is so [2].",\n  "citations": [1, 2]\n}\n```', "It is so [2].", (2,)),
        ('{"answer": "日当は2,500円です【1】。", "sources": [2]}', "日当は2,500円です[1]。", (1,)),
        ('{"answer": "日当は2,500円です。", "sources": [1, 9]}', "日当は2,500円です。[1]", (1,)),
        ('{"answer": "It is so.", "citations": ["1", "[2]", "source 1", true]}', "It is so.[1][2]", (1, 2)),
        ('{"answer": "It is so.", "sources": "travel.md", "references": {"1": "travel.md"}}', "It is so.", ()),
    ],
)
def test_the_sources_that_an_object_lists_beside_its_answer_are_not_shown_as_json(written, shown, cited, size):
    answer = cite(written, size).answer
    assert (answer.text, answer.cited) == (shown, cited)


@each_size
@pytest.mark.parametrize(
    "written",
    [
        '{"answer": "yes", "unit": "円"}',
        '{"answer": "yes", "sources": [1], "unit": "円"}',
        '{"answer": "yes"',
        '{"answer": "yes"} is the body.',
        '{"answer": 5}',
        '{"answers": "yes"}',
        '{"unit": "円"}',
        '```json\n{"answer": "yes"}\n```\nis the body.',
        "```",
        "{",
        "",
    ],
)
def test_other_json_stays_as_it_is(written, size):
    assert cite(written, size).answer.text == written
