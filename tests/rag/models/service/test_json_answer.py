"""Answers that are written as a JSON object."""

import pytest

from rag.models.service.cited_text import CitedText
from tests.rag.passages import PASSAGES

each_size = pytest.mark.parametrize("size", [1, 4, 1000])


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
    "written",
    [
        '{"answer": "yes", "unit": "円"}',
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
