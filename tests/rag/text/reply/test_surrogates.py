"""Text of a model in whole characters."""

import pytest

from rag.text.reply.surrogates import SurrogateFilter


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["Hi \ud83d", "\ude00 there"], "Hi \U0001f600 there"),
        (["\ud83d", "", "\ude00"], "\U0001f600"),
        (["\ud83d\ude00 \U0001f600"], "\U0001f600 \U0001f600"),
        (["a\ud83d", "b", "\ude00c"], "a\ufffdb\ufffdc"),
        (["\ud83d\ud83d", "\ude00"], "\ufffd\U0001f600"),
        (["a\ud83d"], "a\ufffd"),
        (["\ufeffa", "\ufeffb"], "\ufeffa\ufeffb"),
    ],
)
def test_halves_of_a_character_are_joined_and_a_half_alone_is_replaced(pieces, text):
    characters = SurrogateFilter()
    assert "".join([*map(characters.feed, pieces), characters.end()]) == text


def test_nothing_whole_is_held_back():
    characters = SurrogateFilter()
    assert [characters.feed(piece) for piece in ("ab", "c\ud83d", "\ude00d")] == ["ab", "c", "\U0001f600d"]
