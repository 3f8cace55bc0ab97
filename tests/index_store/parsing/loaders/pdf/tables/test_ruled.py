"""Tables of a PDF's page whose rows and columns have rules between them."""

from collections.abc import Callable, Sequence
from itertools import chain

import pytest

from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.pdf.pdf import load
from tests.index_store.parsing.loaders.pdf_file import PdfFile, Text, painted, rule, rules

COLUMNS = (50, 150, 250, 350)


def in_row(y: float, *cells: str, columns: Sequence[float] = COLUMNS) -> list[Text]:
    """The lines of a cell are below each other."""
    return [
        Text(x + 4, y - 14 * at, text)
        for x, cell in zip(columns, cells, strict=False)
        for at, text in enumerate(cell.split("\n"))
        if text
    ]


@pytest.fixture
def markdown(raw: Callable[..., RawFile]) -> Callable[..., str]:
    def read(*pages: list[Text]) -> str:
        return "\n--\n".join(page.markdown.strip() for page in load(raw(PdfFile(list(pages)).content(), "a.pdf")).pages)

    return read


@pytest.mark.parametrize("height", [640, 633, 626], ids=["top", "middle", "bottom"])
def test_a_cell_of_several_lines_is_one_cell_wherever_the_others_of_its_row_stand(height: int, markdown) -> None:
    page = [Text(50, 720, "手当は次のとおり。"), *rules(COLUMNS, (690, 660, 620, 590, 560))]
    page += [*in_row(670, "手当", "対象", "金額"), *in_row(640, "住宅手当を受け\nる世帯主の者")]
    page += [*in_row(height, "", "正社員", "20,000円"), *in_row(600, "通勤手当", "全員", "実費")]
    page += [*in_row(570, "家族手当", "", "10,000円"), Text(50, 530, "以上。")]
    assert markdown(page) == (
        "手当は次のとおり。\n\n| 手当 | 対象 | 金額 |\n| --- | --- | --- |\n"
        "| 住宅手当を受ける世帯主の者 | 正社員 | 20,000円 |\n| 通勤手当 | 全員 | 実費 |\n"
        "| 家族手当 |  | 10,000円 |\n\n以上。"
    )


def test_texts_that_end_before_their_cell_is_full_stay_apart(markdown) -> None:
    page = [*rules(COLUMNS[:3], (700, 670, 630)), *in_row(680, "担当", "内線", columns=COLUMNS)]
    page += in_row(655, "佐藤\n鈴木", "1234")
    assert markdown(page) == "| 担当 | 内線 |\n| --- | --- |\n| 佐藤 鈴木 | 1234 |"


def test_a_word_that_is_written_downwards_in_a_merged_cell_is_one_word_in_each_row(markdown) -> None:
    page = [*rules((70, 170, 270), (700, 670, 640, 610)), rule(50, 700, 50, 610), rule(50, 700, 70, 700)]
    page += [rule(50, 610, 70, 610), *in_row(690, "申\n請\n者", columns=(50,))]
    for y, cells in ((680, ("氏名", "佐藤")), (650, ("所属", "営業")), (620, ("電話", "1234"))):
        page += in_row(y, *cells, columns=(70, 170))
    assert markdown(page) == (
        "| 申請者 | 氏名 | 佐藤 |\n| --- | --- | --- |\n| 申請者 | 所属 | 営業 |\n| 申請者 | 電話 | 1234 |"
    )


def test_header_rows_of_merged_cells_become_one(markdown) -> None:
    page = [rule(50, y, 350, y) for y in (700, 640, 610, 580)] + [rule(150, 670, 350, 670)]
    page += [rule(x, 580, x, 700) for x in (50, 150, 350)] + [rule(250, 580, 250, 670)]
    page += [*in_row(665, "区分", columns=(50,)), *in_row(680, "", "旅費"), *in_row(650, "", "日当", "宿泊")]
    page += [*in_row(620, "国内", "2,000", "9,800"), *in_row(590, "海外", "5,000", "18,000")]
    assert markdown(page) == (
        "| 区分 | 旅費 日当 | 旅費 宿泊 |\n| --- | --- | --- |\n| 国内 | 2,000 | 9,800 |\n| 海外 | 5,000 | 18,000 |"
    )


def test_a_table_without_its_outer_rules_has_its_outer_cells(markdown) -> None:
    page = [rule(50, y, 350, y) for y in (670, 630)] + [rule(x, 600, x, 700) for x in (150, 250)]
    page += [*in_row(680, "手当", "対象", "金額"), *in_row(655, "住宅手当を受け\nる世帯主の者", "正社員", "20,000円")]
    page += in_row(610, "通勤手当", "全員", "実費")
    assert "| 住宅手当を受ける世帯主の者 | 正社員 | 20,000円 |" in markdown(page)


def test_rows_without_rules_between_them_stay_rows(markdown) -> None:
    page = rules(COLUMNS, (700, 670, 580))
    page += in_row(680, "品名", "数量", "金額")
    for y, name in ((655, "会議机"), (635, "椅子"), (615, "本棚")):
        page += in_row(y, name, "10個", "100円")
    assert "会議机 10個 100円\n椅子 10個 100円\n" in markdown(page).replace("| ", "").replace(" |", "")


def test_text_between_rules_with_nothing_beside_it_is_no_table(markdown) -> None:
    page = rules((50, 60, 350), (700, 660, 620))
    page += [Text(70, 690, "def one():"), Text(70, 676, "    return 1"), Text(70, 650, "def two():")]
    assert "|" not in markdown(page)


def test_rules_that_run_through_the_words_make_no_table(markdown) -> None:
    squares = rules(range(50, 350, 10), range(720, 640, -10))
    assert markdown([*squares, Text(52, 692, "It pays 2,500 yen.")]) == "It pays 2,500 yen."


def test_text_beside_a_ruled_table_is_no_part_of_it(markdown) -> None:
    page = [Text(50, 680, "休暇届"), *rules((200, 260, 320), (700, 670, 640))]
    page += [*in_row(680, "社長", "部長", columns=(200, 260)), *in_row(650, "佐藤", "鈴木", columns=(200, 260))]
    assert markdown(page) == "休暇届\n\n| 社長 | 部長 |\n| --- | --- |\n| 佐藤 | 鈴木 |"


def test_a_ruled_table_that_goes_on_over_pages_has_its_header_on_each(markdown) -> None:
    first = [*rules(COLUMNS, (700, 670, 630)), *in_row(680, "番号", "内容", "期限")]
    first += in_row(655, "1", "見積をもらって\n比べること", "6/1")
    second = [*rules(COLUMNS, (700, 660, 630)), *in_row(685, "2", "発注を決めて連\n絡すること", "6/9")]
    second += in_row(640, "3", "検収", "6/20")
    assert markdown(first, second).endswith(
        "--\n| 番号 | 内容 | 期限 |\n| --- | --- | --- |\n| 2 | 発注を決めて連絡すること | 6/9 |\n| 3 | 検収 | 6/20 |"
    )


def in_rows(*rows: Sequence[str], columns: Sequence[float] = COLUMNS) -> list[Text]:
    """A page that begins with these rows."""
    heights = [780 - 20 * at for at in range(len(rows) + 1)]
    cells = (in_row(height - 15, *row, columns=columns) for height, row in zip(heights, rows, strict=False))
    return [*rules(columns, heights), *chain.from_iterable(cells)]


DUTIES = in_rows(("場面", "手順", "担当"), ("来客", "入館証を渡す", "総務課"))


@pytest.mark.parametrize("desk", ["防災班", ""])
def test_a_ruled_table_of_words_that_goes_on_over_pages_has_its_header_on_each(desk: str, markdown) -> None:
    assert markdown(DUTIES, in_rows(("火災", "避難する", desk), ("停電", "待つ", "各課"))).endswith(
        f"--\n| 場面 | 手順 | 担当 |\n| --- | --- | --- |\n| 火災 | 避難する | {desk} |\n| 停電 | 待つ | 各課 |"
    )


@pytest.mark.parametrize(
    "page",
    [
        in_rows(("場面", "連絡先", "担当"), ("火災", "消防署", "防災班")),
        in_rows(("火災", "避難する", "防災班"), ("停電", "待つ", "各課"), columns=(50, 120, 250, 350)),
        [Text(50, 790, "緊急時"), *in_rows(("火災", "避難する", "防災班"), ("停電", "待つ", "各課"))],
    ],
    ids=["a header of its own", "other columns", "text before it"],
)
def test_another_ruled_table_of_words_has_not_the_header_of_the_one_before(page: list[Text], markdown) -> None:
    assert "手順" not in markdown(DUTIES, page).split("\n--\n")[1]


STAFF = ("部署", "氏名", "内線")
OFFICES = (
    [("営業部", "佐藤", "1101"), ("", "鈴木", "1102"), ("総務部", "田中", "1201"), ("", "高橋", "1202")],
    [("", "伊藤", "1203"), ("", "渡辺", "1204"), ("経理部", "山本", "1301"), ("", "中村", "1302")],
    [("", "小林", "1303"), ("", "加藤", "1304")],
)


@pytest.mark.parametrize("head", [(), (STAFF,)], ids=["once", "each page"])
@pytest.mark.parametrize("is_ruled", [True, False])
def test_the_rows_of_a_group_that_goes_on_over_pages_have_its_name(is_ruled: bool, head, markdown) -> None:
    first, *others = OFFICES
    tables = [in_rows(STAFF, *first), *(in_rows(*head, *rows) for rows in others)]
    if not is_ruled:
        tables = [[text for text in page if text.text.strip()] for page in tables[:2]]
    read = markdown(*tables)
    assert "| 総務部 | 高橋 | 1202 |\n--\n" in read
    assert "| 総務部 | 伊藤 | 1203 |\n| 総務部 | 渡辺 | 1204 |\n| 経理部 | 山本 | 1301 |\n| 経理部 | 中村 |" in read
    assert not is_ruled or read.endswith("| 経理部 | 小林 | 1303 |\n| 経理部 | 加藤 | 1304 |")


def alone(*words: str) -> list[Text]:
    """A page that ends with the header of a table."""
    text = [Text(50, 700 - 20 * at, "The desks of the office are reviewed each year.") for at in range(5)]
    return [*text, *rules(COLUMNS, (90, 60)), *in_row(70, *words)]


@pytest.mark.parametrize("is_ruled", [True, False])
def test_the_header_of_a_table_that_stands_alone_at_the_end_of_a_page_names_its_columns(is_ruled, markdown) -> None:
    pages = [alone(*STAFF), in_rows(*OFFICES[0])]
    if not is_ruled:
        pages = [[text for text in page if text.text.strip()] for page in pages]
    assert "--\n| 部署 | 氏名 | 内線 |\n| --- | --- | --- |\n| 営業部 | 佐藤 | 1101 |" in markdown(*pages)


def test_words_at_the_end_of_a_page_are_no_header_of_a_table_that_has_its_own(markdown) -> None:
    read = markdown(alone("承認", "確認", "作成"), in_rows(STAFF, *OFFICES[0]))
    assert "--\n| 部署 | 氏名 | 内線 |\n| --- | --- | --- |\n| 営業部 | 佐藤 | 1101 |" in read


def test_a_ruled_head_that_stands_on_each_page_is_left_out(markdown) -> None:
    pages = []
    for number, work in enumerate(("受付", "検査", "出荷", "記録"), 1):
        head = [*rules(COLUMNS, (780, 760, 740)), *in_row(765, "文書番号", "QM-1", f"頁 {number}/4")]
        head += in_row(745, "文書名", "品質", "第3版")
        pages.append([*head, Text(50, 700, f"{work}は、手順書に従って進める。")])
    assert markdown(*pages).startswith("受付は、手順書に従って進める。\n--\n検査は")


@pytest.mark.timeout(60)  # seconds; it takes three
def test_a_page_of_ten_thousand_rules_ends_in_time(markdown) -> None:
    drawn = " ".join(f"{x} 0 m {x} 800 l S 0 {x} m 600 {x} l S" for x in range(0, 600, 3)) * 25
    assert "It pays 2,500 yen." in markdown([painted(drawn), Text(50, 700, "It pays 2,500 yen.")])
