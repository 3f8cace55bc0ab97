"""Answers of a model that cites: all markers get the same form, and markers without a passage are dropped."""

import pytest

from rag.models.service.cited_text import CitedText
from tests.rag.passages import PASSAGES
from tests.rag.pieces import in_pieces


def cite(answer: str, size: int = 1000) -> str:
    text = CitedText(PASSAGES)
    shown = "".join(text.feed(answer[i : i + size]) for i in range(0, len(answer), size)) + text.end()
    assert shown == text.answer.text
    return shown


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("2,500円です[1]。", "2,500円です[1]。"),
        ("2,500円です[1, 3]。", "2,500円です[1][3]。"),
        ("2,500円です[1、3]。", "2,500円です[1][3]。"),
        ("2,500円です【1】。", "2,500円です[1]。"),
        ("2,500円です［２］。", "2,500円です[2]。"),
        ("2,500円です[ 1 ]。", "2,500円です[1]。"),
        ("2,500円です[1][9]。", "2,500円です[1]。"),
        ("2,500円です[1, 9]。", "2,500円です[1]。"),
        ("2,500円です[1; 3]。", "2,500円です[1][3]。"),
        ("2,500円です[1-3]。", "2,500円です[1][2][3]。"),
        ("It is so [1–2, 3].", "It is so [1][2][3]."),
        ("2,500円です［１〜９］。", "2,500円です[1][2][3]。"),
        ("2,500円です[資料1]。", "2,500円です[1]。"),
        ("It is so [Passage 1, passage 3].", "It is so [1][3]."),
        ("It is so [1 and 3], [1, 2, and 3].", "It is so [1][3], [1][2][3]."),
        ("2,500円です[1と3]、[1・2]。", "2,500円です[1][3]、[1][2]。"),
        ("It is so [Source 1], [docs 2, 3], [出典1].", "It is so [1], [2][3], [1]."),
        ("It is so [^1] [^9].", "It is so [1]."),
        ("2,500円です\\[1\\]、\\[1, 3\\]。", "2,500円です[1]、[1][3]。"),
        ("a\\[0\\] \\[ 2 \\times 3 \\] \\", "a\\[0\\] \\[ 2 \\times 3 \\] \\"),
        ("It is so【1†L3-L5】【3†source】.", "It is so[1][3]."),
        ("Letters [^1-3], [a1], [and 1], [1†", "Letters [^1-3], [a1], [and 1], [1†"),
        ("It is so [9].", "It is so."),
        ("It is so [1] [9].", "It is so [1]."),
        ("An [optional] word, a[i], [", "An [optional] word, a[i], ["),
        ("Since then [2019-2021], [0-9], [7-9]", "Since then [2019-2021], [0-9], [7-9]"),
        ("From the first [1-2021], [3-1], [資料9]", "From the first [1-2021], [3-1], [資料9]"),
        ("Not closed [1", "Not closed [1"),
        ("", ""),
    ],
)
def test_markers_take_one_form_and_invented_numbers_are_dropped(answer, shown):
    assert cite(answer) == shown


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("2,500円です[資料1および3]。", "2,500円です[1][3]。"),
        ("2,500円です[1及び3]。", "2,500円です[1][3]。"),
        ("2,500円です[資料番号1]。", "2,500円です[1]。"),
        ("2,500円です[番号1、番号3]。", "2,500円です[1][3]。"),
        ("2,500円です【資料：1】。", "2,500円です[1]。"),
        ("It is so [source: 1].", "It is so [1]."),
        ("It is so [Passage: 1, Passage: 3].", "It is so [1][3]."),
        ("2,500円です[出典: 資料1]、【出典：資料1、資料3】。", "2,500円です[1]、[1][3]。"),
        ("It is so [Source: Passage 1], [cite: source 3].", "It is so [1], [3]."),
        ("2,500円です[文書1]、[参考文書3]。", "2,500円です[1]、[参考文書3]。"),
        ("2,500円です[参照: 1]、[根拠：資料1]、[引用3]。", "2,500円です[1]、[1]、[3]。"),
        ("It is so [reference 1], [References: 1, 3].", "It is so [1], [1][3]."),
        ("It is so [Passage #1], [passage number: 3], [資料No.1].", "It is so [1], [3], [1]."),
        ("[#1], [No.1] and [number 1] may be of a document.", "[#1], [No.1] and [number 1] may be of a document."),
        ("It begins at [14:30], or at [1:30] [1].", "It begins at [14:30], or at [1:30] [1]."),
        ("号[および]、[番号]、[: 1]", "号[および]、[番号]、[: 1]"),
    ],
)
@in_pieces(1, 3, 1000)
def test_markers_as_small_models_write_them_are_citations(answer, shown, size):
    assert cite(answer, size) == shown


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("It is so [1, p. 3], [1, 3, pp. 4-5], [passage 1, page 2].", "It is so [1], [1][3], [1]."),
        ("It is so [1 p.3], [1, §2(b)].", "It is so [1], [1]."),
        ("2,500円です[1、第5条]、[資料1 第3条第2項]。", "2,500円です[1]、[1]。"),
        ("2,500円です[資料1：出張旅費規程 > 第3条]、[資料3: 旅費規程 2024]。", "2,500円です[1]、[3]。"),
        ("It is so [Source 1: Travel rules, 2024], [Passage 3 - Hotels].", "It is so [1], [3]."),
        ("性別[1: 男性, 2: 女性]、[資料: 旅費規程]", "性別[1: 男性, 2: 女性]、[資料: 旅費規程]"),
        ("2,500円です[1、3ページ]、[1,3, 12頁]、[資料1 3～4ページ目]。", "2,500円です[1]、[1][3]、[1]。"),
        ("It is so [1, Section 5.2] [3, Article 7] [Passage 2, Table A].", "It is so [1] [3] [2]."),
        ("2,500円です[1、別表2]、[資料3、表1]、（資料2 様式3）。", "2,500円です[1]、[3]、[2]。"),
        ("2,500円です（資料1より）、（資料1、3より引用）、[2より]。", "2,500円です[1]、[1][3]、[2]。"),
        ("2,500円です[資料1参照]、[1参照]、[資料3を参照]。", "2,500円です[1]、[1]、[3]。"),
        ("全部で[3ページ]、[1、3ペア]、[1、3ペ", "全部で[3ページ]、[1、3ペア]、[1、3ペ"),
        ("日当[資料1: 旅費, 資料3: 宿泊]、[資料1: ", "日当[資料1: 旅費, 資料3: 宿泊]、[資料1: "),
        ("It is so [1, p. 3; 3, p. 5], [1 p. 3, 3 p. 5].", "It is so [1, p. 3; 3, p. 5], [1 p. 3, 3 p. 5]."),
        ("全部で[1、別", "全部で[1、別"),
        ("See [p. 3], [9001, p. 3], [第5条], [1, n], [1, p", "See [p. 3], [9001, p. 3], [第5条], [1, n], [1, p"),
    ],
)
@in_pieces(1, 3, 1000)
def test_a_marker_with_a_place_in_the_passage_cites_the_passage(answer, shown, size):
    assert cite(answer, size) == shown


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("2,500円です（資料1）。半額です（資料1、資料3）。", "2,500円です[1]。半額です[1][3]。"),
        ("2,500円です(資料１)。半額です（出典：資料3）。", "2,500円です[1]。半額です[3]。"),
        ("2,500円です（資料1、第5条）（注）、（資料3 5ページ）。", "2,500円です[1]（注）、[3]。"),
        ("2,500円です（資料1：旅費規程）（注）。", "2,500円です[1]（注）。"),
        ("It is so (Source 1), (passages 1 and 3), [Ref. 3].", "It is so [1], [1][3], [3]."),
        ("2,500円です（参照：資料1）。半額です（根拠: 資料1、資料3）。", "2,500円です[1]。半額です[1][3]。"),
        ("2,500円です（資料1参照）。半額です(資料3を参照)。", "2,500円です[1]。半額です[3]。"),
        ("（参照：第3条）（参照） （根拠: 規程） （参照：資料） (根", None),
        ("(1) 申請 （2）承認 (p (pass (sources (資料 （資料9） （番号1） (form 1) (資", None),
    ],
)
@in_pieces(1, 3, 1000)
def test_a_marker_with_a_label_may_stand_in_round_brackets_and_a_number_alone_is_of_a_list(answer, shown, size):
    assert cite(answer, size) == (shown or answer)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("2,500円です[citation:1][citation:3]。", "2,500円です[1][3]。"),
        ("[cite_start]It is so [cite: 1, 3]. [cite_start]So is this [cite: 2].", "It is so [1][3]. So is this [2]."),
        ("- [cite_start]**日当:** 2,500円です[cite: 1-2]。[cite_end]", "- **日当:** 2,500円です[1][2]。"),
        ("`[cite_start]` is a sign, [cite_it] is none, nor is [cite_start", None),
    ],
)
@in_pieces(1, 3, 1000)
def test_markers_as_deepseek_and_gemini_are_trained_to_write_them_are_citations(answer, shown, size):
    assert cite(answer, size) == (shown or answer)


@pytest.mark.parametrize(
    "answer",
    [
        "can be set in [0, 100] ms",
        "値の範囲は[0, 1]です。",
        "x ∈ [15, 30]",
        "[1, 100] から選びます",
        "[5, 7]",
        "様式[12]を出します",
        "[1、表面]と[2より大きい]",
        "[1 table of the form]",
        "ISO [9001]",
        "array[0]",
        "Section [2025, 1]",
        "[1, 3-100]",
    ],
)
@in_pieces(1, 3, 1000)
def test_numbers_in_brackets_that_no_passage_can_have_stay_and_cite_nothing(answer, size):
    assert cite(f"{answer} [2].", size) == f"{answer} [2]."
    text = CitedText(PASSAGES)
    text.feed(answer)
    text.end()
    assert text.answer.cited == ()


def test_without_passages_markers_are_dropped_and_other_numbers_stay():
    text = CitedText([])
    assert text.feed("Yes [1], of [0, 100].") + text.end() == "Yes, of [0, 100]."


CODE = [
    "`items[0]`, `sys.argv[1]` and ``a`[9]``",
    "```python\nfirst = items[0]\n\nsecond = items[1]  # `\n```\n",
    "1. Run:\n\n   ```\n   a[0]\n   ```\n",
    "- ```\n  a[0]\n  ```\n",
    "> ```\n> a[0]\n> ```\n",
    "````\n```\na[0]\n```\n````\n",
    "```\na[0], of which the end is missing",
]


@pytest.mark.parametrize("code", CODE)
@in_pieces(1, 2, 3, 1000)
def test_code_stays_as_it_is_and_cites_nothing(code, size):
    text = CitedText(PASSAGES)
    shown = [text.feed(code[at : at + size]) for at in range(0, len(code), size)]
    assert "".join(shown) + text.end() == code
    assert text.answer.cited == ()


@in_pieces(1, 2, 3, 1000)
def test_what_stands_beside_code_is_cited(size):
    assert cite("`a[0]` は [2, 9] です[1]。\n```\na[0]\n```\n[1-2]", size) == (
        "`a[0]` は [2] です[1]。\n```\na[0]\n```\n[1][2]"
    )


@in_pieces(1, 2, 3, 1000)
@pytest.mark.parametrize("marker", ["[1]", "【1】", "［資料1］"])
@pytest.mark.parametrize(("indent", "sign"), [("", ""), ("   ", "1. "), ("> ", "> ")])
def test_a_marker_on_the_line_that_ends_code_cites_and_ends_it(indent, sign, marker, size):
    code = f"{sign}```bash\n{indent}a[0]\n{indent}```"
    for space in ("", " "):
        shown = cite(f"{code}{space}{marker}\n\nIt is so [3].", size)
        assert shown.replace("``` \n", "```\n") == f"{code}\n{indent}[1]\n\nIt is so [3]."


@in_pieces(1, 2, 3, 1000)
@pytest.mark.parametrize(
    "sign", ["`", "``` and `", "\\` and `", "`\n`", f"` {'long ' * 100}` "], ids=["1", "2", "3", "lines", "long"]
)
def test_a_backtick_that_is_never_closed_hides_no_marker(sign, size):
    assert cite(f"An {sign}odd sign [9], it is so [1, 2].", size) == f"An {sign}odd sign, it is so [1][2]."


@in_pieces(*range(1, 12))
def test_the_size_of_the_pieces_changes_no_cited_text(size):
    answer = "日当は2,500円です[1, 3]。半額[9]にも【２】なります ［３］。[x] 12 [資料 1-2] [passage] `a[0]` [1"
    assert cite(answer, size) == cite(answer)


WRAPPED = "2,500円です[1]。\n\n```\na[1]\n```\n\n半額です[3]。"


@in_pieces(1, 2, 3, 1000)
@pytest.mark.parametrize("opening", ["```markdown\n", "\n```md \n", "```Markdown\n"])
@pytest.mark.parametrize("closing", ["\n```", "\n```\n", "\n ``` \n\n"])
def test_an_answer_that_is_written_as_a_file_of_markdown_is_read_as_an_answer(opening, closing, size):
    assert cite(opening + WRAPPED + closing, size) == WRAPPED


@in_pieces(1, 3, 1000)
@pytest.mark.parametrize(
    "answer", ["```python\na[1]\n```", "```mdx\na[1]\n```", "```", "`md` [1]", f"{' ' * 50}```md\n[1]\n```"]
)
def test_other_fences_stay(answer, size):
    assert cite(answer, size) == answer


def test_a_fence_around_an_answer_that_is_cut_off_is_left_out_too():
    assert cite("```markdown\n2,500円です[1]。\n\n- 半額", 3) == "2,500円です[1]。\n\n- 半額"


def test_what_is_cited_is_listed_once_in_the_order_of_the_answer():
    text = CitedText(PASSAGES)
    text.feed("a[3]b[1]c[3]")
    text.end()
    assert text.answer.cited == (3, 1)


def test_a_piece_is_passed_on_at_once_unless_a_marker_may_have_begun():
    text = CitedText(PASSAGES)
    assert [text.feed(piece) for piece in ("日当は", "です[", "1", "]", "。")] == ["日当は", "です", "", "[1]", "。"]
