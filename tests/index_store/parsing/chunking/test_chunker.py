import unicodedata

import pytest

from index_store.parsing.chunking import blocks, chunker
from index_store.parsing.chunking.blocks import LONGEST_HEADER, Block, blocks_of
from index_store.parsing.chunking.chunker import chunk_document
from index_store.parsing.chunking.width import text_width
from index_store.parsing.loaders.document import Heading, LoadedDocument, Page
from index_store.parsing.loaders.html.html import load_html
from tests.index_store.parsing.chunking.writings import ENGLISH, JAPANESE, TABLE


def test_a_long_table_is_cut_at_rows_and_its_header_is_embedded_with_each_part() -> None:
    loaded = LoadedDocument(title="Prices", pages=[Page(markdown="## 価格\n\n" + TABLE)])
    (section,) = chunk_document(loaded, 100, 20)
    assert len(section.chunks) > 2
    for chunk in section.chunks:
        text = section.text[chunk.start : chunk.end]
        assert text.startswith("|")
        assert text.endswith("|")
        assert "品番" in chunk.embedded
        assert chunk.embedded.endswith(text)


def test_the_blocks_of_a_long_table_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def count(text: str) -> list[Block]:
        looked.append(len(text))
        return blocks_of(text)

    for module in (blocks, chunker):
        monkeypatch.setattr(module, "blocks_of", count)
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 3000
    assert len(chunk_document(LoadedDocument(title="Prices", pages=[Page(markdown=table)]), 100, 20)) > 20
    assert len([each for each in looked if each > 10_000]) == 1


def test_a_table_without_bars_at_its_sides_is_cut_at_rows_with_its_header() -> None:
    rows = "".join(f"品目{at} | {at * 100}円\n" for at in range(60))
    markdown = f"## 価格\n\n次の表による。\n品目 | 単価\n:--- | ---:\n{rows}\n税別とする。\n"
    sections = chunk_document(LoadedDocument(title="a", pages=[Page(markdown=markdown)]), 60, 20)
    chunks = [(section.text[chunk.start : chunk.end], chunk) for section in sections for chunk in section.chunks]
    below = [(text, chunk) for text, chunk in chunks if text.startswith("品目") and "単価" not in text]
    assert len(below) > 3
    assert all("品目 | 単価\n:--- | ---:\n" + text in chunk.embedded for text, chunk in below)
    assert "| 5900円\n\n税別とする。" in chunks[-1][0]


def test_each_section_of_a_wide_table_has_its_header() -> None:
    names = " | ".join(f"項目の名前{number}" for number in range(30))
    rows = "".join(f"| {' | '.join(f'値{row}の{number}' for number in range(30))} |\n" for row in range(40))
    header = f"| {names} |\n|{' --- |' * 30}\n"
    assert 150 < text_width(header) < LONGEST_HEADER
    loaded = LoadedDocument(title="台帳", pages=[Page(markdown=header + rows)])
    sections = chunk_document(loaded, 300, 40)
    assert len(sections) > 3
    assert all(section.text.startswith(header) and text_width(section.text) <= 1500 for section in sections)
    texts = [section.text[chunk.start : chunk.end] for section in sections for chunk in section.chunks]
    assert all("値" in text for text in texts[1:])
    assert all(any(f"値{row}の29 |" in text for text in texts) for row in range(40))


@pytest.mark.parametrize("sentences", [6, 60], ids=["a chunk", "a section"])
def test_the_rest_of_a_row_that_is_longer_than_its_place_stands_behind_the_cells_before_it(sentences: int) -> None:
    header, cells = "| No. | 質問 | 回答 |\n| --- | --- | --- |\n", "| 1 | パスワードを忘れたときは? | "
    answer = "画面の右上にある設定のボタンを押して、表示された項目を選びます。" * sentences
    page = Page(markdown=f"{header}{cells}{answer} |\n| 2 | 有給は何日? | 10日です。 |\n")
    sections = chunk_document(LoadedDocument(title="FAQ", pages=[page]), 100, 20)
    assert all(section.text.startswith(header + cells) and text_width(section.text) <= 500 for section in sections)
    embedded = [chunk.embedded for section in sections for chunk in section.chunks]
    answers = [text for text in embedded if "ボタン" in text]
    assert len(answers) > sentences // 4
    assert all(header + cells in text for text in answers)
    assert not [text for text in embedded if "有給は何日?" in text and header not in text]


def test_sections_start_at_second_level_headings_and_chunks_know_the_headings_below() -> None:
    markdown = "# 規程\n\nまえがき。\n\n## 日当\n\n本文。\n\n### 海外\n\n" + JAPANESE * 8 + "\n## 宿泊\n\n泊まる。\n"
    sections = chunk_document(LoadedDocument(title="規程", pages=[Page(markdown=markdown)]), 100, 0)
    assert [section.headings for section in sections] == [(), ("日当",), ("宿泊",)]
    assert sections[1].chunks[-1].headings == ("日当", "海外")


@pytest.mark.parametrize(
    ("known", "name"), [("", ("v3.2", "新機能")), ("\n### 既知の問題\n\n空白になる。\n", ("v3.2",))]
)
def test_a_section_of_several_sub_headings_has_the_name_of_all_of_it_not_of_the_first(known, name) -> None:
    markdown = f"# 記録\n\n## v3.2\n\n### 新機能\n\n送信できる。\n{known}"
    (section,) = chunk_document(LoadedDocument(title="記録", pages=[Page(markdown=markdown)]), 300, 40)
    assert section.headings == name
    assert section.chunks[0].headings == ("v3.2", "新機能")


def test_a_title_stands_once_above_a_chunk_whatever_its_spaces_and_figures() -> None:
    loaded = LoadedDocument(title="第1章 旅費", pages=[Page(markdown="# 第１章\u3000旅費\n\n## 日当\n\n本文。\n")])
    (section,) = chunk_document(loaded, 100, 20)
    assert section.headings == ("日当",)
    assert section.chunks[0].embedded == "第1章 旅費 > 日当\n本文。"


def test_a_comment_in_a_code_block_is_no_heading() -> None:
    markdown = "## Install\n\n```sh\n# as root\nmake\n```\n\nDone.\n"
    (section,) = chunk_document(LoadedDocument(title="t", pages=[Page(markdown=markdown)]), 300, 40)
    assert section.headings == ("Install",)
    assert "# as root" in section.text


def test_headings_below_code_in_a_list_are_headings() -> None:
    code = "<ul><li><pre># npm</pre>を実行</li></ul>"
    page = f"<h1>手順書</h1><h2>準備</h2>{code}<h2>解約</h2><p>届け出る。</p>"
    sections = chunk_document(load_html(page, "a.html"), 300, 40)
    assert [section.headings for section in sections] == [("準備",), ("解約",)]
    assert "# npm" in sections[0].text


def test_a_document_of_third_level_headings_alone_has_sections() -> None:
    markdown = "### One\n\nfirst\n\n### Two\n\nsecond\n"
    sections = chunk_document(LoadedDocument(title="t", pages=[Page(markdown=markdown)]), 300, 40)
    assert [section.headings for section in sections] == [("One",), ("Two",)]


def test_a_paragraph_in_the_style_of_a_heading_is_text_and_a_title_without_end_is_cut() -> None:
    long = "The travel fee is five euros. " * 100
    document = LoadedDocument(
        title=long, pages=[Page(markdown=f"# {long}\n\n## Fees\n\nIt is due.\n\n## {long}\n\nTrue.")]
    )
    sections = chunk_document(document, 300, 40)
    assert {each.headings for each in sections} == {(), ("Fees",)}
    assert "".join(each.text for each in sections).count("five euros") == 200
    assert document.title.startswith("The travel fee")
    assert len(document.title) == 200


def test_a_heading_with_nothing_below_is_not_lost() -> None:
    sections = chunk_document(
        LoadedDocument(title="t", pages=[Page(markdown="## 休日は日曜日です\n\n## 次\n\n本文\n")]), 300, 40
    )
    assert [section.text for section in sections] == ["休日は日曜日です", "本文"]


def test_a_document_of_nothing_but_its_title_has_it_as_its_text() -> None:
    notice = LoadedDocument(title="臨時休業のお知らせ", pages=[Page(markdown="# 臨時休業のお知らせ\n\n")])
    assert [section.text for section in chunk_document(notice, 300, 40)] == ["臨時休業のお知らせ"]


def test_text_behind_a_heading_in_its_line_is_not_lost() -> None:
    page = Page(markdown="第1条 定める。\n", headings=(Heading(line=0, level=1, text="第1条"),))
    (section,) = chunk_document(LoadedDocument(title="t", pages=[page]), 300, 40)
    assert (section.headings, section.text) == (("第1条",), "第1条 定める。")


def test_pages_without_headings_are_sections_of_their_own() -> None:
    pages = [Page(markdown=f"This is page {number}.", number=number, headings=()) for number in (1, 2)]
    assert [section.page for section in chunk_document(LoadedDocument(title="t", pages=pages), 300, 40)] == [1, 2]


def test_a_section_that_goes_over_a_page_knows_the_page_of_each_chunk() -> None:
    first = Page(markdown="Intro\n" + ENGLISH * 10, number=3, headings=(Heading(line=0, level=1, text="Intro"),))
    second = Page(markdown=ENGLISH * 10, number=4, headings=())
    (section,) = chunk_document(LoadedDocument(title="t", pages=[first, second]), 300, 0)
    assert section.page == 3
    assert {chunk.page for chunk in section.chunks} == {3, 4}


def test_an_over_long_section_is_cut_at_sub_headings() -> None:
    markdown = "## 章\n\n" + "".join(f"### 節{n}\n\n{JAPANESE * 12}\n" for n in range(8))
    sections = chunk_document(LoadedDocument(title="t", pages=[Page(markdown=markdown)]), 200, 20)
    assert len(sections) > 1
    assert all(section.text.startswith("### 節") for section in sections)
    assert all(text_width(section.text) <= 1000 for section in sections)


def test_a_table_that_goes_over_sections_begins_each_with_its_header() -> None:
    long = TABLE + "".join(f"| B-{n} | {n}円 |\n" for n in range(60))
    loaded = LoadedDocument(title="Prices", pages=[Page(markdown="## 価格\n\n前置き。\n\n" + long + "\n後書き。")])
    sections = chunk_document(loaded, 50, 0)
    assert len(sections) > 2
    header = "| 品番 | 価格 |\n| --- | --- |\n"
    for section in sections[1:]:
        assert section.text.startswith(header)
        assert text_width(section.text) <= 250
        for chunk in section.chunks:
            assert chunk.embedded.endswith(section.text[chunk.start : chunk.end])
    rows = [line for section in sections for line in section.text.splitlines() if "円" in line]
    assert rows == [line for line in long.splitlines() if "円" in line]


@pytest.mark.parametrize(
    "unit",
    [
        "（単位：千円）",
        "別表1 基本給（月額、単位：円）",
        "(百万円)",
        "Prices in EUR",
        "In thousands of dollars",
        "(£000)",
    ],
)
@pytest.mark.parametrize("rows", [50, 200], ids=["over chunks", "over sections"])
def test_each_part_of_a_long_table_says_what_its_figures_are_in(unit: str, rows: int) -> None:
    header = f"{unit}\n\n| 部門 | 費用 |\n| --- | --- |\n"
    table = header + "".join(f"| 部門{row} | {row}500 |\n" for row in range(rows))
    sections = chunk_document(LoadedDocument(title="t", pages=[Page(markdown=f"## 実績\n\n{table}")]), 100, 10)
    assert (len(sections) > 1) == (rows == 200)
    assert all(section.text.startswith(header) and text_width(section.text) <= 500 for section in sections)
    chunks = [chunk for section in sections for chunk in section.chunks]
    assert len(chunks) > 2
    assert all(unicodedata.normalize("NFKC", header) in chunk.embedded for chunk in chunks)


@pytest.mark.parametrize("line", ["取得単位の一覧", "単位：千円のときは、注記を付ける。", "Prices are rising in June"])
def test_a_line_above_a_table_that_names_no_unit_is_not_repeated(line: str) -> None:
    loaded = LoadedDocument(title="t", pages=[Page(markdown=f"{line}\n\n{TABLE * 4}")])
    sections = chunk_document(loaded, 50, 0)
    assert sum(line in section.text for section in sections) == 1


def test_code_that_goes_over_sections_is_fenced_in_each() -> None:
    code = "".join(f"make step-{number}\n" for number in range(200))
    sections = chunk_document(
        LoadedDocument(title="t", pages=[Page(markdown=f"Do this:\n\n```sh\n{code}```\n\nDone.\n")]), 60, 0
    )
    assert len(sections) > 2
    for section in sections:
        assert section.text.count("```") % 2 == 0
        assert text_width(section.text) <= 300
    assert all(section.text.startswith("```sh\n") for section in sections[1:-1])
    assert "".join(section.text for section in sections).count("make step-") == 200


def test_what_is_embedded_is_normalised_and_what_is_shown_is_as_written() -> None:
    (section,) = chunk_document(LoadedDocument(title="ﾃｽﾄ", pages=[Page(markdown="ＡＢＣ１２３ ﾊﾝｶｸ ㈱髙橋①")]), 300, 0)
    assert section.text == "ＡＢＣ１２３ ﾊﾝｶｸ ㈱髙橋①"
    assert section.chunks[0].embedded == "テスト\nABC123 ハンカク (株)髙橋1"


def test_a_header_as_large_as_a_chunk_is_not_repeated() -> None:
    table = "| " + "長い見出し" * 40 + " | b |\n| --- | --- |\n" + "".join(f"| {n} | 値 |\n" for n in range(400))
    sections = chunk_document(LoadedDocument(title="t", pages=[Page(markdown=table)]), 100, 0)
    assert all(text_width(section.text) <= 500 for section in sections)
    assert sum("長い見出し" in section.text for section in sections) == 1
