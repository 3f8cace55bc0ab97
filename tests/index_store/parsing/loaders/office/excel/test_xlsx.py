from collections.abc import Callable

import pytest

from index_store.base import errors
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.office.excel.xlsx import load
from tests.index_store.parsing.loaders.excel_file import Value, cells, rows, workbook
from tests.index_store.parsing.loaders.office_file import EXCEL, OfficeFile


@pytest.fixture
def markdown(raw: Callable[..., RawFile]) -> Callable[..., str]:
    def read(xml: str, **given: object) -> str:
        return (
            load(raw(workbook(('name="S"', xml), **given).content(), "a.xlsx"))
            .pages[0]
            .markdown.removeprefix("## S\n\n")
        )

    return read


def test_each_sheet_is_a_heading_with_its_table_and_hidden_ones_are_left_out(raw) -> None:
    table = rows(["名前", "額"], ["佐藤", 1])
    sheets = [('name="旅費"', table), ('name="空"', ""), ('name="計算" state="hidden"', table), ('name="B"', table)]
    loaded = load(raw(workbook(*sheets).content(), "a.xlsx"))
    expected = "| 名前 | 額 |\n| --- | --- |\n| 佐藤 | 1 |\n"
    assert [page.markdown for page in loaded.pages] == [f"## 旅費\n\n{expected}", f"## B\n\n{expected}"]


def test_a_workbook_of_hidden_sheets_alone_is_read(raw) -> None:
    sheets = [('name="H" state="veryHidden"', rows(["a", "b"], ["c", "d"]))]
    assert load(raw(workbook(*sheets).content(), "a.xlsx")).pages[0].markdown.startswith("## H\n")


def test_numbers_dates_and_percents_are_shown_as_the_sheet_shows_them(markdown) -> None:
    xml = f'<row r="1">{cells(1, ["日", "率", "額"])}</row><row r="2"><c r="A2" s="1"><v>46347</v></c>'
    xml += '<c r="B2" s="2"><v>0.125</v></c><c r="C2" s="3"><v>1200</v></c></row>'
    assert "| 2026-11-21 | 12.5% | 1,200 |" in markdown(xml, formats=("yyyy/m/d", "0.0%", "#,##0"))


def test_formulas_booleans_and_errors_are_read_by_the_value_that_was_saved(markdown) -> None:
    xml = rows(["a", "b", "c", "d"]) + (
        '<row r="2"><c r="A2"><f>SUM(1,2)</f><v>3</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" t="e"><v>#N/A</v></c>'
        '<c r="D2" t="str"><f>A1</f><v>text_x000A_more</v></c></row>'
    )
    assert "| 3 | TRUE | #N/A | text more |" in markdown(xml)


def test_a_formula_that_no_program_has_computed_is_shown_itself(markdown) -> None:
    xml = rows(["品目", "金額", "備考"]) + (
        '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><f>B1*C1</f><v></v></c>'
        '<c r="C2" t="str"><f>IF(A2=1,"","済")</f><v></v></c></row>'
    )
    assert markdown(xml).endswith("| 1 | =B1*C1 |  |\n")


@pytest.mark.parametrize(("setting", "expected"), [('fullCalcOnLoad="1"', "=B1-C1"), ("", "0")])
def test_a_zero_that_a_library_saved_for_a_formula_is_no_value(setting: str, expected: str, raw) -> None:
    computed = '<row r="2"><c r="A2"><v>0</v></c><c r="B2"><f>SUM(1,2)</f><v>3</v></c>'
    file = workbook(('name="S"', rows(["a", "b", "c"]) + computed + '<c r="C2"><f>B1-C1</f><v>0</v></c></row>'))
    main = file.parts["xl/workbook.xml"]
    file.parts["xl/workbook.xml"] = main.replace("</workbook>", f"<calcPr {setting}/></workbook>")
    assert f"| 0 | 3 | {expected} |" in load(raw(file.content(), "a.xlsx")).pages[0].markdown


def test_a_raised_figure_is_not_read_as_more_digits_of_the_number_before_it(markdown) -> None:
    raised = '<rPr><vertAlign val="superscript"/></rPr>'
    strings = f"<si><r><t>10</t></r><r>{raised}<t>6</t></r><r><t> m</t></r><r>{raised}<t>2</t></r></si>"
    assert markdown('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', strings=strings) == "10^6 m2\n"


def test_what_is_struck_through_is_marked_in_whole_cells_and_in_parts_of_them(raw) -> None:
    part = "<si><r><rPr><strike/></rPr><t>部長</t></r><r><rPr><b/></rPr><t>課長</t></r></si>"
    xml = rows(["役職", "日当"]) + f'<row r="2"><c r="A2" t="s"><v>0</v></c>{cells(2, [3000], first=1, style=1)}</row>'
    file = workbook(('name="S"', xml), strings=part, formats=("#,##0",))
    styles = file.parts["xl/styles.xml"].replace("<cellXfs>", "<fonts><font/><font><strike/></font></fonts><cellXfs>")
    file.parts["xl/styles.xml"] = styles.replace('numFmtId="164"/></cellXfs>', 'numFmtId="164" fontId="1"/></cellXfs>')
    assert "| ~~部長~~課長 | ~~3,000~~ |" in load(raw(file.content(), "a.xlsx")).pages[0].markdown


def test_furigana_do_not_double_the_text(markdown) -> None:
    strings = '<si><t>豊田</t><rPh sb="0" eb="1"><t>トヨ</t></rPh></si><si><r><t>東</t></r><r><t>京</t></r></si>'
    xml = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>9</v></c></row>'
    assert markdown(xml, strings=strings) == "豊田 東京\n"


def test_a_cell_that_spans_rows_stands_in_each(markdown) -> None:
    xml = f"<sheetData>{rows(['部', '人'], ['営業', '佐藤'], [None, '鈴木'])}</sheetData>"
    xml += '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>'
    assert markdown(xml).endswith("| 営業 | 佐藤 |\n| 営業 | 鈴木 |\n")


def test_header_rows_become_one(markdown) -> None:
    xml = f"<sheetData>{rows(['区分', '額', None], [None, '国内', '海外'], ['日当', 1, 2])}</sheetData>"
    xml += '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>'
    assert markdown(xml) == "| 区分 | 額 国内 | 額 海外 |\n| --- | --- | --- |\n| 日当 | 1 | 2 |\n"


def test_a_row_of_words_below_wide_headers_is_part_of_the_header(markdown) -> None:
    table = rows(
        [None, "東京", None, "大阪", None],
        ["月", "売上", "利益", "売上", "利益"],
        ["1月", 1, 2, 3, 4],
        ["2月", 5, 6, 7, 8],
    )
    xml = f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="B1:C1"/><mergeCell ref="D1:E1"/></mergeCells>'
    assert markdown(xml) == (
        "| 月 | 東京 売上 | 東京 利益 | 大阪 売上 | 大阪 利益 |\n| --- | --- | --- | --- | --- |\n"
        "| 1月 | 1 | 2 | 3 | 4 |\n| 2月 | 5 | 6 | 7 | 8 |\n"
    )


@pytest.mark.parametrize("corners", [("部署", None), (None, "部署")])
@pytest.mark.parametrize("names", [("4月", "5月"), ("2024年度", "2025年度"), ("2024", "2025"), ("Q1", "第2四半期")])
def test_months_and_years_below_wide_headers_are_part_of_the_header(
    corners: tuple[Value, Value], names: tuple[str, str], markdown
) -> None:
    first, second = names
    table = rows(
        [corners[0], "国内", None, "海外", None],
        [corners[1], *names, *names],
        ["東京", 1, 2, 3, 4],
        ["大阪", 5, 6, 7, 8],
    )
    xml = f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="B1:C1"/><mergeCell ref="D1:E1"/></mergeCells>'
    header = f"| 部署 | 国内 {first} | 国内 {second} | 海外 {first} | 海外 {second} |"
    assert markdown(xml).splitlines()[::2] == [header, "| 東京 | 1 | 2 | 3 | 4 |"]


def test_years_in_rows_below_a_wide_header_are_data(markdown) -> None:
    table = rows(["部署", "期間", None], ["東京", "2024年", "2025年"], ["大阪", "2023年", "2024年"])
    xml = f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="B1:C1"/></mergeCells>'
    assert "| 東京 | 2024年 | 2025年 |\n" in markdown(xml)


def test_a_row_of_words_below_header_rows_is_no_part_of_them(markdown) -> None:
    table = rows(["区分", "担当", None], [None, "国内", "海外"], ["営業", "田中", "鈴木"], ["経理", "佐藤", "伊藤"])
    xml = f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>'
    assert markdown(xml).startswith("| 区分 | 担当 国内 | 担当 海外 |\n| --- | --- | --- |\n| 営業 | 田中 | 鈴木 |\n")


@pytest.mark.parametrize(
    ("first", "second", "header"),
    [
        (["製品", "重量", "長さ"], [None, "(kg)", "（m）"], "製品 | 重量 (kg) | 長さ （m）"),
        (["時刻", "気温", "雨量"], ["[時]", "[℃]", "[mm]"], "時刻 [時] | 気温 [℃] | 雨量 [mm]"),
        (["氏名", 1, 2, 3], [None, "月", "火", "水"], "氏名 | 1 月 | 2 火 | 3 水"),
        (["Name", "12/1", "12/2", "12/3"], [None, "Tue", "Wed", "Thu"], "Name | 12/1 Tue | 12/2 Wed | 12/3 Thu"),
    ],
)
@pytest.mark.parametrize("merged", ["", '<mergeCells><mergeCell ref="A1:A2"/></mergeCells>'])
def test_a_row_of_units_or_of_days_of_the_week_is_part_of_the_header(
    merged: str, first: list[Value], second: list[Value], header: str, markdown
) -> None:
    table = rows(first, second, ["A", *range(5, 4 + len(first))], ["B", *range(6, 5 + len(first))])
    assert markdown(f"<sheetData>{table}</sheetData>{merged}").startswith(f"| {header} |\n| ---")


@pytest.mark.parametrize(
    "second",
    [["A", "(休)", "(休)"], [None, "(1,200)", "(300)"], [None, "(休)", "(早)"], [None, "月", "火"], ["A", "月", "1"]],
)
def test_a_row_of_other_words_in_brackets_or_of_a_few_days_is_no_part_of_the_header(
    second: list[Value], markdown
) -> None:
    table = rows(["氏名", "午前", "午後"], second, ["B", "出社", "在宅"])
    assert markdown(table).startswith("| 氏名 | 午前 | 午後 |\n|")


def test_a_title_with_a_name_above_a_roster_of_words_is_no_row_of_it(markdown) -> None:
    shifts = [[name, *"早遅休早"] for name in "佐林森"]
    days = rows(["氏名", 1, 2, 3, 4], [None, "火", "水", "木", "金"], *shifts, first=2)
    assert markdown(rows(["12月勤務表", None, None, "総務部"]) + days).startswith(
        "12月勤務表 総務部\n\n| 氏名 | 1 火 | 2 水 | 3 木 | 4 金 |\n| --- |"
    )


def test_fields_beside_a_label_over_several_rows_are_no_header(markdown) -> None:
    table = rows(
        ["申請者", "氏名", "田中", None, None],
        [None, "所属", "営業部", "番号", 10023],
        [None, "住所", "東京都"],
        ["住居", "種別", "賃貸", "家賃", 95000],
    )
    spans = '<mergeCell ref="A1:A3"/><mergeCell ref="C1:E1"/><mergeCell ref="C3:E3"/>'
    text = markdown(f"<sheetData>{table}</sheetData><mergeCells>{spans}</mergeCells>")
    assert "申請者 | 所属 | 営業部 | 番号 | 10023" in text
    assert "申請者 | 住所 | 東京都" in text


def test_a_form_with_a_table_of_costs_in_it_is_read_row_by_row(markdown) -> None:
    table = rows(
        ["稟議番号", "R8-0147", None, None, "起案日", "2026/10/5"],
        ["起案部署", "総務課", None, None, "起案者", "三宅"],
        ["件名", "複合機の入替"],
        ["費用", "区分", "数量", "単価", "金額", "備考"],
        [None, "リース料", 60, 28500, 1710000, "総額"],
        [None, "合計", None, None, 1710000],
    )
    spans = "".join(f'<mergeCell ref="{at}"/>' for at in ("B1:D1", "B2:D2", "B3:F3", "A4:A6", "B6:D6"))
    assert markdown(f"<sheetData>{table}</sheetData><mergeCells>{spans}</mergeCells>") == (
        "稟議番号 R8-0147 起案日 2026/10/5\n起案部署 総務課 起案者 三宅\n件名 複合機の入替\n"
        "費用 区分 数量 単価 金額 備考\n費用 リース料 60 28500 1710000 総額\n費用 合計 1710000\n"
    )


def test_a_row_of_a_form_above_a_table_is_no_part_of_its_header(markdown) -> None:
    table = rows(
        ["氏名", "佐藤", None, "申請日", "2026/4/30"],
        ["日付", "区間", "交通機関", "目的", "金額"],
        ["4/1", "横浜-川崎", "JR", None, 660],
        ["4/3", "横浜-東京", "JR", "商談", 960],
        ["4/8", "横浜-千葉", None, "納品", 1700],
    )
    assert markdown(f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="B1:C1"/></mergeCells>').startswith(
        "氏名 佐藤 申請日 2026/4/30\n\n| 日付 | 区間 | 交通機関 | 目的 | 金額 |\n| --- |"
    )


@pytest.mark.parametrize(
    "header", [["品名", "2026年4月", None, "備考", "2026年5月"], ["商品", "税込", None, "数量", "送料"]]
)
def test_a_header_that_leaves_a_column_without_a_name_is_no_form(header: list[Value], markdown) -> None:
    assert markdown(rows(header, ["本", 100, 3, "済", 200], ["紙", 200, 4, "未", 300])).startswith(f"| {header[0]} |")


def test_a_form_on_narrow_columns_is_read_by_its_cells(markdown) -> None:
    table = rows(["費目", None, None, "金額", None], ["宿泊", None, None, 100, None], ["日当", None, None, 50, None])
    spans = "".join(f'<mergeCell ref="A{row}:C{row}"/><mergeCell ref="D{row}:E{row}"/>' for row in (1, 2, 3))
    xml = f"<sheetData>{table}</sheetData><mergeCells>{spans}</mergeCells>"
    assert markdown(xml) == "| 費目 | 金額 |\n| --- | --- |\n| 宿泊 | 100 |\n| 日当 | 50 |\n"


def test_tables_below_and_beside_each_other_are_parted(markdown) -> None:
    xml = rows(["a", "b", None, "x", "y"], [1, 2, None, 3, 4]) + rows(["題"], ["c", "d"], ["e", "f"], first=5)
    assert markdown(xml) == (
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| x | y |\n| --- | --- |\n| 3 | 4 |\n\n"
        "題\n\n| c | d |\n| --- | --- |\n| e | f |\n"
    )


def test_an_empty_row_or_column_within_a_table_does_not_part_it(markdown) -> None:
    xml = rows(["品", None, "額"], ["本", None, 100]) + rows(["紙", None, 200], first=4)
    assert markdown(xml) == "| 品 | 額 |\n| --- | --- |\n| 本 | 100 |\n| 紙 | 200 |\n"


def test_a_hidden_column_does_not_part_a_table(markdown) -> None:
    table = rows(["氏名", "部署", "給与", "内線", "メール"], ["山田", "総務", 100, "1234", "y"])
    xml = f'<cols><col min="3" max="3" hidden="1"/></cols><sheetData>{table}</sheetData>'
    assert "| 山田 | 総務 | 1234 | y |" in markdown(xml)


@pytest.mark.parametrize("height", [2, 5])
def test_rows_of_cells_that_are_merged_downwards_are_one_table(height: int, markdown) -> None:
    table = [["番号", "品名", "場所"], ["甲", "机", "会議室"], ["乙", "椅子"]]
    tops = range(1, 1 + 3 * height, height)
    xml = "".join(rows(row, first=top) for row, top in zip(table, tops, strict=True))
    spans = "".join(f'<mergeCell ref="{column}{top}:{column}{top + height - 1}"/>' for column in "ABC" for top in tops)
    assert markdown(f"<sheetData>{xml}</sheetData><mergeCells>{spans}</mergeCells>") == (
        "| 番号 | 品名 | 場所 |\n| --- | --- | --- |\n| 甲 | 机 | 会議室 |\n| 乙 | 椅子 |  |\n"
    )


def test_header_rows_of_cells_that_are_merged_downwards_become_one(markdown) -> None:
    xml = rows(["区分", "額", None]) + rows([None, "国内", "海外"], first=3)
    xml += rows(["日当", 1, 2], first=5) + rows(["宿泊", 3, 4], first=7)
    ranges = [
        "A1:A4",
        "B1:C2",
        "B3:B4",
        "C3:C4",
        *(f"{column}{top}:{column}{top + 1}" for column in "ABC" for top in (5, 7)),
    ]
    spans = "".join(f'<mergeCell ref="{each}"/>' for each in ranges)
    assert markdown(f"<sheetData>{xml}</sheetData><mergeCells>{spans}</mergeCells>") == (
        "| 区分 | 額 国内 | 額 海外 |\n| --- | --- | --- |\n| 日当 | 1 | 2 |\n| 宿泊 | 3 | 4 |\n"
    )


def test_a_column_of_merged_cells_does_not_part_a_table(markdown) -> None:
    table = rows(["No", "品名", None, "数量", "金額"], [1, "机", None, 2, 300], [2, "椅子", None, 4, 500])
    spans = "".join(f'<mergeCell ref="B{row}:C{row}"/>' for row in (1, 2, 3))
    xml = f"<sheetData>{table}</sheetData><mergeCells>{spans}</mergeCells>"
    assert "| No | 品名 | 数量 | 金額 |" in markdown(xml)


def test_a_title_over_tables_that_are_next_to_each_other_does_not_join_them(markdown) -> None:
    table = rows(["売上"], ["a", "b", None, "c", "d", None, "e", "f"], [1, 2, None, 3, 4, None, 5, 6])
    xml = f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="A1:H1"/></mergeCells>'
    assert "| e | f |\n" in markdown(xml)


def test_groups_of_words_with_an_empty_row_between_them_are_one_table(markdown) -> None:
    groups = ["経理", "総務", "営業"]
    xml = rows(["部署", "氏名", "役職"]) + "".join(
        rows([group, "鈴木", "部長"], [group, "田中", "主任"], first=2 + 3 * at) for at, group in enumerate(groups)
    )
    body = "".join(f"| {group} | 鈴木 | 部長 |\n| {group} | 田中 | 主任 |\n" for group in groups)
    assert markdown(xml) == f"| 部署 | 氏名 | 役職 |\n| --- | --- | --- |\n{body}"


def test_groups_of_values_below_months_or_below_a_title_are_one_table(markdown) -> None:
    xml = rows(["売上", None, "千円"], ["月", "4月", "5月"], *[[place, 1, 2] for place in ("東京", "大阪", "福岡")])
    assert markdown(xml + rows(["札幌", 3, 4], first=7)).endswith("| 福岡 | 1 | 2 |\n| 札幌 | 3 | 4 |\n")


def test_months_and_days_that_count_up_name_columns(markdown) -> None:
    months = rows(["項目", "2026/4", "2026/5", "2026/6"], ["区分", "実績", "実績", "見込"], ["売上", 100, 120, 130])
    more = rows(["原価", 60, 70, 80], ["利益", 40, 50, 50], first=4)
    assert markdown(months + more).startswith("| 項目 | 2026/4 | 2026/5 | 2026/6 |\n| --- |")
    shifts = rows(["氏名", "4/1", "4/2", "4/3"], ["山田", "早", "遅", "休"], ["鈴木", "遅", "休", "早"])
    shifts += rows(["佐藤", "休", "早", "遅"], ["田中", "早", "早", "休"], first=5)
    assert markdown(shifts).count("---") == 4


def test_numbers_that_count_up_are_values_below_words(markdown) -> None:
    sales = rows(["品目", "東京", "大阪", "福岡"], ["本", 4, 2, 7], ["筆", 3, 5, 8])
    assert markdown(sales + rows(["紙", 1, 2, 3], ["糊", 6, 4, 9], first=5)).count("---") == 4


def test_a_row_of_totals_above_a_header_is_no_part_of_the_table(markdown) -> None:
    table = rows(["合計", 1000, 2000, 3000], ["項目", "東京", "大阪", "福岡"], ["本", 400, 900, 1000])
    table += rows(["紙", 300, 600, 900], ["筆", 300, 500, 1100], first=4)
    assert markdown(table).startswith("合計 1000 2000 3000\n\n| 項目 | 東京 |")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([["氏名", "役職"], ["佐藤", "部長"]], [["部署", "内線"], ["経理", 10]]),
        ([["氏名", "役職"], ["佐藤", "部長"]], [["氏名", "役職"], ["鈴木", "主任"]]),
        ([["店", "4月"], ["東京", 1]], [["店", "5月"], ["東京", 3]]),
    ],
)
def test_a_header_after_an_empty_row_begins_another_table(
    markdown, first: list[list[Value]], second: list[list[Value]]
) -> None:
    assert markdown(rows(*first) + rows(*second, first=4)).count("| --- | --- |") == 2


def test_a_form_is_read_row_by_row(markdown) -> None:
    xml = rows(["申請書"], ["氏名", "佐藤", None, None, None], [None, None, "部署", "営業", "内線"])
    assert markdown(xml) == "申請書\n\n氏名 佐藤\n部署 営業 内線\n"


def test_questions_and_answers_below_each_other_have_no_header(markdown) -> None:
    asked = [["Q", "半休は取れますか"], ["A", "取れます"], ["Q", "何日前までですか"], ["A", "3日前です"]]
    assert markdown(rows(*asked)) == "Q 半休は取れますか\nA 取れます\nQ 何日前までですか\nA 3日前です\n"


@pytest.mark.parametrize(
    "lines",
    [
        [[1, "申請書を出した", "佐藤"], [2, "領収書を付けた", "田中"], [3, "上長が承認した", "鈴木"]],
        [["No.1", "Form", "HR"], ["No.2", "Receipt", "HR"], ["No.3", "Photo", "IT"]],
        [["①", "申請書", "済"], ["②", "領収書", "済"], ["③", "写真", "未"]],
        [["□", "申請書を出した", "佐藤"], ["☑", "領収書を付けた", "田中"]],
        [["申請書", "佐藤", "□ 済"], ["領収書", "田中", "☑ 済"]],
    ],
)
def test_a_checklist_without_a_header_is_read_row_by_row(lines: list[list[Value]], markdown) -> None:
    assert markdown(rows(*lines)) == "".join(" ".join(map(str, line)) + "\n" for line in lines)


def test_numbers_in_the_first_column_below_its_name_have_a_header(markdown) -> None:
    lines: list[list[Value]] = [["番号", "項目", "確認"], [1, "申請書", "□"], [2, "領収書", "□"], [3, "写真", "□"]]
    assert markdown(rows(*lines)).startswith("| 番号 | 項目 | 確認 |\n")


def test_a_header_that_is_repeated_in_its_table_is_one(markdown) -> None:
    assert markdown(rows(["品", "額"], ["本", 100], ["品", "額"], ["紙", 200])).startswith("| 品 | 額 |\n| --- |")


def test_a_title_with_a_unit_directly_above_a_table_is_no_row_of_it(markdown) -> None:
    months: list[Value] = ["部署", "4月", "5月", "6月"]
    regions: list[list[Value]] = [["東京", 1, 2, 3], ["大阪", 4, 5, 6], ["福岡", 7, None, 9]]
    assert markdown(rows(["部署別売上"], ["上期", None, None, "単位：千円"], months, *regions)) == (
        "部署別売上\n上期 単位：千円\n\n| 部署 | 4月 | 5月 | 6月 |\n| --- | --- | --- | --- |\n"
        "| 東京 | 1 | 2 | 3 |\n| 大阪 | 4 | 5 | 6 |\n| 福岡 | 7 |  | 9 |\n"
    )


def test_a_title_with_a_unit_directly_above_header_rows_is_no_part_of_them(markdown) -> None:
    table = rows(["売上", None, None, None, "千円"], [None, "東京", None, "大阪"], ["月", "計", "実", "計", "実"])
    table += rows(*[[f"{month}月", 1, 2, 3, 4] for month in range(1, 4)], first=4)
    xml = f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="B2:C2"/><mergeCell ref="D2:E2"/></mergeCells>'
    assert markdown(xml).startswith("売上 千円\n\n| 月 | 東京 計 | 東京 実 | 大阪 計 | 大阪 実 |\n")


def test_a_title_above_a_table_of_groups_is_no_row_of_it(markdown) -> None:
    table = rows(
        ["価格表", None, None, "単位：円"],
        ["型番", "品名", "定価", "卸値"],
        ["■ ポンプ"],
        ["P-1", "小型", 10, 8],
        ["■ バルブ"],
        ["V-1", "玉形", 3, 2],
        ["V-2", "仕切", 5, 4],
    )
    assert markdown(table).startswith("価格表 単位：円\n\n| 型番 | 品名 | 定価 | 卸値 |\n")


def test_a_title_with_a_date_and_a_name_directly_above_a_table_is_no_row_of_it(markdown) -> None:
    table = rows(
        ["契約一覧", None, "作成日", "2026/4/1", "作成者", "田中"],
        ["番号", "契約", "相手", "開始", "終了", "金額"],
        *[[number, "保守", "甲社", "2026/4/1", "2027/3/31", 120] for number in (1, 2, 3)],
    )
    assert markdown(table).startswith(
        "契約一覧 作成日 2026/4/1 作成者 田中\n\n| 番号 | 契約 | 相手 | 開始 | 終了 | 金額 |\n"
    )


def test_a_title_with_a_date_directly_above_a_table_of_words_is_no_row_of_it(markdown) -> None:
    table = rows(
        ["問い合わせ窓口", None, None, "2026年4月1日更新"],
        ["内容", "部署", "担当", "方法"],
        *[[name, "総務部", "佐藤", "メール"] for name in ("給与", "経費", "備品")],
    )
    assert markdown(table).startswith("問い合わせ窓口 2026年4月1日更新\n\n| 内容 | 部署 | 担当 | 方法 |\n| --- |")


def test_labels_with_their_values_below_a_date_are_read_row_by_row(markdown) -> None:
    xml = rows(
        ["申請日", "2026/4/1"],
        ["氏名", "佐藤", "所属", "営業部", "役職", "主任"],
        ["電話", "03-1234-5678", "内線", "1234", "社員番号", "00123"],
        ["出張先", "大阪", "目的", "商談", "日数", "3"],
        ["交通費", "28,000", "宿泊費", "9,000", "同行者", "鈴木"],
    )
    assert markdown(xml) == (
        "申請日 2026/4/1\n氏名 佐藤 所属 営業部 役職 主任\n電話 03-1234-5678 内線 1234 社員番号 00123\n"
        "出張先 大阪 目的 商談 日数 3\n交通費 28,000 宿泊費 9,000 同行者 鈴木\n"
    )


def test_bars_and_line_breaks_in_cells_do_not_break_the_table(markdown) -> None:
    assert markdown(rows(["a|b", "c\nd"], ["# x", "y\\|z"])) == "| a\\|b | c d |\n| --- | --- |\n| # x | y\\\\\\|z |\n"


def test_hidden_columns_are_left_out(markdown) -> None:
    xml = f'<cols><col min="2" max="2" hidden="1"/></cols><sheetData>{rows(["a", "pay", "c"], [1, 2, 3])}</sheetData>'
    assert markdown(xml) == "| a | c |\n| --- | --- |\n| 1 | 3 |\n"


def test_a_merged_cell_whose_first_column_is_hidden_is_shown_in_the_others(markdown) -> None:
    table = rows(["店舗別売上"], ["番号", "店舗", "金額"], ["東日本"], [1, "東京", 100], [2, "仙台", 200])
    merged = "".join(f'<mergeCell ref="{place}"/>' for place in ("A1:C1", "A3:C3"))
    xml = (
        f'<cols><col min="1" max="1" hidden="1"/></cols><sheetData>{table}</sheetData><mergeCells>{merged}</mergeCells>'
    )
    written = markdown(xml)
    assert written.startswith("店舗別売上\n\n| 店舗 | 金額 |\n")
    assert "東日本" in written
    assert "番号" not in written


@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_columns_hidden_ten_thousand_times_and_cells_beyond_the_last_column_end_in_time(markdown) -> None:
    hidden = '<col min="2" max="99999999" hidden="1"/><col min="-5" max="-1" hidden="1"/>' * 10_000
    far = '<row r="2"><c r="ZZZ2"><v>1</v></c><c><v>2</v></c></row>'
    assert markdown(f"<cols>{hidden}</cols><sheetData>{rows(['a', 'b', 'c'])}{far}</sheetData>") == "a\n"


@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_a_row_of_a_thousand_small_tables_takes_time_in_proportion(markdown) -> None:
    names = [f"{chr(65 + i)}{chr(65 + j)}{chr(65 + k)}" for i in range(23) for j in range(26) for k in range(26)]
    places = [name for at, name in enumerate(names[:15_000]) if at % 3]
    xml = "".join(
        f'<row r="{row}">' + "".join(f'<c r="{name}{row}"><v>{row}</v></c>' for name in places) + "</row>"
        for row in (1, 2)
    )
    assert markdown(xml).count("| 1 | 1 |\n| --- | --- |\n| 2 | 2 |") == len(places) // 2


def box(text: str, number: int = 1) -> str:
    name = f'<xdr:nvSpPr><xdr:cNvPr id="{number}" name="x"/></xdr:nvSpPr>'
    return f"<xdr:sp>{name}<xdr:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></xdr:txBody></xdr:sp>"


def drawn(shapes: str, more: str = "") -> OfficeFile:
    """A sheet with one cell, and `shapes` over it; `more`: what follows the cells."""
    file = workbook(('name="S"', f"<sheetData>{rows(['a'])}</sheetData>{more}"))
    file.parts["xl/drawings/drawing1.xml"] = f"<xdr:wsDr {EXCEL}>{shapes}</xdr:wsDr>"
    file.links.append(("xl/worksheets/sheet1.xml", "rId1", "drawing", "../drawings/drawing1.xml"))
    return file


def test_text_boxes_on_a_sheet_are_read(raw) -> None:
    assert load(raw(drawn(box("注意")).content(), "a.xlsx")).pages[0].markdown == "## S\n\na\n\n注意\n"


def test_boxes_to_tick_and_buttons_to_choose_keep_their_state(raw) -> None:
    states = {
        7: 'objectType="CheckBox" checked="Checked"',
        8: 'objectType="CheckBox"',
        9: 'objectType="Radio" checked="Checked"',
        10: 'objectType="Radio"',
        11: 'objectType="Label"',
    }
    controls = "".join(f'<control shapeId="{number}" r:id="rId{number}"/>' for number in states)
    file = drawn("".join(box(f"選択{number}", number) for number in states), f"<controls>{controls}</controls>")
    for number, state in states.items():
        file.parts[f"xl/ctrlProps/p{number}.xml"] = f"<formControlPr {EXCEL} {state}/>"
        file.links.append(("xl/worksheets/sheet1.xml", f"rId{number}", "ctrlProp", f"../ctrlProps/p{number}.xml"))
    assert load(raw(file.content(), "a.xlsx")).pages[0].markdown == (
        "## S\n\na\n\n☑ 選択7\n\n☐ 選択8\n\n◉ 選択9\n\n○ 選択10\n\n選択11\n"
    )


def old_box(number: int, label: str, data: str) -> str:
    client = f'<x:ClientData xmlns:x="urn:x" {data}</x:ClientData>'
    text = f"<v:textbox><div><font>{label}</font></div></v:textbox>"
    return f'<v:shape xmlns:v="urn:v" id="_x0000_s{number}">{text}{client}</v:shape>'


def test_boxes_of_a_form_that_an_old_excel_made_are_read_once(raw) -> None:
    shapes = old_box(1, "必要", 'ObjectType="Checkbox"><x:Checked>1</x:Checked>')
    shapes += old_box(2, "不要", 'ObjectType="Checkbox">') + old_box(3, "comment", 'ObjectType="Note">')
    for drawing, expected in (("", "☑ 必要\n\n☐ 不要"), (box("必要", 1), "必要\n\n☐ 不要")):
        file = drawn(drawing)
        file.parts["xl/drawings/vml.vml"] = f"<xml>{shapes}</xml>"
        file.links.append(("xl/worksheets/sheet1.xml", "rId2", "vmlDrawing", "../drawings/vml.vml"))
        assert load(raw(file.content(), "a.xlsx")).pages[0].markdown == f"## S\n\na\n\n{expected}\n"


def test_an_old_drawing_that_is_no_xml_does_not_keep_the_sheet_from_being_read(raw) -> None:
    file = drawn(box("注意"))
    file.parts["xl/drawings/vml.vml"] = "<xml><br></xml>"
    file.links.append(("xl/worksheets/sheet1.xml", "rId2", "vmlDrawing", "../drawings/vml.vml"))
    assert load(raw(file.content(), "a.xlsx")).pages[0].markdown == "## S\n\na\n\n注意\n"


def test_a_diagram_beside_cells_is_read_and_what_older_programs_show_in_place_of_a_shape_is_not(raw) -> None:
    graphic = '<a:graphic><a:graphicData><dgm:relIds r:dm="rIdD"/></a:graphicData></a:graphic>'
    stand_in = "<mc:AlternateContent><mc:Choice/><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>"
    file = drawn(
        stand_in.format(box("この図形はスライサーを表しています。")) + f"<xdr:graphicFrame>{graphic}</xdr:graphicFrame>"
    )
    point = "<dgm:pt><dgm:t><a:p><a:r><a:t>申請</a:t></a:r></a:p></dgm:t></dgm:pt>"
    file.parts["xl/diagrams/d.xml"] = f"<dgm:dataModel {EXCEL}><dgm:ptLst>{point}</dgm:ptLst></dgm:dataModel>"
    file.links.append(("xl/drawings/drawing1.xml", "rIdD", "diagramData", "../diagrams/d.xml"))
    assert load(raw(file.content(), "a.xlsx")).pages[0].markdown == "## S\n\na\n\n- 申請\n"


@pytest.mark.parametrize("formatted", [30_000, pytest.param(1_048_576, marks=pytest.mark.soak)])
def test_rows_that_are_formatted_to_the_end_of_the_sheet_cost_nothing(markdown, formatted: int) -> None:
    empty = "".join(f'<row r="{row}" s="1"><c r="A{row}" s="1"/></row>' for row in range(3, formatted))
    last = '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row>'
    assert markdown(rows(["a", "b"], [1, 2]) + empty + last) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n7\n"


@pytest.mark.parametrize(
    ("merged", "expected"),
    [
        ("C2:D2", "| 山田 | 休 | 出張 | 出張 |\n| 鈴木 | 早 |  |  |\n| 合計 |  |  | 2 |"),
        ("C2:D3", "| 山田 | 休 | 出張 | 出張 |\n| 鈴木 | 早 | 出張 | 出張 |\n| 合計 |  |  | 2 |"),
        ("C2:XFD2", "| 山田 | 休 | 出張 | 出張 |\n| 鈴木 | 早 |  |  |\n| 合計 |  |  | 2 |"),
        ("A4:C4", "| 山田 | 休 | 出張 |  |\n| 鈴木 | 早 |  |  |\n| 合計 |  |  | 2 |"),
    ],
    ids=["over two days", "over two people too", "to the edge of the sheet", "a label"],
)
def test_a_cell_over_several_named_columns_stands_in_each(merged: str, expected: str, markdown) -> None:
    table = rows(["氏名", "月", "火", "水"], ["山田", "休", "出張"], ["鈴木", "早"], ["合計", None, None, 2])
    xml = f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="{merged}"/></mergeCells>'
    assert markdown(xml) == f"| 氏名 | 月 | 火 | 水 |\n| --- | --- | --- | --- |\n{expected}\n"


@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_a_cell_over_several_named_columns_stands_in_each_beside_an_empty_corner(markdown) -> None:
    table = rows([None, "月", "火"], ["午前", "休業"], ["午後", "甲", "乙"])
    xml = f'<sheetData>{table}</sheetData><mergeCells><mergeCell ref="B2:C2"/></mergeCells>'
    assert "| 午前 | 休業 | 休業 |" in markdown(xml)


def test_merged_cells_over_the_whole_sheet_end_in_time(markdown) -> None:
    xml = f"<sheetData>{rows(*[['a', 'b']] * 100)}</sheetData>"
    xml += "<mergeCells>" + '<mergeCell ref="A1:XFD1048576"/>' * 10_000 + "</mergeCells>"
    assert markdown(xml).count("| a | b |") == 100


def test_the_title_is_its_property_or_the_name_of_the_file(raw) -> None:
    sheet = ('name="S"', rows(["a"]))
    assert load(raw(workbook(sheet, title="予算").content(), "file.xlsx")).title == "予算"
    assert load(raw(workbook(sheet, title="Book1").content(), "file.xlsx")).title == "file"


def test_a_workbook_without_text_is_refused(raw) -> None:
    with pytest.raises(errors.NoText):
        load(raw(workbook(('name="S"', "")).content(), "a.xlsx"))


def test_entities_that_swell_are_refused(raw) -> None:
    file = workbook(('name="S"', rows(["a"])), strings="<si><t>&b;</t></si>")
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>'
    file.parts["xl/sharedStrings.xml"] = bomb + file.parts["xl/sharedStrings.xml"]
    with pytest.raises(errors.Unreadable):
        load(raw(file.content(), "a.xlsx"))


def test_tables_side_by_side_below_a_title_each_are_tables_of_their_own(markdown) -> None:
    found = markdown(
        rows(
            ["鍵の貸出表", None, None, None, "緊急連絡先"],
            ["鍵番号", "場所", "保管者", None, "相手", "電話"],
            ["K1", "正面玄関", "三宅", None, "警備会社", "0120-111-222"],
            ["K2", "倉庫", "黒川", None, "ビル管理", "045-000-9999"],
        )
    )
    assert found == (
        "鍵の貸出表\n\n"
        "| 鍵番号 | 場所 | 保管者 |\n| --- | --- | --- |\n| K1 | 正面玄関 | 三宅 |\n| K2 | 倉庫 | 黒川 |\n\n"
        "緊急連絡先\n\n| 相手 | 電話 |\n| --- | --- |\n| 警備会社 | 0120-111-222 |\n| ビル管理 | 045-000-9999 |\n"
    )


def test_a_table_with_an_empty_column_below_one_title_stays_whole(markdown) -> None:
    found = markdown(rows(["実績"], ["氏名", "部", None, "4月", "5月"], ["佐藤", "総務", None, 10, 20]))
    assert found == "実績\n\n| 氏名 | 部 | 4月 | 5月 |\n| --- | --- | --- | --- |\n| 佐藤 | 総務 | 10 | 20 |\n"


@pytest.mark.parametrize("items", [1, 2])
@pytest.mark.parametrize("total", ["小計", "合　計", "Total"])
def test_the_items_of_a_short_order_have_their_header_above_the_total(markdown, total: str, items: int) -> None:
    found = markdown(
        rows(
            ["発注書"],
            ["清水物産株式会社　御中", None, None, None, "発注番号", "PO-2026-0891"],
            [None, None, None, None, "発注日", "2026/11/5"],
            ["No", "品名", "数量", "単位", "単価", "金額"],
            *[[at, "手袋", 50, "箱", 1040, 52000] for at in range(1, items + 1)],
            [None, None, None, None, total, 52000],
        )
    )
    assert "\n| No | 品名 | 数量 | 単位 | 単価 | 金額 |\n| --- |" in found
