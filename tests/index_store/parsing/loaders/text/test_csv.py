import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import index_store
from index_store.base import errors
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.text.csv import load

TABLE = "| 名前 | 額 |\n| --- | --- |\n| 佐藤 | 2,500 |\n| 鈴木 | 3 |\n"


@pytest.fixture
def markdown(raw: Callable[..., RawFile]) -> Callable[[str | bytes], str]:
    def read(content: str | bytes) -> str:
        return load(raw(content.encode() if isinstance(content, str) else content, "a.csv")).pages[0].markdown

    return read


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_delimiter_is_told_by_the_rows(markdown, delimiter: str, newline: str) -> None:
    rows = [["名前", "額"], ["佐藤", '"2,500"'], ["鈴木", "3"]]
    assert markdown(newline.join(map(delimiter.join, rows)) + newline) == TABLE


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp932", "euc_jp", "iso2022_jp", "utf-16"])
def test_every_japanese_encoding_is_read(markdown, encoding: str) -> None:
    assert markdown('名前,額\n佐藤,"2,500"\n鈴木,3\n'.encode(encoding)) == TABLE


def test_a_few_japanese_names_are_enough_to_tell_the_encoding(markdown) -> None:
    assert (
        markdown("名前,年齢,住所\r\n三木英子,25,大阪\r\n".encode("cp932")).splitlines()[2] == "| 三木英子 | 25 | 大阪 |"
    )


def test_the_delimiter_that_excel_was_told_is_believed(markdown) -> None:
    assert markdown("sep=;\na,x;b\n1,2;3\n") == "| a,x | b |\n| --- | --- |\n| 1,2 | 3 |\n"


def test_a_number_whose_zeros_excel_was_told_to_keep_is_read(markdown) -> None:
    read = markdown('社員番号,名前\n="00123",佐藤\n"=""00124""",鈴木\n')
    assert read.endswith("| 00123 | 佐藤 |\n| 00124 | 鈴木 |\n")


def test_commas_in_prose_do_not_outweigh_the_delimiter(markdown) -> None:
    text = "item;note\npen;red, blue, or green\nink;black\npad;ruled, A4\n"
    assert markdown(text).splitlines()[2] == "| pen | red, blue, or green |"


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_comma_in_each_row_is_no_delimiter_beside_another(markdown, delimiter: str) -> None:
    assert markdown(f"Widerstand, kΩ{delimiter}Preis\n4,7{delimiter}1\n6,8{delimiter}2\n").endswith("| 6,8 | 2 |\n")


def test_quotes_bars_and_line_breaks_in_cells_stay_within_them(markdown) -> None:
    assert markdown('a,b\n"say ""hi"", now","x\ny|z"\n') == '| a | b |\n| --- | --- |\n| say "hi", now | x y\\|z |\n'


def test_quotes_after_a_space_belong_to_their_cell_too(markdown) -> None:
    assert markdown('"名前", "額"\n"佐藤", "2,500"\n"鈴木", "3"\n') == TABLE


def test_a_quotation_mark_that_is_never_closed_costs_no_rows(markdown) -> None:
    text = 'size,name\n"5,bolt\n' + "6,nut\n" * 500
    assert markdown(text).count("| 6 | nut |") == 500


def test_rows_of_unequal_length_keep_their_cells(markdown) -> None:
    assert markdown("a,b\n1\n1,2,3\n") == "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 1 | 2 | 3 |\n"


def test_what_stands_above_the_table_is_no_row_of_it(markdown) -> None:
    assert markdown("売上一覧\n\n月,額\n4月,5\n").startswith("売上一覧\n\n| 月 | 額 |\n")


@pytest.mark.parametrize("yen", ["¥", "￥", "\\"])
def test_a_line_with_a_date_above_the_header_of_amounts_is_no_row_of_it(yen: str, markdown) -> None:
    amounts = f"机,A,{yen}1200\n棚,B,{yen}900\n椅子,C,{yen}700\n"
    assert markdown(f"価格表,,2025年4月\n品名,型番,定価\n{amounts}").startswith(
        "価格表 2025年4月\n\n| 品名 | 型番 | 定価 |\n"
    )


def test_lines_of_an_export_directly_above_the_header_are_no_rows_of_the_table(markdown) -> None:
    lines = "会社名,株式会社A\n出力日時,2026/04/01 09:00\n"
    table = "社員番号,氏名,部署\n001,佐藤,営業\n002,鈴木,\n003,田中,総務\n"
    assert markdown(lines + table).startswith(
        "会社名 株式会社A\n出力日時 2026/04/01 09:00\n\n| 社員番号 | 氏名 | 部署 |\n| --- | --- | --- |\n| 001 |"
    )


def test_names_that_stand_over_several_columns_are_part_of_the_header(markdown) -> None:
    """As the weather agency of Japan writes its data: a CSV has no merged cells, so the names are repeated."""
    text = ",東京,東京,大阪\n年月日,気温(℃),雨量(mm),気温(℃)\n2026/11/1,12.3,0.0,13.5\n2026/11/2,13.1,2.5,14.0\n"
    assert markdown(text.encode()).startswith("| 年月日 | 東京 気温(℃) | 東京 雨量(mm) | 大阪 気温(℃) |\n| ---")
    names = ",東京,大阪\n住所,港区,北区\n社員,12,30\n"
    assert markdown(names.encode()).startswith("|  | 東京 | 大阪 |\n| ---")


@pytest.mark.parametrize("groups", ["4月,,5月,", "4月,4月,5月,5月", "東京,,大阪,", "2025年度,,2026年度,"])
def test_names_that_stand_once_over_the_same_columns_are_part_of_the_header(groups: str, markdown) -> None:
    """As Excel saves merged cells: only the first of them has the text."""
    text = f"月次報告\n,,{groups}\n部署,担当,売上,利益,売上,利益\n営業一課,山田,9,2,8,1\n営業二課,鈴木,7,3,6,2\n"
    first, second = (name for name in dict.fromkeys(groups.split(",")) if name)
    names = " | ".join(f"{group} {name}" for group in (first, second) for name in ("売上", "利益"))
    assert markdown(text.encode()).startswith(f"月次報告\n\n| 部署 | 担当 | {names} |\n| ---")


def test_names_of_columns_may_stand_beside_those_of_groups(markdown) -> None:
    """As Excel saves a header whose other cells are merged over both of its rows."""
    rows = "".join(f"{name},100,20,110,25,255\n" for name in ("東京", "大阪", "福岡"))
    read = markdown(f"支店,上期,,下期,,合計\n,売上,利益,売上,利益,\n{rows}".encode())
    assert read.startswith("| 支店 | 上期 売上 | 上期 利益 | 下期 売上 | 下期 利益 | 合計 |\n| ---")
    words = markdown(f"支店,上期,下期,担当,担当,合計\n,未定,未定,,,\n{rows}".encode())
    assert words.startswith("| 支店 | 上期 | 下期 | 担当 | 担当 | 合計 |\n| ---")


@pytest.mark.parametrize("names", ["売上,利益,件数", "売上,売上,件数"])
def test_names_above_columns_that_need_none_are_no_groups(names: str, markdown) -> None:
    rows = "".join(f"{name},山田,100,20,3\n" for name in ("営業一課", "営業二課", "営業三課"))
    read = markdown(f",,確定,,未定\n部署,担当,{names}\n{rows}".encode())
    assert read.startswith(f"確定 未定\n\n| 部署 | 担当 | {names.replace(',', ' | ')} |\n| ---")


def test_one_column_is_a_list_of_lines(markdown) -> None:
    assert markdown("name\nalpha\nbeta\n") == "name\nalpha\nbeta\n"


def test_the_title_is_the_name_of_the_file(raw) -> None:
    assert load(raw(b"a,b\n1,2\n", "旅費.csv")).title == "旅費"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", errors.EmptyDocument),
        (b",,\n,,\n", errors.NoText),
        (b"%PDF-1.4\n%\xe2\xe3\n1 0 obj", errors.WrongContent),
        (b"a,b\n1,\0\0\0\n", errors.UnknownEncoding),
    ],
)
def test_what_is_no_table_is_refused(raw, content: bytes, error: type[errors.DocumentError]) -> None:
    with pytest.raises(error):
        load(raw(content, "a.csv"))


@pytest.mark.timeout(60)  # seconds; it takes one or two
@pytest.mark.parametrize("rows", [10_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_a_hundred_thousand_rows_are_read_in_seconds(markdown, rows: int) -> None:
    text = markdown("id,name,note\n" + "".join(f"{at},item {at},some words\n" for at in range(rows)))
    assert text.count("\n") == rows + 2


def test_the_module_hides_the_standard_library_from_nobody() -> None:
    root = Path(index_store.__file__).parents[1]
    code = "import index_store.parsing.loaders.text.csv, csv; assert csv.reader"
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0


def test_lines_that_end_in_two_carriage_returns_and_a_newline_are_rows_of_one_table(raw) -> None:
    content = "氏名,部署,備考\r\r\n山田,営業,\r\r\n佐藤,,兼務\r\r\n".encode("cp932")
    assert load(raw(content, "a.csv")).pages[0].markdown == (
        "| 氏名 | 部署 | 備考 |\n| --- | --- | --- |\n| 山田 | 営業 |  |\n| 佐藤 |  | 兼務 |\n"
    )


def test_the_names_of_groups_inside_groups_stand_in_each_of_their_rows(markdown) -> None:
    text = markdown(
        "部,課,氏名,内線\n営業部,第一課,佐藤,1101\n,,鈴木,1102\n,第二課,高橋,1103\n,,田中,1104\n"
        "総務部,人事課,伊藤,1201\n,,渡辺,1202\n,経理課,山本,1203\n,,中村,1204\n"
    )
    assert [row.split(" | ")[:3] for row in text.splitlines()[2:]] == [
        ["| 営業部", "第一課", "佐藤"], ["| 営業部", "第一課", "鈴木"],
        ["| 営業部", "第二課", "高橋"], ["| 営業部", "第二課", "田中"],
        ["| 総務部", "人事課", "伊藤"], ["| 総務部", "人事課", "渡辺"],
        ["| 総務部", "経理課", "山本"], ["| 総務部", "経理課", "中村"],
    ]  # fmt: skip


def test_people_without_a_title_have_none_of_those_above_them(markdown) -> None:
    text = markdown(
        "部,役職,氏名,内線\n営業部,部長,佐藤,1101\n,課長,鈴木,1102\n,,高橋,1103\n,,田中,1104\n"
        "総務部,部長,伊藤,1201\n,課長,渡辺,1202\n,,山本,1203\n"
    )
    assert "| 営業部 |  | 高橋 | 1103 |" in text
    assert "| 総務部 |  | 山本 | 1203 |" in text
