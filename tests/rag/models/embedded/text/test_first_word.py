"""The first word of an answer gets the character back that the embedded model left out."""

import pytest

from rag.models.embedded.text.first_word import LONGEST, FirstWord
from tests.rag.passages import numbered
from tests.rag.pieces import in_pieces

QUESTION = "在宅勤務の手当はいくらですか?"


def whole(answer: str, question: str = QUESTION, text: str = "A remote work allowance is paid.", size: int = 1) -> str:
    first = FirstWord(question, numbered(text))
    return "".join(first.feed(answer[i : i + size]) for i in range(0, len(answer), size)) + first.end()


@in_pieces(1, 2, 3, 5, 100)
@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("宅勤務の手当は3,000円です。", "在宅勤務の手当は3,000円です。"),
        ("宅勤務手当は3,000円です。", "在宅勤務手当は3,000円です。"),
        ("宅勤務", "在宅勤務"),
        ("在宅勤務の手当は3,000円です。", "在宅勤務の手当は3,000円です。"),
        ("手当は3,000円です。宅勤務のときも同じです。", "手当は3,000円です。宅勤務のときも同じです。"),
        ("3,000円です。", "3,000円です。"),
        ("It is 3,000 yen.", "It is 3,000 yen."),
        ("宅で働く人に3,000円です。", "宅で働く人に3,000円です。"),
        ("", ""),
        ("\n\n", "\n\n"),
    ],
)
def test_a_word_of_the_question_without_its_first_character_gets_it_back(answer: str, shown: str, size: int) -> None:
    assert whole(answer, size=size) == shown


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("全社員の研修はいつですか?社員食堂は?", "社員の研修は4月です。"),
        ("新本社の住所は?", "本社の住所は大阪です。"),
        ("東支社と西支社の違いは?", "支社の違いは規模です。"),
        ("未提出のときは?", "提出のときは連絡します。"),
    ],
    ids=["it is in the question", "it is in a passage", "it may be of two", "it may be left out on purpose"],
)
def test_what_may_be_a_word_of_its_own_stays_as_it_is(question: str, answer: str) -> None:
    assert whole(answer, question, "本社は大阪にあります。") == answer


def test_a_beginning_without_an_end_of_its_word_is_not_held_back_for_long() -> None:
    first = FirstWord(QUESTION, [])
    shown = [first.feed("漢") for _ in range(100)]
    assert shown[: LONGEST - 1] == [""] * (LONGEST - 1)
    assert "".join(shown) + first.end() == "漢" * 100
