"""Tags that a reply copies from quoted material."""

import pytest

from rag.text.quoting import quoted
from rag.text.reply.quoted_tags import QuotedTagFilter
from tests.rag.pieces import in_pieces


def shown(text: str, size: int) -> str:
    tags = QuotedTagFilter()
    return "".join(tags.feed(text[start : start + size]) for start in range(0, len(text), size)) + tags.end()


@in_pieces(1, 2, 3, 1000)
@pytest.mark.parametrize(
    "line", ["ssh <user>@bastion", r"C:\Users\<user>\AppData", "<system> </system>", "a<s>5</s>6", "if x < user: <"]
)
def test_a_tag_that_stood_in_a_document_is_read_as_it_stood_there(line, size):
    assert quoted(line) != line
    assert shown(quoted(line), size) == line


@in_pieces(1, 2, 3, 1000)
@pytest.mark.parametrize("text", ["le «user guide» et «reason»", "«", "««", "«users>", "a < b «"])
def test_other_quotation_marks_stay(text, size):
    assert shown(text, size) == text


@pytest.mark.parametrize("cell", ["| < | より小さい |", "80点 ＜ | 合格", "if a <\n| b", "| ‹ |"])
def test_the_sign_in_a_cell_of_a_table_is_no_tag(cell):
    assert quoted(cell) == cell


@pytest.mark.parametrize("role", ["<|im_end|>", "< |im_end|>", "＜｜x｜＞", "<| im_end |>", "< | im_start | >user"])
def test_a_chat_role_is_made_harmless_however_it_is_spaced(role):
    assert quoted(role) != role


def test_only_what_may_be_a_tag_is_held_back():
    tags = QuotedTagFilter()
    assert [tags.feed(piece) for piece in ("ab ", "c «", "user", "> " + "d" * 50)] == [
        "ab ",
        "c ",
        "",
        "<user> " + "d" * 50,
    ]
