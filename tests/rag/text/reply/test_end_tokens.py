"""Replies without the tokens that end them."""

import pytest

from rag.text.reply.end_tokens import TOKENS, EndTokenFilter
from tests.rag.pieces import in_pieces


def shown(text: str, size: int) -> str:
    tokens = EndTokenFilter()
    return "".join(tokens.feed(text[start : start + size]) for start in range(0, len(text), size)) + tokens.end()


@in_pieces(1, 4, 1000)
@pytest.mark.parametrize("token", TOKENS)
def test_tokens_at_the_end_of_a_reply_are_removed(token, size):
    assert shown(f"It is a < b.{token}", size) == "It is a < b."
    assert shown(f"{token}\n{token} ", size) == ""


@in_pieces(1, 4, 1000)
@pytest.mark.parametrize(
    "goes_on",
    [
        "<|im_end|>\n<|im_start|>user\nAnd the hotel?<|im_end|>\n<|im_start|>assistant\n9,000 yen.",
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nIt is 5 yen.",
        "<end_of_turn>\n<start_of_turn>user\nWhy?",
        "<turn|>\n<|turn>user\nWhy?<turn|>\n",
    ],
)
def test_what_a_model_writes_for_others_after_its_reply_is_removed(goes_on, size):
    assert shown(f"It is 5 yen.{goes_on}", size) == "It is 5 yen."


@in_pieces(1, 4, 1000)
@pytest.mark.parametrize(
    "text",
    [
        "A turn is <|im_start|>user.",
        "```\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n```",
        "<s>5</s> 6 yen.",
        "It ends with `</s>`.",
        "<|im_end|> \nends it.",
        "a <|im_end",
        "</s></s> <",
        "</s></p>",
    ],
)
def test_the_rest_of_a_reply_stays_as_it_is(text, size):
    assert shown(text, size) == text


def test_nothing_is_held_back_that_can_be_no_token():
    tokens = EndTokenFilter()
    assert [tokens.feed(piece) for piece in ("ab ", "<", "b", "</s", "> ", "c")] == ["ab ", "", "<b", "", "", "</s> c"]
