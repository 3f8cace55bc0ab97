"""A question finds the passage that answers it, in whichever language."""

import re

import numpy as np
import pytest

from index_store.vectors.embedded.model import EmbeddedEmbeddings
from pages import samples


@pytest.fixture(scope="module")
def sections() -> list[str]:
    """Of all samples in Markdown, Japanese and English."""
    texts = [each.read_text(encoding="utf-8") for each in samples.documents() if each.suffix == ".md"]
    return [section for text in texts for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]]


@pytest.fixture(scope="module")
def vectors(sections: list[str]) -> np.ndarray:
    return EmbeddedEmbeddings().passages(sections)


def nearest(question: str, sections: list[str], vectors: np.ndarray, most: int) -> list[str]:
    """Titles of sections, the nearest first."""
    order = np.argsort(-(vectors @ EmbeddedEmbeddings().query(question)))[:most]
    return [sections[each].splitlines()[0] for each in order]


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("週に何日まで在宅勤務ができますか", "How many days"),
        ("在宅勤務用のモニターは借りられますか", "Equipment on loan"),
        ("校正はどのくらいの間隔で必要ですか", "How often is calibration needed?"),
        ("By when must I settle a business trip?", "第7条 出張後の精算"),
        ("May I use my own USB stick?", "USBメモリと外部記憶媒体"),
        ("What do I do with a suspicious e-mail?", "メールの誤送信と不審なメール"),
    ],
)
def test_a_passage_in_another_language_is_found_among_many_in_that_of_the_question(question, title, sections, vectors):
    assert title in nearest(question, sections, vectors, most=3)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("祖父母が亡くなったときの忌引休暇は何日ですか？", "忌引休暇"),
        ("会議室はどうやって予約しますか", "会議室の予約"),
        ("How many characters must a company password have at least?", "Password rules"),
        ("How long is the warranty?", "How long is the warranty?"),
    ],
)
def test_a_passage_in_the_language_of_the_question_still_comes_first(question, title, sections, vectors):
    assert nearest(question, sections, vectors, most=1) == [title]
