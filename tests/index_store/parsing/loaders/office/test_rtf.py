from collections.abc import Callable

import pytest

from index_store.base import errors
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.office.rtf import load
from tests.index_store.parsing.loaders.rtf_file import FONTS, document


@pytest.fixture
def markdown(raw: Callable[..., RawFile]) -> Callable[[str], str]:
    return lambda body: load(raw(document(body), "a.rtf")).pages[0].markdown


def test_text_is_read_in_the_character_set_of_its_font(raw) -> None:
    body = rb"\f0 \'93\'fa\'96\'7b\'8f\'5c\par\pard\f1 caf\'e9 \f3 \'ef\'f0\'e8\par"
    content = rb"{\rtf1\ansi\ansicpg1252" + FONTS.encode() + body + b"}"
    assert load(raw(content, "a.rtf")).pages[0].markdown == "日本十\n\ncafé при\n"


def test_the_second_byte_of_a_character_may_be_written_as_a_letter(raw) -> None:
    content = rb"{\rtf1\ansi\ansicpg932 \'83A\'83\\\'95\'5c}"
    assert load(raw(content, "a.rtf")).pages[0].markdown == "アソ表\n"


@pytest.mark.parametrize(
    ("font", "encoding", "text"),
    [(0, "cp932", "別表：日本の予算、政府ポ"), (5, "gb18030", "北京乗亄亇"), (6, "big5", "成功吒育")],
)
def test_a_brace_or_a_backslash_is_the_second_byte_of_a_character_where_both_are_written_as_they_are(
    font: int, encoding: str, text: str, raw
) -> None:
    fonts = FONTS.removesuffix("}").encode() + rb"{\f5\fcharset134 A;}{\f6\fcharset136 B;}}"
    body = rb"{\f%d " % font + text.encode(encoding) + rb"\par}{\f2 \'fc\par\f1 " + b"\xfc}"
    loaded = load(raw(rb"{\rtf1\ansi\ansicpg932" + fonts + body + b"}", "a.rtf"))
    assert loaded.pages[0].markdown == f"{text}\n\n✓\n\n\ufffd\n"


def test_unicode_characters_replace_what_stands_in_for_them(markdown) -> None:
    assert markdown(r"{\uc1 \u26085?\u26412?}{\uc2 \u-10179??\u-8704??}{\uc0\u20870}x\par") == "日本😀円x\n"


def test_headings_are_known_by_outline_level_and_by_style(markdown) -> None:
    body = r"\pard\s1 One\par\pard\s2 Two\par\pard\outlinelevel2 Three\par\pard\s9 One 1\par\pard # text\par"
    assert markdown(body) == "# One\n\n## Two\n\n### Three\n\n\\# text\n"


def test_tables_are_markdown_tables_and_cells_that_span_rows_stand_in_each(markdown) -> None:
    body = (
        r"\trowd\cellx100\cellx200\pard\intbl 部\cell 額|円\cell\row"
        r"\trowd\clvmgf\cellx100\cellx200\pard\intbl 営業\cell 1\par 円\cell\row"
        r"\trowd\clvmrg\cellx100\cellx200\pard\intbl\cell 2\cell\row\pard after\par"
    )
    assert markdown(body) == "| 部 | 額\\|円 |\n| --- | --- |\n| 営業 | 1 円 |\n| 営業 | 2 |\n\nafter\n"


def test_a_wide_cell_of_a_table_stands_in_each_of_its_columns(markdown) -> None:
    body = (
        r"\trowd\cellx1000\cellx2000\cellx3000\cellx4000\pard\intbl 区分\cell 甲地\cell 乙地\cell 備考\cell\row"
        r"\trowd\cellx1005\cellx3000\cellx4000\pard\intbl 日当\cell 2,000円\cell 定額\cell\row"
        r"\trowd\cellx1000\clmgf\cellx2000\clmrg\cellx3000\cellx4000\pard\intbl 宿泊\cell 実費\cell\cell 上限\cell\row"
        r"\pard after\par"
    )
    assert markdown(body) == (
        "| 区分 | 甲地 | 乙地 | 備考 |\n| --- | --- | --- | --- |\n"
        "| 日当 | 2,000円 | 2,000円 | 定額 |\n| 宿泊 | 実費 | 実費 | 上限 |\n\nafter\n"
    )


@pytest.mark.parametrize("wide", [r"\cellx3000 国内\cell", r"\clmgf\cellx2000\clmrg\cellx3000 国内\cell\cell"])
def test_merged_header_rows_of_a_table_are_one(wide: str, markdown) -> None:
    body = (
        rf"\trowd\pard\intbl\clvmgf\cellx1000 役職\cell{wide}\row"
        r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000\pard\intbl\cell 甲地\cell 乙地\cell\row"
        r"\trowd\cellx1000\cellx2000\cellx3000\pard\intbl 係員\cell 1\cell 2\cell\row\pard after\par"
    )
    assert markdown(body).startswith("| 役職 | 国内 甲地 | 国内 乙地 |\n| --- | --- | --- |\n| 係員 | 1 | 2 |\n")


def test_a_title_in_the_first_row_of_a_table_stands_above_its_header(markdown) -> None:
    body = (
        r"\trowd\pard\intbl\cellx2000 料金\cell\row"
        r"\trowd\cellx1000\cellx2000\pard\intbl 役職\cell 日当\cell\row"
        r"\trowd\cellx1000\cellx2000\pard\intbl 係員\cell 1\cell\row\pard after\par"
    )
    assert markdown(body).startswith("料金\n\n| 役職 | 日当 |\n| --- | --- |\n| 係員 | 1 |\n")


def test_rows_with_as_many_cells_have_the_same_columns_wherever_their_borders_are(markdown) -> None:
    body = (
        r"\trowd\cellx1000\cellx2000\pard\intbl 区分\cell 額\cell\row"
        r"\trowd\cellx1100\cellx2000\pard\intbl 日当\cell 2,000円\cell\row\pard after\par"
    )
    assert markdown(body) == "| 区分 | 額 |\n| --- | --- |\n| 日当 | 2,000円 |\n\nafter\n"


def test_each_item_of_a_list_in_a_cell_has_its_number(markdown) -> None:
    def item(number: int, text: str) -> str:
        return rf"{{\listtext {number}.\tab}}{text}"

    body = (
        r"\trowd\cellx1000\cellx2000\pard\intbl 項目\cell 手順\cell\row"
        r"\trowd\cellx1000\cellx2000\pard\intbl 旅費\cell "
        rf"{item(1, '書く')}\par {item(2, '出す')}\cell\row\pard after\par"
    )
    assert "| 旅費 | 1. 書く 2. 出す |" in markdown(body)


def test_lists_are_lists(markdown) -> None:
    body = r"{\listtext\f2 \'b7\tab}one\par{\listtext 2.\tab}two\par plain\par{\pntext (a)\tab}three\par"
    assert markdown(body) == "- one\n2. two\n\nplain\n\n(a) three\n"


def test_what_is_hidden_deleted_or_not_of_the_body_is_left_out(markdown) -> None:
    body = (
        r"{\header Head}{\footer Foot}{\*\generator Word;}{\info{\author A}}kept{\v hidden}\v no\v0{\deleted gone} on"
        r"{\*\shppict{\pict\pngblip 89504e47}}{\pict\bin4 }}}}}\f2 J\f0\par"
    )
    assert markdown(body) == "kept on\n"


def test_links_notes_and_furigana_keep_their_words(markdown) -> None:
    body = (
        r'{\field{\*\fldinst HYPERLINK "http://x.example"}{\fldrslt the form}}{\footnote not abroad} here '
        r"{\field{\*\fldinst EQ \\* jc2 \\* hps10 \\o\\ad(\\s\\up 9(とうきょう),東京)}{\fldrslt }}\line next\par"
    )
    assert markdown(body) == "the form (not abroad) here 東京\nnext\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"{\f2\'fe} はい {\f2 o} いいえ", "☑ はい ☐ いいえ"),
        (r"{\f2\u-3842\'fe} はい {\f2\u-3928?} いいえ", "☑ はい ☐ いいえ"),
        (r"経費 {\f4\'b3} 5,000円、{\f4 m}m と {\f4 a b}\f0 x", "経費 ≥ 5,000円、μm と α βx"),
        (r"{\f2\'4a}笑", "笑"),
        (r"{\listtext\f2\u-3880\'d8\tab}項目", "- 項目"),
    ],
)
def test_ticks_signs_and_greek_letters_of_symbol_fonts_are_read(body: str, expected: str, markdown) -> None:
    assert markdown(body + r"\par") == expected + "\n"


def test_an_enclosed_character_is_read(markdown) -> None:
    body = r"区分は{\field{\*\fldinst {EQ \\o\\ac(○,}{秘)}}{\fldrslt }}とする\par"
    assert markdown(body) == "区分は秘とする\n"


def test_a_raised_figure_is_not_read_as_more_digits_of_the_number_before_it(markdown) -> None:
    assert markdown(r"10{\super 6} m\super 2\nosupersub  and 1{\super st}\par") == "10^6 m2 and 1st\n"
    assert markdown(r"10\up6 -\u49?{\b 2}\up0  g\par") == "10^-12 g\n"
    assert markdown(r"1,200{\super\chftn{\footnote\plain 10{\super 6} at most}}.\par") == "1,200 (10^6 at most) .\n"


def test_what_is_struck_through_is_marked(markdown) -> None:
    assert markdown(r"日当は{\strike 1,0\b 00円}2,000円\par") == "日当は~~1,000円~~2,000円\n"
    assert markdown(r"\striked1 old\striked0 new\strike off\plain on\par") == "~~old~~new~~off~~on\n"


def test_a_text_box_is_read_once(markdown) -> None:
    box = r"{\shp{\*\shpinst\shpleft1{\sp{\sn a}{\sv b}}{\shptxt boxed\par}}{\shprslt boxed}}"
    assert markdown(rf"before\par{box}after\par") == "before\n\nboxed\n\nafter\n"


def test_the_title_is_its_property_or_its_first_heading(raw) -> None:
    assert load(raw(document(r"{\info{\title 規程}}x\par"), "file.rtf")).title == "規程"
    assert load(raw(document(r"\s1 Heading\par"), "file.rtf")).title == "Heading"
    assert load(raw(document(r"\s1 One\par\s1 Two\par"), "file.rtf")).title == "file"
    assert load(raw(document(r"x\par"), "file.rtf")).title == "file"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", errors.EmptyDocument),
        (rb"{\rtf1\ansi}", errors.NoText),
        (rb"{\rtf1 {\b text", errors.Unreadable),
        (b"just words", errors.Unreadable),
        (b"%PDF-1.4\n%\xe2\xe3\n1 0 obj", errors.WrongContent),
        (rb"{\rtf1 " + b"{" * 60_000, errors.Unreadable),
    ],
)
def test_what_is_no_whole_document_is_refused(raw, content: bytes, error: type[errors.DocumentError]) -> None:
    with pytest.raises(error):
        load(raw(content, "a.rtf"))
