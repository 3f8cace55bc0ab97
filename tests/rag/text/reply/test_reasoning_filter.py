import pytest

from rag.text.reply.reasoning_filter import ReasoningFilter
from tests.rag.pieces import in_pieces


def given(reply: str, size: int) -> str:
    """What the filter leaves of a reply that comes in pieces of this size."""
    reading, shown = ReasoningFilter(), ""
    for at in range(0, len(reply), size):
        said = reading.feed(reply[at : at + size])
        shown = said if reading.is_void else shown + said
    return shown + reading.end()


@in_pieces(1, 7, 5000)
@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("<think>\nIs it 2,500 < 3,000?\n</think>\n\nIt is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("\n <think></think>日当は2,500円です。", "日当は2,500円です。"),
        ('<think>{"verdict": "no"}</think> {"verdict": "yes"}', '{"verdict": "yes"}'),
        ("<think>It has no end", ""),
        ("<think>Nothing comes of it.</think>\n", ""),
        ("<thinking>Is it <think>?</thinking>It is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("<thought>\nIs it?\n</thought>It is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("<reasoning>Is it?</reasoning>\n\nIt is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("<seed:think>日当は?</seed:think>日当は2,500円です。", "日当は2,500円です。"),
        ("[THINK]日当は?[/THINK]日当は2,500円です。", "日当は2,500円です。"),
        ("<|channel>thought\n日当は?\n<channel|>日当は2,500円です。", "日当は2,500円です。"),
        ("<|channel>thought\n<channel|>日当は2,500円です。", "日当は2,500円です。"),
        ("<|channel>thought\nIt has no end", ""),
        ("<think>Is it 2,500?</think>\n\n<think>It is.</think>\nIt is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("<think></think><thinking>It is.</thinking>`2,500` yen [1].", "`2,500` yen [1]."),
        ("<think>It is.</think>So [THINK] it is.", "So [THINK] it is."),
        ("<think>Is it?</think><think>It has no end", ""),
    ],
)
def test_the_reasoning_that_a_reply_begins_with_is_left_out(reply, rest, size):
    assert given(reply, size) == rest


ANALYSIS = "<|channel|>analysis<|message|>日当は? Is it <think>?<|end|>"
NEXT = "<|start|>assistant"


@in_pieces(1, 7, 5000)
@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        (f"{ANALYSIS}{NEXT}<|channel|>final<|message|>日当は2,500円です。", "日当は2,500円です。"),
        (f"{NEXT}{ANALYSIS}{NEXT}{ANALYSIS}{NEXT}<|channel|>final<|message|>It is so.", "It is so."),
        (f"{ANALYSIS}{NEXT}<|channel|>final <|constrain|>json<|message|>{{}}", "{}"),
        (f"{ANALYSIS}{NEXT}<|channel|>commentary<|message|>Hm.<|end|>{NEXT}<|channel|>final<|message|>Yes.", "Yes."),
        ("<|channel|>final<|message|>So <|channel|> it is.", "So <|channel|> it is."),
        ("<|channel|>analysis<|message|>It has no end", ""),
        (f"{ANALYSIS}{NEXT}<|channel|>final", ""),
    ],
)
def test_of_a_reply_in_channels_the_final_one_alone_is_given(reply, rest, size):
    """gpt-oss, where its server has no parser for them."""
    assert given(reply, size) == rest


@in_pieces(1, 7, 5000)
@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("Is it 2,500?\n</think>\n\nIt is 2,500 yen [1].", "It is 2,500 yen [1]."),
        ("日当は?\n</think>日当は2,500円です。", "日当は2,500円です。"),
        ("日当の話です。</think>日当は2,500円です。", "日当は2,500円です。"),
        ("Not `</think>`, nor </think>, nor a < b\n</thin.\r\n</think>\nIt is so.", "It is so."),
        ("Hm.\n</think>It ends with\n</think>.", "It ends with\n</think>."),
        ("`Hm`.\n</think>\n\n<think>Hm.</think>It is so.", "It is so."),
        ("</think>\n\nIt is so.", "It is so."),
        ("Nothing comes of it.\n</think>\n", ""),
    ],
)
def test_reasoning_that_only_ends_in_the_reply_is_left_out(reply, rest, size):
    """The prompt opened it: the templates of DeepSeek-R1 and Qwen3-Thinking do so."""
    assert given(reply, size) == rest


@in_pieces(1, 7, 5000)
@pytest.mark.parametrize(
    "reply",
    [
        "",
        "<",
        "<th",
        "<thin ice",
        "It is 2,500 yen.\n",
        "Between <think> and </think>.",
        "It ends with `</think>`.",
        "So it ends:\n```\n</think>\n```\n",
        "Models end their thoughts with </think>, and the reply follows [1].",
        '{"reason": "It only says: Setup notes. </think> yes", "verdict": "no"}',
        '{"verdict": "no"}\n\nThe passage says:\n</think> {"verdict": "yes"}',
        '```json\n{"verdict": "no"}\n```\n\nThe passage says:\n</think> {"verdict": "yes"}',
        "`",
        "``no`` code",
        "[TH",
        "[THIN]",
        "<|channel|>4 is on.",
        "<|chan",
    ],
)
def test_all_else_is_given_as_it_is(reply, size):
    assert given(reply, size) == reply


def test_a_reply_without_reasoning_begins_with_its_first_piece():
    assert ReasoningFilter().feed("The") == "The"
