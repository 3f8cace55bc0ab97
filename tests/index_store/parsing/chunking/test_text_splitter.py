import random

import pytest

from index_store.parsing.chunking.text_splitter import split_text
from index_store.parsing.chunking.width import text_width
from tests.index_store.parsing.chunking.writings import ENGLISH, JAPANESE, TABLE

TEXTS = {
    "japanese": JAPANESE * 40,
    "japanese without newlines": JAPANESE.strip() * 40,
    "english": ENGLISH * 40,
    "mixed": (JAPANESE + "\n" + ENGLISH) * 20,
    "one line without spaces": "x" * 100_000,
    "one japanese line without stops": "漢字仮名交文" * 2_000,
    "emoji": "👩‍👩‍👧‍👦🇯🇵👍🏽" * 400,
    "table": "前置き。\n\n" + TABLE + "\n後書き。",
    "code": "Do this:\n\n```\n" + "# install it\nmake install\n" * 100 + "```\n\nThat is all.",
    "accents": "e\u0301" * 3_000,
    "blank lines": "\n\n\n一行目。\n\n\n\n" * 80,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
@pytest.mark.parametrize(("size", "overlap"), [(50, 0), pytest.param(60, 30, marks=pytest.mark.soak), (300, 40)])
def test_spans_hold_the_whole_text_and_none_is_empty_or_too_long(text: str, size: int, overlap: int) -> None:
    spans = split_text(text, size, overlap)
    held = set()
    for start, end in spans:
        assert text[start:end].strip()
        assert text_width(text[start:end]) <= size
        held.update(range(start, end))
    assert not [at for at in range(len(text)) if at not in held and not text[at].isspace()]
    assert spans == sorted(set(spans))


def test_spans_of_random_texts_hold_the_whole_text() -> None:
    chance = random.Random(7)
    pieces = [
        "。",
        "、",
        "\n",
        "\n\n",
        " ",
        "語",
        "カ",
        "word",
        "- ",
        "| a | b |\n",
        "```\n",
        "### ",
        "🇯🇵",
        "\u3000",
        ". ",
    ]
    for _ in range(300):
        text = "".join(chance.choices(pieces, k=chance.randrange(1, 300)))
        held = set()
        for start, end in split_text(text, 20, 8):
            assert start < end
            assert text_width(text[start:end]) <= 20
            held.update(range(start, end))
        assert not [at for at in range(len(text)) if at not in held and not text[at].isspace()]


def test_an_english_word_is_never_split() -> None:
    words = set(ENGLISH.split())
    for start, end in split_text(TEXTS["english"], 60, 20):
        assert set(TEXTS["english"][start:end].split()) <= words


def test_japanese_is_cut_after_sentences() -> None:
    text = TEXTS["japanese without newlines"]
    assert all(text[end - 1] in "。」" for _, end in split_text(text, 60))


def test_an_emoji_of_several_parts_is_not_split() -> None:
    text = TEXTS["emoji"]
    for start, end in split_text(text, 50, 10):
        assert text[start] in "👩🇯👍"
        assert text[end - 1] not in "\u200d🇯"


def test_a_table_that_fits_is_kept_whole() -> None:
    table = "\n".join(TABLE.splitlines()[:8])
    text = JAPANESE * 6 + "\n" + table + "\n\n" + JAPANESE * 6
    start = text.index(table)
    assert any(low <= start and start + len(table) <= high for low, high in split_text(text, 150))


@pytest.mark.parametrize("caption", ["（見出し{0}）\n\n第{0}条　", "第{0}条（見出し{0}）\n\n１　"])
def test_the_caption_of_an_article_stays_with_the_article(caption: str) -> None:
    rule = "社員は、会社の定めるところにより、所定の手続きを行うものとする。" * 3
    text = "\n\n".join(caption.format(number) + rule for number in range(1, 40))
    spans = split_text(text, 300, 40)
    assert all(text[:end].endswith("。") for _, end in spans)
    assert len(spans) > 10


def test_a_table_of_contents_is_split_between_its_articles() -> None:
    chapters = (f"第{at}章　総則\n" + f"第{at}条　目的と適用の範囲\n" * 9 for at in range(1, 20))
    text = "".join(chapters)
    assert all(text[end - 2 : end] == "範囲" for _, end in split_text(text, 300, 40))


RATES = "| 役職 | 額 |\n| --- | --- |\n"
INTRODUCTION = "旅費を支給する。その額は次による。" * 2 + "\n\n"


@pytest.mark.parametrize("rows", [6, 30], ids=["whole", "split"])
@pytest.mark.parametrize(
    "name",
    ["表2 日当（単位：千円）\n\n", "表2 日当\n", "表2 日当\n（単位：千円）\n\n"],
    ids=["apart", "directly above", "of two lines"],
)
def test_the_name_of_a_table_begins_its_part(name: str, rows: int) -> None:
    text = INTRODUCTION + name + RATES + "| 部長 | 3 |\n" * rows
    spans = [text[start:end] for start, end in split_text(text, 60)]
    assert spans[0] == INTRODUCTION.strip()
    assert spans[1].startswith(name + RATES)


def test_a_table_that_fits_is_not_split_for_its_name() -> None:
    table = RATES + "| 部長 | 3 |\n" * 9
    text = INTRODUCTION + "表2 日当（単位：千円）\n\n" + table
    assert [text[start:end] for start, end in split_text(text, 60)][-1] == table.strip()


def test_the_last_row_of_a_table_is_no_name_of_the_next() -> None:
    table = RATES + "| 部長 | 3 |\n" * 7
    text = f"{table}\n{table}"
    assert [text[start:end] for start, end in split_text(text, 60)] == [table.strip()] * 2
