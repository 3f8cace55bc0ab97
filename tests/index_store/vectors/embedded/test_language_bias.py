"""Where the cosines of the embedded model are too low, and where they stay as they are."""

import numpy as np
import pytest

from index_store.vectors.embedded.language_bias import GAP
from index_store.vectors.embedded.model import EmbeddedEmbeddings

JAPANESE = [
    "一般社員の国内出張の日当は1日2,500円です。",
    "GET /api/v1/users を呼ぶと JSON を返す。200 OK なら id と name が入る。",
]
ENGLISH = ["The green car needs the approval of a director.", "Settle a trip within two weeks, with the receipts."]


@pytest.fixture(scope="module")
def model() -> EmbeddedEmbeddings:
    return EmbeddedEmbeddings()


def gaps(model: EmbeddedEmbeddings, question: str, passages: list[str]) -> np.ndarray:
    return model.language_bias.gaps(model.query(question), model.passages(passages))


@pytest.mark.parametrize(
    ("question", "alike", "other"),
    [("出張の日当はいくらですか", JAPANESE, ENGLISH), ("Who approves the green car?", ENGLISH, JAPANESE)],
    ids=["Japanese", "English"],
)
def test_cosines_in_the_language_of_a_question_stay_as_they_are_and_all_others_rise_alike(
    model: EmbeddedEmbeddings, question: str, alike: list[str], other: list[str]
) -> None:
    assert gaps(model, question, alike).max() < 0.1 * GAP
    assert gaps(model, question, other).min() > 0.9 * GAP


def test_a_code_is_of_neither_language(model: EmbeddedEmbeddings) -> None:
    for passages in (JAPANESE, ENGLISH):
        assert gaps(model, "ZT-4083", passages).min() > 0.1 * GAP
        assert gaps(model, "ZT-4083", passages).max() < 0.9 * GAP
