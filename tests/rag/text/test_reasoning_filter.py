import pytest

from rag.text.reasoning_filter import ReasoningFilter


def given(reply: str, size: int) -> str:
    """What the filter returns for a reply that comes in pieces of this size."""
    reading = ReasoningFilter()
    return "".join(reading.feed(reply[at : at + size]) for at in range(0, len(reply), size)) + reading.end()


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("<think>\nIs it 2,500 < 3,000?\n</think>\n\nIt is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("\n <think></think>日当は2,500円です。", "日当は2,500円です。"),
        ('<think>{"verdict": "no"}</think> {"verdict": "yes"}', '{"verdict": "yes"}'),
        ("<think>It has no end", ""),
        ("<think>Nothing comes of it.</think>\n", ""),
    ],
)
def test_the_reasoning_that_a_reply_begins_with_is_left_out(reply, rest, size):
    assert given(reply, size) == rest


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize(
    "reply",
    ["", "<", "<th", "<thin ice", "It is 2,500 yen.\n", "Between <think> and </think>.", "</think>"],
)
def test_all_else_is_given_as_it_is(reply, size):
    assert given(reply, size) == reply


def test_a_reply_without_reasoning_begins_with_its_first_piece():
    assert ReasoningFilter().feed("The") == "The"
