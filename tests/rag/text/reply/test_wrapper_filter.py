"""Replies without what some models write around the whole of them."""

import pytest

from rag.text.reply.wrapper_filter import WrapperFilter
from tests.rag.pieces import in_pieces


def shown(text: str, size: int) -> str:
    wrapper = WrapperFilter()
    return "".join(wrapper.feed(text[start : start + size]) for start in range(0, len(text), size)) + wrapper.end()


@in_pieces(1, 4, 1000)
@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("<answer>It is 5 < 6 yen [1].</answer>", "It is 5 < 6 yen [1]."),
        ("\n<answer>\n日当は2,500円です[1]。</answer>", "日当は2,500円です[1]。"),
        ("<answer>It was cut [1].", "It was cut [1]."),
        ("<answer>It was cut [1].</ans", "It was cut [1].</ans"),
        ("<answer>It is 5.</answer>\nSource: [1]", "It is 5.\nSource: [1]"),
        ("assistant\n\nIt is 5 yen [1].", "It is 5 yen [1]."),
        ("<answer>\n", ""),
    ],
)
def test_the_tags_or_the_role_around_a_reply_are_taken_off(reply, text, size):
    assert shown(reply, size) == text


@in_pieces(1, 4, 1000)
@pytest.mark.parametrize(
    "text",
    [
        "It is in `<answer>` and </answer>.",
        "<answers>5</answers>",
        "assistant managers approve it [1].",
        "assistant\nIt is 5.",
        "assistant",
        "<ans",
        "  ",
        f"{' ' * 50}<answer>5</answer>",
        "",
    ],
)
def test_other_replies_stay_as_they_are(text, size):
    assert shown(text, size) == text


@in_pieces(1, 4, 1000)
@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("回答：日当は2,500円です[1]。", "日当は2,500円です[1]。"),
        ("\n回答: 日当は2,500円です[1]。", "日当は2,500円です[1]。"),
        ("答え：\n\n- 2,500円[1]\n- 回答：なし", "- 2,500円[1]\n- 回答：なし"),
        ("【回答】\n2,500円です[1]。", "2,500円です[1]。"),
        ("Answer: It is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("**Answer:** It is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("**回答**：2,500円です[1]。", "2,500円です[1]。"),
        ("ANSWER: 5", "5"),
    ],
)
def test_a_label_that_names_the_reply_an_answer_is_taken_off(reply, text, size):
    assert shown(reply, size) == text


@in_pieces(1, 4, 1000)
@pytest.mark.parametrize(
    "text",
    [
        "回答期限：3月末です[1]。",
        "回答は総務部へ送ります[1]。",
        "**回答: 2,500円です[1]。**",
        "It says: Answer: 5.",
        "Answers: 5",
        "Answer the phone [1].",
        "回答",
        "**",
        "**Answer",
    ],
)
def test_other_beginnings_with_the_word_stay(text, size):
    assert shown(text, size) == text
