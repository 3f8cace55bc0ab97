from collections.abc import Callable

import pytest

from index_store.base import errors
from index_store.parsing.loaders.document import Page, RawFile
from index_store.parsing.loaders.office.pptx import load
from tests.index_store.parsing.loaders.office_file import POWERPOINT, OfficeFile
from tests.index_store.parsing.loaders.powerpoint_file import BULLET, at, deck, frame, paragraph, shape, title, tree


def related(file: OfficeFile, name: str, kind: str, xml: str) -> OfficeFile:
    """Adds a part that the first slide refers to."""
    file.parts[f"ppt/{name}"] = xml
    file.links.append(("ppt/slides/slide1.xml", f"rId{kind}", kind, f"../{name}"))
    return file


@pytest.fixture
def pages(raw: Callable[..., RawFile]) -> Callable[..., list[Page]]:
    def read(file: OfficeFile) -> list[Page]:
        return load(raw(file.content(), "a.pptx")).pages

    return read


def test_each_slide_is_a_page_under_its_title_with_its_number(pages) -> None:
    found = pages(deck(title("旅費"), "", title("Daily\nallowance") + shape("2,500 yen", place=at(0, 50))))
    assert [(page.number, page.markdown) for page in found] == [
        (1, "## 旅費\n"),
        (3, "## Daily allowance\n\n2,500 yen\n"),
    ]


def test_a_slide_without_a_title_has_its_first_line_or_its_number(pages) -> None:
    found = pages(deck(shape("Overview", place=at(0, 0)) + shape("Text", place=at(0, 50)), shape("x" * 200)))
    assert [page.markdown for page in found] == ["## Overview\n\nText\n", f"## 2\n\n{'x' * 200}\n"]


def test_hidden_slides_are_read_and_hidden_shapes_are_not(pages) -> None:
    found = pages(deck(title("Backup") + shape("secret", hidden=True), attributes='show="0"'))
    assert found[0].markdown == "## Backup\n"


def test_slides_with_a_picture_but_no_text_are_told(raw) -> None:
    picture = "<p:grpSp><p:pic/></p:grpSp>"
    slides = [title("Travel"), picture, "", title("Map") + picture, picture, picture]
    assert load(raw(deck(*slides).content(), "a.pptx")).pages_without_text == "2, 5-6"


def test_lists_keep_their_levels_and_numbers(pages) -> None:
    number = '<a:buAutoNum type="arabicPeriod"/>'
    body = shape(
        paragraph("one", number), paragraph("inner", BULLET, 1), paragraph("two", number), "plain", place=at(0, 50)
    )
    placeholder = shape("first", "second", paragraph("none", "<a:buNone/>"), place=at(0, 90), holder='idx="1"')
    assert pages(deck(title("T") + body + placeholder))[0].markdown == (
        "## T\n\n1. one\n  - inner\n2. two\nplain\n\n- first\n- second\nnone\n"
    )


@pytest.mark.parametrize(
    ("number", "marks"),
    [
        ('type="arabicPeriod"', ["1.", "2."]),
        ('type="arabicPeriod" startAt="4"', ["4.", "5."]),
        ('type="circleNumDbPlain" startAt="4"', ["④", "⑤"]),
        ('type="arabicParenR"', ["1)", "2)"]),
        ('type="alphaLcParenBoth"', ["(a)", "(b)"]),
        ('type="romanUcPeriod" startAt="9"', ["IX.", "X."]),
        ('type="arabicDbPeriod"', ["１.", "２."]),
        ('type="ea1JpnKorPlain"', ["一", "二"]),
        ('type="thaiNumPeriod" startAt="0"', ["1.", "2."]),
    ],
)
def test_a_numbered_list_has_the_numbers_of_the_slide(number: str, marks: list[str], pages) -> None:
    body = shape(*(paragraph("x", f"<a:buAutoNum {number}/>") for _ in marks), place=at(0, 50))
    lines = pages(deck(title("T") + body))[0].markdown.splitlines()[2:]
    assert lines == [f"{mark} x" for mark in marks]


def test_numbers_begin_again_after_a_paragraph_without_one_and_in_a_list_of_another_kind(pages) -> None:
    one, circle = '<a:buAutoNum type="arabicPeriod"/>', '<a:buAutoNum type="circleNumDbPlain"/>'
    paragraphs = [paragraph("a", one), paragraph("b", one), "text", paragraph("c", one), paragraph("inner", "", 1)]
    paragraphs += [paragraph("d", one), paragraph("e", circle)]
    assert pages(deck(title("T") + shape(*paragraphs, place=at(0, 50))))[0].markdown == (
        "## T\n\n1. a\n2. b\ntext\n1. c\ninner\n2. d\n① e\n"
    )


def test_shapes_are_read_in_bands_and_columns_however_they_were_drawn(pages) -> None:
    shapes = shape("right 2", place=at(200, 115, height=40)) + shape("left 2", place=at(0, 130, height=60))
    shapes += shape("right 1", place=at(200, 50)) + shape("left 1", place=at(0, 50, height=70)) + title("T")
    shapes += shape("bottom", place=at(0, 300, 300))
    assert pages(deck(shapes))[0].markdown.split("\n\n")[1:] == ["left 1", "left 2", "right 1", "right 2", "bottom\n"]


def test_columns_that_are_compared_are_read_each_below_its_name(pages) -> None:
    shapes = title("比較") + shape("現行システム", place=at(0, 50)) + shape("手作業", "紙", place=at(0, 80, height=200))
    shapes += shape("新システム", place=at(120, 50)) + shape("自動", "電子", place=at(120, 80, height=200))
    assert pages(deck(shapes))[0].markdown == "## 比較\n\n現行システム\n\n手作業\n紙\n\n新システム\n\n自動\n電子\n"


def test_frames_that_overlap_a_little_are_read_from_top_to_bottom(pages) -> None:
    shapes = shape("3", place=at(0, 148, 300, 50)) + shape("1", place=at(0, 50, 300, 50))
    shapes += shape("2", place=at(0, 99, 300, 50))
    assert pages(deck(title("流れ") + shapes))[0].markdown == "## 流れ\n\n1\n\n2\n\n3\n"


def test_a_grid_is_read_row_by_row_if_it_was_drawn_so(pages) -> None:
    places = (at(0, 50), at(120, 50), at(0, 80), at(120, 80))
    shapes = "".join(shape(str(number), place=place) for number, place in enumerate(places, 1))
    assert pages(deck(title("T") + shapes))[0].markdown == "## T\n\n1\n\n2\n\n3\n\n4\n"


@pytest.mark.parametrize(
    "drawn",
    [
        shape(place=at(0, 40, 400, 300)),
        shape(" ", place=at(0, 40, 400, 300)),
        f"<p:cxnSp><p:nvCxnSpPr/><p:spPr>{at(50, 40, 0, 300)}</p:spPr></p:cxnSp>",
    ],
    ids=["panel", "panel with a space", "line"],
)
def test_a_panel_or_a_line_behind_the_texts_does_not_change_their_order(drawn: str, pages) -> None:
    steps = {"3": 250, "1": 60, "2": 150}
    texts = "".join(shape(text, place=at(10, top)) for text, top in steps.items())
    assert pages(deck(title("流れ") + drawn + texts))[0].markdown == "## 流れ\n\n1\n\n2\n\n3\n"


def test_a_slide_of_a_thousand_shapes_cut_off_one_by_one_is_read(pages) -> None:
    size = 4000
    spiral = [
        at(n * 2, n * 2, 1, size - n * 2) if n % 2 else at(n * 2, n * 2, size - n * 2, 1) for n in range(size // 2)
    ]
    (page,) = pages(deck(title("題") + "".join(shape(str(n), place=place) for n, place in enumerate(spiral))))
    assert all(f"\n{n}\n" in page.markdown for n in range(size // 2))


def test_a_placeholder_stands_where_its_layout_or_master_has_it(pages) -> None:
    file = deck(
        shape("below", holder='idx="7"') + shape("Title", holder='type="title"') + shape("free", place=at(0, 50))
    )
    body = tree(shape("x", place=at(0, 90), holder='idx="7"'))
    related(file, "slideLayouts/l.xml", "slideLayout", f"<p:sldLayout {POWERPOINT}>{body}</p:sldLayout>")
    heading = tree(shape("x", place=at(0, 0), holder='type="title"'))
    master = f"<p:sldMaster {POWERPOINT}>{heading}</p:sldMaster>"
    file.parts["ppt/slideMasters/m.xml"] = master
    file.links.append(("ppt/slideLayouts/l.xml", "rId1", "slideMaster", "../slideMasters/m.xml"))
    assert pages(file)[0].markdown == "## Title\n\nfree\n\nbelow\n"


def test_groups_are_read_where_they_stand(pages) -> None:
    inner = shape("b", place=at(10, 90)) + shape("a", place=at(10, 10))
    group = f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr>{at(0, 50)}</p:grpSpPr>{inner}</p:grpSp>"
    assert pages(deck(shape("end", place=at(0, 99)) + group + title("T")))[0].markdown == "## T\n\na\n\nb\n\nend\n"


def test_tables_are_markdown_tables_and_cells_that_span_rows_stand_in_each(pages) -> None:
    def cell(text: str, given: str = "") -> str:
        return f"<a:tc {given}><a:txBody>{paragraph(text)}</a:txBody></a:tc>"

    rows = [cell("部") + cell("額|円"), cell("営業", 'rowSpan="2"') + cell("1"), cell("", 'vMerge="1"') + cell("2")]
    table = "<a:tbl>" + "".join(f"<a:tr>{row}</a:tr>" for row in rows) + "</a:tbl>"
    assert pages(deck(title("T") + frame(table)))[0].markdown == (
        "## T\n\n| 部 | 額\\|円 |\n| --- | --- |\n| 営業 | 1 |\n| 営業 | 2 |\n"
    )


def test_a_raised_figure_is_not_read_as_more_digits_of_the_number_before_it(pages) -> None:
    runs = (("10", 0), ("6", 30000), (" m", 0), ("2", 30000), (" 2", 0), ("1", -25000))
    text = "".join(f'<a:r><a:rPr baseline="{baseline}"/><a:t>{text}</a:t></a:r>' for text, baseline in runs)
    assert pages(deck(title("a") + shape(f"<a:p>{text}</a:p>")))[0].markdown == "## a\n\n10^6 m2 21\n"


def test_what_is_struck_through_is_marked(pages) -> None:
    lines = {"sngStrike": "1,000円", "noStrike": "2,000円"}
    runs = "".join(f'<a:r><a:rPr strike="{line}"/><a:t>{text}</a:t></a:r>' for line, text in lines.items())
    (page,) = pages(deck(title("日当") + shape(f"<a:p>{runs}</a:p>", place=at(0, 50))))
    assert "~~1,000円~~2,000円" in page.markdown


def test_header_rows_become_one(pages) -> None:
    def cell(text: str, given: str = "") -> str:
        return f"<a:tc {given}><a:txBody>{paragraph(text)}</a:txBody></a:tc>"

    rows = [
        cell("部署", 'rowSpan="2"') + cell("上期", 'gridSpan="2"') + cell("", 'hMerge="1"'),
        cell("", 'vMerge="1"') + cell("計画") + cell("実績"),
        cell("東京") + cell("1") + cell("2"),
    ]
    table = "<a:tbl>" + "".join(f"<a:tr>{row}</a:tr>" for row in rows) + "</a:tbl>"
    assert pages(deck(title("T") + frame(table)))[0].markdown == (
        "## T\n\n| 部署 | 上期 計画 | 上期 実績 |\n| --- | --- | --- |\n| 東京 | 1 | 2 |\n"
    )


def test_a_title_in_the_first_row_of_a_table_stands_above_its_header(pages) -> None:
    def cell(text: str, given: str = "") -> str:
        return f"<a:tc {given}><a:txBody>{paragraph(text)}</a:txBody></a:tc>"

    rows = [cell("実績", 'gridSpan="2"') + cell("", 'hMerge="1"'), cell("部署") + cell("額"), cell("東京") + cell("1")]
    table = "<a:tbl>" + "".join(f"<a:tr>{row}</a:tr>" for row in rows) + "</a:tbl>"
    assert pages(deck(title("T") + frame(table)))[0].markdown == (
        "## T\n\n実績\n\n| 部署 | 額 |\n| --- | --- |\n| 東京 | 1 |\n"
    )


def test_a_corner_over_several_rows_and_columns_is_part_of_a_header_of_several_rows(pages) -> None:
    def cell(text: str, given: str = "") -> str:
        return f"<a:tc {given}><a:txBody>{paragraph(text)}</a:txBody></a:tc>"

    beside = cell("", 'hMerge="1"')
    rows = [
        cell("区分", 'rowSpan="2" gridSpan="2"') + beside + cell("宿泊料", 'gridSpan="2"') + beside,
        cell("", 'vMerge="1" gridSpan="2"') + cell("", 'vMerge="1" hMerge="1"') + cell("甲地") + cell("乙地"),
        cell("役員") + cell("社長") + cell("1") + cell("2"),
    ]
    table = "<a:tbl>" + "".join(f"<a:tr>{row}</a:tr>" for row in rows) + "</a:tbl>"
    assert "| 区分 | 区分 | 宿泊料 甲地 | 宿泊料 乙地 |" in pages(deck(title("T") + frame(table)))[0].markdown


def test_a_cell_over_several_named_columns_stands_in_each(pages) -> None:
    def cell(text: str, given: str = "") -> str:
        return f"<a:tc {given}><a:txBody>{paragraph(text)}</a:txBody></a:tc>"

    rows = [
        cell("") + cell("月") + cell("火"),
        cell("午前") + cell("休業", 'gridSpan="2"') + cell("", 'hMerge="1"'),
        cell("合計", 'gridSpan="2"') + cell("", 'hMerge="1"') + cell("2"),
    ]
    table = "<a:tbl>" + "".join(f"<a:tr>{row}</a:tr>" for row in rows) + "</a:tbl>"
    assert pages(deck(title("T") + frame(table)))[0].markdown == (
        "## T\n\n|  | 月 | 火 |\n| --- | --- | --- |\n| 午前 | 休業 | 休業 |\n| 合計 |  | 2 |\n"
    )


def in_font(text: str, kind: str, font: str) -> str:
    return f'<a:r><a:rPr><a:{kind} typeface="{font}"/></a:rPr><a:t>{text}</a:t></a:r>'


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (in_font("þ", "latin", "Wingdings"), "☑"),
        (in_font("\uf0a8", "latin", "Wingdings"), "☐"),
        (in_font("a", "latin", "Symbol"), "α"),
        (in_font("à 承認 a", "sym", "Wingdings"), "→ 承認 a"),
        (in_font("\uf0e0für", "sym", "Wingdings"), "→für"),
        (in_font("þ", "latin", "Arial"), "þ"),
    ],
)
def test_ticks_signs_and_greek_letters_of_symbol_fonts_are_read(runs: str, expected: str, pages) -> None:
    assert pages(deck(title("T") + shape(f"<a:p>{runs}</a:p>")))[0].markdown == f"## T\n\n{expected}\n"


def test_a_formula_stands_on_one_line(pages) -> None:
    def term(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    power = f"<m:sSup><m:e>{term('10')}</m:e><m:sup>{term('6')}</m:sup></m:sSup>"
    half = f"<m:f><m:num>{term('1')}</m:num><m:den>{term('2')}</m:den></m:f>"
    root = f"<m:rad><m:deg/><m:e>{term('3')}</m:e></m:rad>"
    formula = f'<m:oMath xmlns:m="urn:m">{power}{term("×")}{half}{term("+2")}{root}</m:oMath>'
    text = f'<a:r><a:t>上限は</a:t></a:r><a14:m xmlns:a14="urn:a14">{formula}</a14:m><a:r><a:t>円</a:t></a:r>'
    assert pages(deck(title("a") + shape(f"<a:p>{text}</a:p>")))[0].markdown == "## a\n\n上限は10^6×1/2+2√3円\n"


def test_notes_follow_as_a_quotation(pages) -> None:
    notes = shape("x", holder='type="sldNum"') + shape("say this", "and\nthat", holder='type="body" idx="1"')
    file = related(deck(title("T")), "n.xml", "notesSlide", f"<p:notes {POWERPOINT}>{tree(notes)}</p:notes>")
    assert pages(file)[0].markdown == "## T\n\n> say this\n> and\n> that\n"


def test_dates_footers_and_slide_numbers_are_left_out(pages) -> None:
    furniture = "".join(shape("2026", holder=f'type="{kind}"') for kind in ("dt", "ftr", "sldNum"))
    assert pages(deck(title("T") + furniture))[0].markdown == "## T\n"


def points(tag: str, *values: str, code: str = "") -> str:
    """Values of a series, in a chart."""
    found = "".join(f'<c:pt idx="{place}"><c:v>{value}</c:v></c:pt>' for place, value in enumerate(values))
    if not code:
        return f"<c:{tag}><c:strRef><c:strCache>{found}</c:strCache></c:strRef></c:{tag}>"
    cache = f"<c:numCache><c:formatCode>{code}</c:formatCode>{found}</c:numCache>"
    return f"<c:{tag}><c:numRef>{cache}</c:numRef></c:{tag}>"


def with_chart(drawn: str, settings: str = "") -> OfficeFile:
    file = deck(title("T") + frame('<c:chart r:id="rIdchart"/>'))
    chart = f"{settings}<c:chart>{drawn}</c:chart>"
    return related(file, "charts/c.xml", "chart", f"<c:chartSpace {POWERPOINT}>{chart}</c:chartSpace>")


def test_charts_are_tables_of_their_values(pages) -> None:
    series = "".join(
        f"<c:ser>{points('tx', name)}{points('cat', '4月', '05')}{points('val', *values)}</c:ser>"
        for name, values in (("東京", ("1", "2")), ("大阪", ("3", "4")))
    )
    drawn = f"<c:plotArea><c:barChart>{series}</c:barChart></c:plotArea>"
    assert pages(with_chart(f"<c:title>{paragraph('売上')}</c:title>{drawn}"))[0].markdown == (
        "## T\n\n売上\n\n|  | 東京 | 大阪 |\n| --- | --- | --- |\n| 4月 | 1 | 3 |\n| 05 | 2 | 4 |\n"
    )


def test_the_titles_of_the_axes_of_a_chart_stand_above_its_values(pages) -> None:
    def axis(kind: str, words: str) -> str:
        return f"<c:{kind}><c:title>{paragraph(words)}</c:title></c:{kind}>"

    series = f"<c:ser>{points('tx', '東京')}{points('cat', '4月')}{points('val', '1')}</c:ser>"
    axes = axis("catAx", "") + axis("valAx", "単位：百万円") + axis("valAx", "率（％）")
    drawn = f"<c:plotArea><c:barChart>{series}</c:barChart>{axes}</c:plotArea>"
    assert pages(with_chart(f"<c:title>{paragraph('売上')}</c:title>{drawn}"))[0].markdown == (
        "## T\n\n売上\n\n単位：百万円\n\n率（％）\n\n|  | 東京 |\n| --- | --- |\n| 4月 | 1 |\n"
    )


@pytest.mark.parametrize(("settings", "day"), [("", "46113.0"), ('<c:date1904 val="1"/>', "44651")])
def test_dates_and_percents_of_a_chart_are_shown_as_its_sheet_shows_them(settings: str, day: str, pages) -> None:
    days = points("cat", day, "空", code='yyyy"年"m"月"')
    series = f"<c:ser><c:tx><c:v>利益率</c:v></c:tx>{days}{points('val', '0.123', '0.15', code='0.0%')}</c:ser>"
    assert pages(with_chart(series, settings))[0].markdown.splitlines()[2:] == [
        "|  | 利益率 |",
        "| --- | --- |",
        "| 2026年4月 | 12.3% |",
        "| 空 | 15.0% |",
    ]


def test_each_series_of_points_has_its_own_places(pages) -> None:
    def series(name: str, places: tuple[str, ...], heights: tuple[str, ...]) -> str:
        return f"<c:ser>{points('tx', name)}{points('xVal', *places)}{points('yVal', *heights)}</c:ser>"

    drawn = series("A社", ("10", "2", "2"), ("1", "3", "5")) + series("B社", ("2", "100"), ("7", "9"))
    drawn += series("C社", ("2", "100"), ("8", "0"))
    assert pages(with_chart(drawn))[0].markdown == (
        "## T\n\n|  | A社 |\n| --- | --- |\n| 10 | 1 |\n| 2 | 3 |\n| 2 | 5 |\n\n"
        "|  | B社 | C社 |\n| --- | --- | --- |\n| 2 | 7 | 8 |\n| 100 | 9 | 0 |\n"
    )


def test_diagrams_are_lists_of_their_words(pages) -> None:
    point = "".join(f"<dgm:pt><dgm:t>{paragraph(word)}</dgm:t></dgm:pt>" for word in ("申請", "承認"))
    file = deck(title("T") + frame('<dgm:relIds r:dm="rIddiagramData"/>'))
    data = f"<dgm:dataModel {POWERPOINT}><dgm:ptLst>{point}</dgm:ptLst></dgm:dataModel>"
    related(file, "diagrams/d.xml", "diagramData", data)
    assert pages(file)[0].markdown == "## T\n\n- 申請\n- 承認\n"


def test_the_title_is_its_property_or_that_of_the_first_slide(raw) -> None:
    def found(file: OfficeFile) -> str:
        return load(raw(file.content(), "file.pptx")).title

    assert found(deck(title("First"), core_title="The plan")) == "The plan"
    assert found(deck(title("First"), core_title="PowerPoint プレゼンテーション")) == "First"
    assert found(deck(shape("x" * 300))) == "file"


def test_slides_of_pictures_alone_are_refused(raw) -> None:
    with pytest.raises(errors.NoText):
        load(raw(deck("<p:pic/>").content(), "a.pptx"))


def test_a_workbook_named_pptx_is_refused(raw) -> None:
    with pytest.raises(errors.WrongContent, match="Excel"):
        load(raw(OfficeFile("xl/workbook.xml", {"xl/workbook.xml": "<workbook/>"}).content(), "a.pptx"))
