import io
import zipfile
from collections.abc import Callable

import pytest

from index_store.base import errors
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.loaders.office.word.docx import load
from tests.index_store.parsing.loaders.office_file import WORD, OfficeFile
from tests.index_store.parsing.loaders.word_file import cell, document, p, row, run

IN_SYMBOL = '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>'
IN_WINGDINGS = '<w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/>'


def form_field(data: str) -> str:
    """A field of a form as Word 2003 made it."""
    begin = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="x"/>{data}</w:ffData></w:fldChar></w:r>'
    return begin + '<w:r><w:instrText>FORM</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'


def form_box(states: str) -> str:
    return form_field(f"<w:checkBox><w:sizeAuto/>{states}</w:checkBox>")


def control_box(shown: str) -> str:
    """A box that is a content control."""
    properties = '<w14:checkbox xmlns:w14="urn:w14"><w14:checked w14:val="1"/></w14:checkbox>'
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{run(shown)}</w:sdtContent></w:sdt>"


@pytest.fixture
def markdown(raw: Callable[..., RawFile]) -> Callable[..., str]:
    def read(body: str, **parts: str) -> str:
        return load(raw(document(body, **parts).content(), "a.docx")).pages[0].markdown

    return read


def test_headings_are_known_by_style_in_any_language_by_what_it_is_based_on_and_by_outline(markdown) -> None:
    body = p("One", "1") + p("Two", "2") + p("House", "house") + p("Three", properties='<w:outlineLvl w:val="2"/>')
    body += p("Text", "1", '<w:outlineLvl w:val="9"/>')
    assert markdown(body) == "# One\n\n## Two\n\n## House\n\n### Three\n\nText\n"


def test_a_document_without_heading_styles_stays_plain(markdown) -> None:
    assert (
        markdown(p("# not a heading") + p("| not a table") + p("Text"))
        == "\\# not a heading\n\n\\| not a table\n\nText\n"
    )


def test_chapters_without_styles_are_headings_below_the_title_unless_others_have_styles(raw) -> None:
    chapters = p("第1章 総則") + p("社員に適用する。") + p("第2章 休暇") + p("10日とする。")

    def headings(body: str) -> list[tuple[int, str]]:
        lines = load(raw(document(body).content(), "a.docx")).pages[0].lines()
        return [(level, text) for _, level, text in lines if level]

    assert headings(chapters) == [(1, "第1章 総則"), (1, "第2章 休暇")]
    assert headings(p("規則", "1") + chapters) == [(1, "規則"), (2, "第1章 総則"), (2, "第2章 休暇")]
    assert headings(p("規則", "1") + p("目的", "1") + chapters) == [(1, "規則"), (1, "目的")]


def test_furigana_do_not_double_the_text(markdown) -> None:
    ruby = f"<w:r><w:ruby><w:rt>{run('とうきょう')}</w:rt><w:rubyBase>{run('東京')}</w:rubyBase></w:ruby></w:r>"
    assert markdown(f"<w:p>{ruby}{run('へ行く')}</w:p>") == "東京へ行く\n"


def test_what_is_deleted_hidden_or_still_to_be_filled_in_is_left_out(markdown) -> None:
    body = (
        f"<w:p>{run('kept ')}<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        f"<w:moveFrom>{run('moved')}</w:moveFrom><w:ins>{run('inserted')}</w:ins>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> shown</w:t></w:r></w:p>'
        f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{p('Click here')}</w:sdtContent></w:sdt>"
        f"<w:sdt><w:sdtContent>{p('Filled in')}</w:sdtContent></w:sdt>"
    )
    assert markdown(body) == "kept inserted shown\n\nFilled in\n"


def test_a_field_that_is_a_cell_is_empty_until_it_is_filled_in(markdown) -> None:
    prompt = cell("Click to enter text")
    field = f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{prompt}</w:sdtContent></w:sdt>"
    filled = f"<w:sdt><w:sdtPr/><w:sdtContent>{cell('佐藤')}</w:sdtContent></w:sdt>"
    table = row(cell("項目"), cell("記入")) + row(cell("所属"), field) + row(cell("氏名"), filled)
    assert markdown(f"<w:tbl>{table}</w:tbl>") == "| 項目 | 記入 |\n| --- | --- |\n| 所属 |  |\n| 氏名 | 佐藤 |\n"
    assert markdown(f"<w:tbl>{row(cell('所属'))}{row(field)}</w:tbl>") == "所属\n"


def test_a_table_of_contents_is_left_out(markdown) -> None:
    contents = '<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
    contents += f"<w:sdtContent>{p('Contents')}</w:sdtContent></w:sdt>"
    assert markdown(contents + p("One .... 1", "C") + p("One", "1") + p("Text")) == "# One\n\nText\n"


def test_links_fields_and_breaks_keep_their_words(markdown) -> None:
    body = (
        f'<w:p><w:hyperlink r:id="x">{run("the form")}</w:hyperlink><w:r><w:br/></w:r>'
        f'<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>PAGEREF</w:instrText></w:r>{run("12")}'
        "<w:r><w:tab/><w:t>non</w:t><w:noBreakHyphen/><w:t>stop</w:t></w:r></w:p>"
    )
    assert markdown(body) == "the form\n12 non-stop\n"


def test_notes_stand_where_the_text_refers_to_them(markdown) -> None:
    notes = f'<w:footnote w:id="0" w:type="separator">{p("-")}</w:footnote>'
    notes += f'<w:footnote w:id="2">{p("not abroad")}</w:footnote>'
    body = f'<w:p>{run("2,500 yen")}<w:r><w:footnoteReference w:id="2"/></w:r>{run("a day")}</w:p>'
    assert markdown(body, footnotes=notes) == "2,500 yen (not abroad) a day\n"


@pytest.mark.parametrize("note", ["2020年改正", "この規程は全面改正された。" * 20], ids=["short", "long"])
def test_the_note_of_a_heading_stands_below_it(note: str, markdown) -> None:
    notes = f'<w:footnote w:id="2">{p(note)}</w:footnote>'
    reference = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>'
    heading = f'<w:p><w:pPr><w:pStyle w:val="1"/></w:pPr>{run("第2章 旅費")}{reference}</w:p>'
    assert markdown(heading + p("本文"), footnotes=notes) == f"# 第2章 旅費\n\n({note})\n\n本文\n"
    in_cell = f"<w:tbl>{row(cell('項目'), cell('額'))}{row(cell(heading), cell('1'))}</w:tbl>"
    assert f"| 第2章 旅費 ({note}) | 1 |" in markdown(in_cell, footnotes=notes)


@pytest.mark.parametrize(("text", "expected"), [("", "# (note)"), ("本文。" * 100, "本文。" * 100 + " (note)")])
def test_what_is_no_heading_without_its_note_keeps_it(text: str, expected: str, markdown) -> None:
    notes = f'<w:footnote w:id="2">{p("note")}</w:footnote>'
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    heading = f'<w:p><w:pPr><w:pStyle w:val="1"/></w:pPr>{run(text)}{reference}</w:p>'
    assert markdown(heading, footnotes=notes) == expected + "\n"


def test_a_raised_figure_is_not_read_as_more_digits_of_the_number_before_it(markdown) -> None:
    raised = '<w:vertAlign w:val="superscript"/>'
    of_style = '<w:rStyle w:val="mark"/>'
    styles = f'<w:style w:type="character" w:styleId="mark"><w:name w:val="x"/><w:rPr>{raised}</w:rPr></w:style>'
    body = f"<w:p>{run('10')}{run('−', raised)}{run('12', raised)}{run(' m')}{run('2', raised)}</w:p>"
    body += f"<w:p>{run('1,200')}{run('1', of_style)}{run(' 円、1')}{run('st', of_style)}</w:p>"
    assert markdown(body, styles=styles) == "10^−12 m2\n\n1,200^1 円、1st\n"


@pytest.mark.parametrize("line", ["strike", "dstrike"])
def test_what_is_struck_through_is_marked(line: str, markdown) -> None:
    struck, not_struck = f"<w:{line}/>", f'<w:{line} w:val="0"/>'
    body = run("日当は") + run("1,0", struck) + run("00円", struck) + run("2,000円") + run("とする", not_struck)
    assert markdown(f"<w:p>{body}</w:p>") == "日当は~~1,000円~~2,000円とする\n"


def test_a_formula_stands_on_one_line(markdown) -> None:
    def power(base: str, exponent: str) -> str:
        return f"<m:sSup><m:e>{base}</m:e><m:sup>{exponent}</m:sup></m:sSup>"

    def fraction(above: str, below: str) -> str:
        return f"<m:f><m:num>{above}</m:num><m:den>{below}</m:den></m:f>"

    def term(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    sum_in_brackets = f"<m:d><m:e>{term('x+1')}</m:e></m:d>"
    formulae = [
        fraction(term("1"), term("2")),
        term("1") + fraction(term("1"), term("2")),
        fraction(term("a+b"), term("2")),
        power(term("10"), term("6")),
        power(sum_in_brackets, term("2")),
    ]
    body = "".join(f'<w:p><m:oMath xmlns:m="urn:m">{formula}</m:oMath></w:p>' for formula in formulae)
    assert markdown(body) == "1/2\n\n1 1/2\n\n(a+b)/2\n\n10^6\n\n(x+1)^2\n"


def term(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def parts(**named: str) -> str:
    return "".join(f"<m:{name}>{term(text)}</m:{name}>" for name, text in named.items())


def nary(sign: str, **named: str) -> str:
    return f"<m:nary><m:naryPr>{sign}</m:naryPr>{parts(**named)}</m:nary>"


def root(degree: str, text: str) -> str:
    return f"<m:rad><m:deg>{degree}</m:deg><m:e>{term(text)}</m:e></m:rad>"


SUM = '<m:chr m:val="∑"/>'
CASES = f"<m:eqArr>{parts(e='&amp;x, x≥0')}{parts(e='&amp;−x')}</m:eqArr>"


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (term("2") + root("", "3"), "2√3"),
        (root("", "2gh"), "√(2gh)"),
        (root(term("3"), "27"), "∛27"),
        (term("2") + root(term("5"), "3"), "2 3^(1/5)"),
        (nary(SUM, sub="i=1", sup="n", e="x"), "∑_(i=1)^n x"),
        (nary("", sub="0", sup="∞", e="f(x)dx"), "∫_0^∞ f(x)dx"),
        (nary(SUM, e="x"), "∑ x"),
        (f"<m:func><m:fName><m:limLow>{parts(e='lim', lim='x→0')}</m:limLow></m:fName>{parts(e='f')}</m:func>",
         "lim_(x→0) f"),
        (f"<m:func>{parts(fName='sin', e='x')}</m:func>", "sin x"),
        (f"<m:limUpp>{parts(e='A', lim='n')}</m:limUpp>", "A^n"),
        (f'<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>{parts(e="x")}</m:bar>', "x\u0305"),
        (f'<m:acc><m:accPr><m:chr m:val="\u20d7"/></m:accPr>{parts(e="v")}</m:acc>', "v\u20d7"),
        (f"<m:sSubSup>{parts(e='x', sub='0', sup='2')}</m:sSubSup>", "x0^2"),
        (f"<m:d><m:e><m:m><m:mr>{parts(e='1') * 2}</m:mr><m:mr>{parts(e='0') * 2}</m:mr></m:m></m:e></m:d>",
         "(1 1; 0 0)"),
        (f'<m:d><m:dPr><m:begChr m:val="{{"/><m:endChr m:val=""/></m:dPr><m:e>{CASES}</m:e></m:d>', "{x, x≥0; −x"),
        (f"<m:d>{parts(e='A')}{parts(e='B')}</m:d>", "(A|B)"),
        (f'<m:d><m:e><m:f><m:fPr><m:type m:val="noBar"/></m:fPr>{parts(num="5", den="2")}</m:f></m:e></m:d>', "(5 2)"),
    ],
)  # fmt: skip
def test_a_formula_keeps_its_signs(formula: str, expected: str, markdown) -> None:
    assert markdown(f'<w:p><m:oMath xmlns:m="urn:m">{formula}</m:oMath></w:p>') == expected + "\n"


def test_a_formula_in_a_formula_is_read_as_deep_as_xml_is(markdown) -> None:
    deep = "<m:rad><m:e>" * 120 + term("x") + "</m:e></m:rad>" * 120
    assert markdown(f'<w:p><m:oMath xmlns:m="urn:m">{deep}</m:oMath></w:p>').count("√") == 120


def test_the_shape_of_an_old_drawing_is_no_formula(markdown) -> None:
    old = '<v:shapetype xmlns:v="urn:v"><v:formulas><v:f eqn="sum 10800 0 @0"/></v:formulas></v:shapetype>'
    assert markdown(f"<w:p>{run('図')}<w:r><w:pict>{old}</w:pict></w:r></w:p>") == "図\n"


def symbol(code: str, font: str = "Wingdings") -> str:
    return f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>'


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ((symbol("F0FE"), symbol("F0A8")), "☑ 承認 ☐ 却下"),
        ((symbol("F06F"), symbol("00FD")), "☐ 承認 ☒ 却下"),
        ((symbol("F0FC"), symbol("f0fb")), "✓ 承認 ✗ 却下"),
        ((symbol("F052", "Wingdings 2"), symbol("F0A3", "Wingdings 2")), "☑ 承認 ☐ 却下"),
        ((symbol("F0AB"), symbol("2611", "MS Gothic")), "承認 ☑ 却下"),
        ((run("\uf0fe", IN_WINGDINGS), run("o", IN_WINGDINGS)), "☑ 承認 ☐ 却下"),
        ((form_box("<w:default/>"), form_box('<w:default w:val="0"/><w:checked/>')), "☑ 承認 ☑ 却下"),
        ((form_box('<w:default/><w:checked w:val="0"/>'), form_box("")), "☐ 承認 ☐ 却下"),
        ((control_box("☒"), control_box("☐")), "☒ 承認 ☐ 却下"),
    ],
)
def test_what_is_ticked_is_read_and_what_is_not(marks: tuple[str, str], expected: str, markdown) -> None:
    assert markdown(f"<w:p>{marks[0]}{run(' 承認 ')}{marks[1]}{run(' 却下')}</w:p>") == expected + "\n"


def field(*codes: str, shown: str = "") -> str:
    """`codes`: the instruction, in the pieces into which Word divides it."""
    pieces = "".join(f'<w:r><w:instrText xml:space="preserve">{code}</w:instrText></w:r>' for code in codes)
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    return mark("begin") + pieces + (mark("separate") + run(shown) if shown else "") + mark("end")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (field(r" eq \o\ac(○,秘) "), "秘"),
        (field(r"EQ \O\AC(□", ",", "21", ")"), "21"),
        (field(r"eq \o\ac(○,\s\up 2(印))"), "印"),
        (field(r"EQ \* jc2 \* &quot;Font:ＭＳ 明朝&quot; \* hps10 \o\ad(\s\up 9(とうきょう),東京)"), "東京"),
        (field(r"EQ \o\ad(\s\up 9(かぶ);\(株\))"), "(株)"),
        (field(r"EQ \o\ac(○"), ""),
        (field("PAGEREF x", shown="12"), "12"),
        (r'<w:fldSimple w:instr="eq \o\ac(○,秘)"/>', "秘"),
    ],
)
def test_an_enclosed_character_is_read_and_a_word_with_its_reading_too(given: str, expected: str, markdown) -> None:
    assert markdown(f"<w:p>{run('区分は「')}{given}{run('」')}</w:p>") == f"区分は「{expected}」\n"


@pytest.mark.parametrize(
    ("inner", "before", "after", "shown"),
    [
        (field("MERGEFIELD total", shown="500"), "IF ", ' > 100 "large" "small"', "large"),
        (field("QUOTE", shown="秘"), r"EQ \o\ac(○,", ")", ""),
    ],
    ids=["a condition", "a character in a circle"],
)
def test_a_field_in_the_instruction_of_another_is_no_text(
    inner: str, before: str, after: str, shown: str, markdown
) -> None:
    begin, end = (f'<w:r><w:fldChar w:fldCharType="{mark}"/></w:r>' for mark in ("begin", "end"))
    code = "<w:r><w:instrText>{}</w:instrText></w:r>".format
    result = f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(shown)}' if shown else ""
    outer = begin + code(before) + inner + code(after) + result + end
    expected = shown or "秘"
    assert markdown(f"<w:p>{run('It is ')}{outer}{run('.')}</w:p>{p('Next')}") == f"It is {expected}.\n\nNext\n"


def test_a_field_that_never_ends_takes_no_text_away(markdown) -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    paragraph = f"<w:p>{run('One ')}{begin}{run('two')}</w:p>"
    assert markdown(paragraph + f"<w:p>{field('REF a', shown='three')}</w:p>") == "One two\n\nthree\n"


def test_signs_and_greek_letters_of_the_font_symbol_are_read(markdown) -> None:
    parts = (
        run("経費 "),
        symbol("F0B3", "Symbol"),
        run(" 5,000円、"),
        run("\uf06d", IN_SYMBOL),
        run("m と "),
        run("a", IN_SYMBOL),
    )
    assert markdown(f"<w:p>{''.join(parts)}</w:p>") == "経費 ≥ 5,000円、μm と α\n"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ('<w:result w:val="1"/>', "契約"),
        ('<w:default w:val="1"/>', "契約"),
        ("", "正社員"),
        ('<w:result w:val="9"/>', ""),
    ],
)
def test_what_is_chosen_from_the_list_of_a_form_is_read(chosen: str, expected: str, markdown) -> None:
    entries = '<w:listEntry w:val="正社員"/><w:listEntry w:val="契約"/>'
    field = form_field(f"<w:ddList>{chosen}{entries}</w:ddList>")
    assert markdown(f"<w:p>{run('区分：')}{field}</w:p>") == f"区分：{expected}\n"


def test_a_text_box_is_read_once(markdown) -> None:
    box = f"<w:txbxContent>{p('boxed')}</w:txbxContent>"
    body = (
        f"<w:p>{run('before')}<w:r><mc:AlternateContent><mc:Choice><w:drawing><a:graphic><a:graphicData>{box}"
        f"</a:graphicData></a:graphic></w:drawing></mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
        f"</mc:AlternateContent></w:r></w:p>{p('after')}"
    )
    assert markdown(body) == "before\n\nboxed\n\nafter\n"


def test_a_chart_in_a_paragraph_stands_after_it(raw) -> None:
    graphic = '<a:graphic><a:graphicData><c:chart r:id="rIdchart"/></a:graphicData></a:graphic>'
    drawn = f"<w:r><w:drawing>{graphic}</w:drawing></w:r>"
    file = document(f"<w:p>{run('次のとおり。')}{drawn}</w:p>{p('後の文')}")
    points = "".join(f'<c:pt idx="{place}"><c:v>{value}</c:v></c:pt>' for place, value in enumerate("12"))
    series = f"<c:ser><c:tx><c:pt><c:v>東京</c:v></c:pt></c:tx><c:val><c:numLit>{points}</c:numLit></c:val></c:ser>"
    title = "<c:title><a:p><a:r><a:t>売上</a:t></a:r></a:p></c:title>"
    file.parts["word/charts/c.xml"] = f"<c:chartSpace {WORD}><c:chart>{title}{series}</c:chart></c:chartSpace>"
    file.links.append(("word/document.xml", "rIdchart", "chart", "charts/c.xml"))
    assert load(raw(file.content(), "a.docx")).pages[0].markdown == (
        "次のとおり。\n\n売上\n\n|  | 東京 |\n| --- | --- |\n| 1 | 1 |\n| 2 | 2 |\n\n後の文\n"
    )


def test_cells_that_span_rows_stand_in_each_and_columns_stay_in_line(markdown) -> None:
    body = "<w:tbl>" + row(cell("部署"), cell("旅費", '<w:gridSpan w:val="2"/>'))
    body += row(cell("営業", '<w:vMerge w:val="restart"/>'), cell("東京"), cell("2,500|円"))
    body += row(cell("", "<w:vMerge/>"), cell("大阪"), cell("3,000")) + "</w:tbl>"
    assert markdown(body) == (
        "| 部署 | 旅費 |  |\n| --- | --- | --- |\n| 営業 | 東京 | 2,500\\|円 |\n| 営業 | 大阪 | 3,000 |\n"
    )


def test_header_rows_become_one(markdown) -> None:
    header = "<w:tblHeader/>"
    body = "<w:tbl>" + row(
        cell("区分", '<w:vMerge w:val="restart"/>'), cell("金額", '<w:gridSpan w:val="2"/>'), properties=header
    )
    body += row(cell("", "<w:vMerge/>"), cell("国内"), cell("海外"), properties=header)
    body += row(cell("日当"), cell("1"), cell("2")) + "</w:tbl>"
    assert markdown(body).splitlines()[0] == "| 区分 | 金額 国内 | 金額 海外 |"


@pytest.mark.parametrize("properties", ["", "<w:tblHeader/>"], ids=["plain", "repeated on each page"])
def test_a_title_in_the_first_row_of_a_table_stands_above_its_header(properties: str, markdown) -> None:
    body = row(cell("別表|1 旅費", WIDE), properties=properties)
    body += row(cell("役職"), cell("日当"), properties=properties)
    body += row(cell("管理職", WIDE)) + row(cell("部長"), cell("3,000円")) + row(cell("課長"), cell("2,500円"))
    assert markdown(f"<w:tbl>{body}</w:tbl>") == (
        "別表|1 旅費\n\n| 役職 | 日当 |\n| --- | --- |\n| 管理職 |  |\n| 部長 | 3,000円 |\n| 課長 | 2,500円 |\n"
    )


def test_the_name_of_the_first_group_of_rows_is_no_title_of_the_table(markdown) -> None:
    groups = [("総務", "備品", "消耗品"), ("人事", "採用", "研修")]
    body = "".join(
        row(cell(name, WIDE)) + row(cell(first), cell("山田")) + row(cell(second), cell("鈴木"))
        for name, first, second in groups
    )
    assert markdown(f"<w:tbl>{body}</w:tbl>").startswith("| 総務 |  |\n| --- | --- |\n| 備品 | 山田 |\n")


WIDE = '<w:gridSpan w:val="2"/>'
TALL, BELOW = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((row(cell("役職", TALL), cell("国内", WIDE)), row(cell("", BELOW), cell("甲地"), cell("乙地"))),
         "| 役職 | 国内 甲地 | 国内 乙地 |"),
        ((row(cell(""), cell("国内", WIDE)), row(cell("役職"), cell("甲地"), cell("乙地"))),
         "| 役職 | 国内 甲地 | 国内 乙地 |"),
        ((row(cell("部署"), cell("売上", WIDE)), row(cell(""), cell("4月"), cell("5月"))),
         "| 部署 | 売上 4月 | 売上 5月 |"),
        ((row(cell("部署"), cell("期間", WIDE)), row(cell("東京"), cell("4月"), cell("5月")),
          row(cell("大阪"), cell("6月"), cell("7月"))),
         "| 部署 | 期間 |  |"),
        ((row(cell("役職"), cell("日当", WIDE)), row(cell("部長"), cell("3,000円"), cell("2,500円"))),
         "| 役職 | 日当 |  |"),
        ((row(cell("氏名"), cell("佐藤", WIDE)), row(cell("部署"), cell("営業"), cell("課長")),
          row(cell("住所"), cell("東京", WIDE))),
         "| 氏名 | 佐藤 |  |"),
        ((row(cell("申請者", TALL), cell("佐藤", WIDE)), row(cell("", BELOW), cell("所属"), cell("営業")),
          row(cell("", BELOW), cell("電話"), cell("1234"))),
         "| 申請者 | 佐藤 |  |"),
        ((row(cell("題", '<w:gridSpan w:val="3"/>')), row(cell("役職"), cell("甲地"), cell("乙地"))), "題"),
    ],
)  # fmt: skip
def test_header_rows_are_known_by_their_merged_cells(rows: tuple[str, ...], expected: str, markdown) -> None:
    body = "<w:tbl>" + "".join(rows) + row(cell("係員"), cell("可"), cell("不可")) + "</w:tbl>"
    assert markdown(body).splitlines()[0] == expected


def test_a_corner_over_several_rows_and_columns_is_part_of_a_header_of_several_rows(markdown) -> None:
    body = "<w:tbl>" + row(cell("区分", TALL + WIDE), cell("宿泊料", WIDE))
    body += row(cell("", BELOW + WIDE), cell("甲地"), cell("乙地"))
    body += row(cell("役員"), cell("社長"), cell("15,000"), cell("13,000")) + "</w:tbl>"
    assert markdown(body).splitlines()[::2] == [
        "| 区分 | 区分 | 宿泊料 甲地 | 宿泊料 乙地 |",
        "| 役員 | 社長 | 15,000 | 13,000 |",
    ]


@pytest.mark.parametrize("corner", ["時間帯", ""])
def test_a_cell_over_several_named_columns_stands_in_each(corner: str, markdown) -> None:
    body = "<w:tbl>" + row(cell(corner), cell("月"), cell("火")) + row(cell("午前"), cell("休業", WIDE + TALL))
    body += row(cell("午後"), cell("", WIDE + BELOW)) + row(cell("合計", WIDE), cell("2")) + "</w:tbl>"
    assert markdown(body).splitlines()[2:] == ["| 午前 | 休業 | 休業 |", "| 午後 | 休業 | 休業 |", "| 合計 |  | 2 |"]


def test_a_field_of_a_form_or_a_long_text_over_several_columns_stands_once(markdown) -> None:
    form = row(cell("氏名"), cell("佐藤", WIDE)) + row(cell("住所"), cell("東京", WIDE)) + row(*map(cell, "ABC"))
    assert "| 住所 | 東京 |  |" in markdown(f"<w:tbl>{form}</w:tbl>")
    long = row(*map(cell, "ABC")) + row(cell("備考"), cell("至急。" * 100, WIDE))
    assert markdown(f"<w:tbl>{long}</w:tbl>").count("至急。") == 100


def test_a_form_of_labels_with_values_beside_them_has_no_header(markdown) -> None:
    form = row(*map(cell, ("氏名", "佐藤", "申請日", "2026年4月1日", "社員番号", "00123")))
    form += row(cell("住所"), cell("東京都港区1-2-3", '<w:gridSpan w:val="3"/>'), cell("内線"), cell("55"))
    form += row(cell("備考"), cell("なし", '<w:gridSpan w:val="5"/>'))
    assert markdown(f"<w:tbl>{form}</w:tbl>") == (
        "氏名 佐藤 申請日 2026年4月1日 社員番号 00123\n住所 東京都港区1-2-3 内線 55\n備考 なし\n"
    )


@pytest.mark.parametrize(
    "header",
    [("品名", "数量", "単価", "金額"), ("科目", "2024年3月期", "注記", "2025年"), ("人", "4月", "人", "電話123")],
)
def test_pairs_of_columns_below_names_have_a_header(header: tuple[str, ...], markdown) -> None:
    table = (
        row(*map(cell, header)) + row(*map(cell, ("本", "10", "紙", "可"))) + row(*map(cell, ("水", "9", "火", "1")))
    )
    assert markdown(f"<w:tbl>{table}</w:tbl>").startswith(f"| {' | '.join(header)} |\n| --- |")


def test_a_table_within_a_cell_is_read_in_it_and_a_frame_is_no_table(markdown) -> None:
    inner = "<w:tbl>" + row(cell("a"), cell("b")) + row(cell("c"), cell("d")) + "</w:tbl>"
    assert "| x | a b c d |" in markdown(
        "<w:tbl>" + row(cell("k"), cell("v")) + row(cell("x"), cell(inner)) + "</w:tbl>"
    )
    assert markdown("<w:tbl>" + row(cell(p("Notice", "1") + p("Text"))) + "</w:tbl>") == "# Notice\n\nText\n"


def test_texts_beside_each_other_in_a_table_of_one_row_keep_their_paragraphs_and_headings(markdown) -> None:
    news = row(
        cell(p("社長挨拶", "1") + p("新年度です。")), cell(p("行事", "1") + p("4月1日 入社式") + p("4月5日 健診"))
    )
    assert markdown(f"<w:tbl>{news}</w:tbl>") == (
        "# 社長挨拶\n\n新年度です。\n\n# 行事\n\n4月1日 入社式\n\n4月5日 健診\n"
    )
    assert markdown(f"<w:tbl>{row(cell('件名'), cell(p('PC購入') + p('')))}</w:tbl>") == "件名 PC購入\n"


def numbered(text: str, level: int, style: str = "", list_id: int = 1) -> str:
    return p(text, style, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>')


def level(at: int, kind: str, text: str) -> str:
    return f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'


def numbering(*levels: tuple[str, str]) -> str:
    xml = "".join(level(at, kind, text) for at, (kind, text) in enumerate(levels))
    lists = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    lists += '<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride><w:startOverride/></w:lvlOverride></w:num>'
    return f'<w:abstractNum w:abstractNumId="0">{xml}</w:abstractNum>{lists}'


def test_short_paragraphs_that_word_numbers_are_headings_where_no_style_is(raw: Callable[..., RawFile]) -> None:
    text = p("この要領は、社内の文書の作成、区分、保存および廃棄について定めることを目的とする。")
    below = numbered("紙の文書", 1) + text + numbered("電子の文書", 1) + text
    body = numbered("目的", 0) + text + numbered("対象", 0) + text + numbered("保存", 0) + below
    file = document(body, numbering=numbering(("decimalFullWidth", "%1．"), ("decimal", "(%2)"))).content()
    (page,) = load(raw(file, "a.docx")).pages
    assert [(heading.level, heading.text) for heading in page.headings or ()] == [
        (1, "１． 目的"), (1, "２． 対象"), (1, "３． 保存"), (2, "(1) 紙の文書"), (2, "(2) 電子の文書"),
    ]  # fmt: skip


def test_the_numbers_that_word_shows_are_part_of_the_text(markdown) -> None:
    levels = numbering(("japaneseCounting", "第%1条"), ("decimal", "%2"), ("aiueo", "(%3)"))
    body = numbered("目的", 0, "1") + numbered("総則", 1) + numbered("細則", 2) + numbered("別則", 2)
    body += numbered("日当", 0, "1") + numbered("金額", 1)
    assert markdown(body, numbering=levels) == (
        "# 第一条 目的\n\n  1 総則\n    (ア) 細則\n    (イ) 別則\n\n# 第二条 日当\n\n  1 金額\n"
    )


@pytest.mark.parametrize(
    ("kind", "second"),
    [
        ("ideographTraditional", "乙"),
        ("ideographZodiac", "丑"),
        ("ideographEnclosedCircle", "㊁"),
        ("decimalEnclosedParen", "⑵"),
        ("decimalEnclosedCircle", "②"),
        ("decimalEnclosedFullstop", "⒉"),
    ],
)
def test_numbers_that_are_signs_are_those_of_word_until_there_are_no_more(kind: str, second: str, markdown) -> None:
    items = markdown("".join(numbered("x", 0) for _ in range(21)), numbering=numbering((kind, "%1"))).split("\n")
    assert (items[1], items[20]) == (f"{second} x", "21 x")


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("japaneseLegal", ["壱", "弐", "参", "壱拾", "壱拾壱", "弐拾壱"]),
        ("numberInDash", ["- 1 -", "- 2 -", "- 3 -", "- 10 -", "- 11 -", "- 21 -"]),
        ("ordinal", ["1st", "2nd", "3rd", "10th", "11th", "21st"]),
    ],
)
def test_numbers_that_are_words_or_have_signs_are_those_of_word(kind: str, numbers: list[str], markdown) -> None:
    items = markdown("".join(numbered("x", 0) for _ in range(21)), numbering=numbering((kind, "%1"))).split("\n")
    assert [items[at].removesuffix(" x") for at in (0, 1, 2, 9, 10, 20)] == numbers


def test_a_column_that_a_list_numbers_has_its_numbers(markdown) -> None:
    rows = [row(cell("No."), cell("項目"))]
    rows += [row(cell(numbered("", 0)), cell(item)) for item in ("申請", "承認")]
    rows.append(row(cell(numbered("", 1)), cell("支払")))
    levels = numbering(("decimal", "%1"), ("bullet", "·"))
    assert markdown("<w:tbl>" + "".join(rows) + "</w:tbl>" + numbered("", 0) + numbered("x", 0), numbering=levels) == (
        "| No. | 項目 |\n| --- | --- |\n| 1 | 申請 |\n| 2 | 承認 |\n|  | 支払 |\n\n4 x\n"
    )


PICTURE = "<w:r><w:drawing/></w:r>"


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (numbered("", 0, "1"), "第3条"),
        (numbered("", 0, "1").replace("</w:p>", f"{PICTURE}</w:p>"), "第3条"),
        (numbered("", 0).replace("</w:pPr>", "<w:rPr><w:del/></w:rPr></w:pPr>"), "第2条"),
        (numbered("", 0).replace("</w:pPr>", "<w:rPr><w:moveFrom/></w:rPr></w:pPr>"), "第2条"),
        (numbered("", 0).replace("</w:pPr>", "<w:rPr><w:vanish/></w:rPr></w:pPr>"), "第2条"),
        (numbered("", 0).replace("</w:pPr>", '<w:rPr><w:vanish w:val="0"/></w:rPr></w:pPr>'), "第3条"),
    ],
    ids=["empty", "picture", "deleted", "moved", "hidden", "not hidden"],
)
def test_numbered_paragraphs_without_text_are_counted_if_word_shows_them(between: str, expected: str, markdown) -> None:
    body = numbered("目的", 0, "1") + between + numbered("適用", 0, "1")
    assert markdown(body, numbering=numbering(("decimal", "第%1条"))) == f"# 第1条 目的\n\n# {expected} 適用\n"


def lists(*numbers: str, patterns: str = "") -> str:
    """Lists with the ids 1, 2 ...; `numbers`: what each of them changes of the pattern 0 = 第1条, (1)."""
    levels = "".join(level(at, "decimal", text) for at, text in enumerate(("第%1条", "(%2)")))
    ids = "".join(
        f'<w:num w:numId="{at}"><w:abstractNumId w:val="0"/>{changes}</w:num>' for at, changes in enumerate(numbers, 1)
    )
    return f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>{patterns}{ids}'


def changed(depth: int, to: str) -> str:
    return f'<w:lvlOverride w:ilvl="{depth}">{to}</w:lvlOverride>'


def test_a_list_starts_with_the_number_that_it_says(markdown) -> None:
    body = numbered("目的", 0) + numbered("適用", 0) + numbered("旅費", 0, list_id=2) + numbered("精算", 0, list_id=2)
    five = changed(0, '<w:startOverride w:val="5"/>')
    assert markdown(body, numbering=lists("", five)) == "第1条 目的\n第2条 適用\n第5条 旅費\n第6条 精算\n"


def test_a_list_that_starts_anew_at_an_inner_level_goes_on_at_the_outer_one(markdown) -> None:
    body = numbered("目的", 0) + numbered("a", 1) + numbered("適用", 0, list_id=2) + numbered("b", 1, list_id=2)
    three = changed(1, '<w:startOverride w:val="3"/>')
    assert markdown(body, numbering=lists("", three)) == "第1条 目的\n  (1) a\n第2条 適用\n  (3) b\n"


def test_a_list_that_replaces_a_level_has_the_new_one(markdown) -> None:
    body = numbered("目的", 0) + numbered("附則", 0, list_id=2)
    chapter = changed(0, level(0, "upperRoman", "%1章"))
    assert markdown(body, numbering=lists("", chapter)) == "第1条 目的\nII章 附則\n"


def test_a_list_that_takes_its_levels_from_a_list_style_has_its_numbers(markdown) -> None:
    named = (
        f'<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="K"/>{level(0, "decimal", "第%1章")}</w:abstractNum>'
    )
    linked = '<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="K"/></w:abstractNum>'
    users = "".join(f'<w:num w:numId="{at + 1}"><w:abstractNumId w:val="{at}"/></w:num>' for at in (1, 2))
    body = numbered("総則", 0, list_id=3) + numbered("服務", 0, list_id=2)
    assert markdown(body, numbering=lists("", patterns=named + linked) + users) == "第1章 総則\n第2章 服務\n"


@pytest.mark.parametrize(
    ("restart", "expected"),
    [
        ("", ["第1章", "第1条", "(1)", "第2条", "(1)", "第2章", "第1条", "(1)"]),
        ('<w:lvlRestart w:val="0"/>', ["第1章", "第1条", "(1)", "第2条", "(2)", "第2章", "第1条", "(3)"]),
        ('<w:lvlRestart w:val="1"/>', ["第1章", "第1条", "(1)", "第2条", "(2)", "第2章", "第1条", "(1)"]),
    ],
)
def test_numbers_run_on_after_the_outer_ones_where_the_list_says_so(restart: str, expected, markdown) -> None:
    levels = level(0, "decimal", "第%1章") + level(1, "decimal", "第%2条")
    levels += level(2, "decimal", "(%3)").replace("<w:lvlText", f"{restart}<w:lvlText")
    found = f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
    found += '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    body = "".join(numbered("x", depth) for depth in (0, 1, 2, 1, 2, 0, 1, 2))
    assert [line.split()[0] for line in markdown(body, numbering=found).splitlines()] == expected


def test_lists_are_lists_and_start_anew_where_they_say(markdown) -> None:
    levels = numbering(("decimal", "%1."), ("bullet", "·"), ("lowerRoman", "%1.%3"))
    body = (
        numbered("one", 0) + numbered("inner", 1) + numbered("two", 0) + p("between") + numbered("again", 0, list_id=2)
    )
    body += numbered("deep", 2, list_id=2)
    assert markdown(body, numbering=levels) == "1. one\n  - inner\n2. two\n\nbetween\n\n1. again\n    1.i deep\n"


def test_the_title_is_its_property_or_that_of_its_first_page_or_its_first_heading(raw) -> None:
    def title(file: OfficeFile) -> str:
        return load(raw(file.content(), "file.docx")).title

    assert title(document(p("Heading", "1"), title="Travel rules")) == "Travel rules"
    assert title(document(p("Heading", "1") + p("The rules", "T"), title="Microsoft Word - x.doc")) == "The rules"
    assert title(document(p("Heading", "1"), title="文書 1")) == "Heading"
    assert title(document(p("Chapter 1", "1") + p("Chapter 2", "1"))) == "file"
    assert title(document(p("Text"))) == "file"


def test_the_strict_form_of_the_format_is_read(raw) -> None:
    content = document(p("Heading", "1")).content()
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"schemas.openxmlformats.org/", b"purl.oclc.org/ooxml/"))
    assert load(raw(out.getvalue(), "a.docx")).pages[0].markdown == "# Heading\n"


@pytest.mark.timeout(60)  # seconds; it takes one or two
@pytest.mark.parametrize("chapters", [30, pytest.param(300, marks=pytest.mark.soak)])
def test_hundreds_of_pages_are_read_in_seconds(raw, chapters: int) -> None:
    words = run("経費の精算は翌月の10日までに行う。 The claim is due on the tenth. ") * 3
    table = "<w:tbl>" + row(*[cell("cell")] * 4) * 5 + "</w:tbl>"
    body = (p("Chapter", "1") + f"<w:p>{words}</w:p>" * 100 + table) * chapters  # each of three pages
    file = raw(document(body).content(), "long.docx")
    text = load(file).pages[0].markdown
    assert [text.count(each) / chapters for each in ("# Chapter", "経費", "| cell")] == [1, 300, 20]


def test_a_document_of_pictures_alone_is_refused(raw) -> None:
    with pytest.raises(errors.NoText):
        load(raw(document("<w:p><w:r><w:drawing/></w:r></w:p>").content(), "a.docx"))


def test_the_name_of_a_group_that_is_written_once_stands_in_each_of_its_rows_but_not_in_the_total(markdown) -> None:
    names = ["営業部", "", "", "総務部", "", ""]
    people = [[name, f"社員{at}", f"{200 + at}"] for at, name in enumerate(names)]
    body = "".join(row(*map(cell, each)) for each in [["部", "氏名", "内線"], *people, ["", "合計", "6"]])
    assert markdown(f"<w:tbl>{body}</w:tbl>").splitlines()[2:] == [
        "| 営業部 | 社員0 | 200 |", "| 営業部 | 社員1 | 201 |", "| 営業部 | 社員2 | 202 |",
        "| 総務部 | 社員3 | 203 |", "| 総務部 | 社員4 | 204 |", "| 総務部 | 社員5 | 205 |", "|  | 合計 | 6 |",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "first",
    [
        ["", "営業部", "", "総務部", ""],
        ["○", "", "○", "", ""],
        ["A-1001", "", "A-1002", "", ""],
        ["主任", "", "", "", ""],
    ],
    ids=["the first row has none", "marks", "codes", "one alone"],
)
def test_cells_that_may_be_empty_stay_empty(markdown, first: list[str]) -> None:
    people = [[text, f"社員{at}", f"{200 + at}"] for at, text in enumerate(first)]
    body = "".join(row(*map(cell, each)) for each in [["区分", "氏名", "内線"], *people])
    assert markdown(f"<w:tbl>{body}</w:tbl>").count("|  |") == first.count("")


@pytest.fixture
def bold_headings(raw: Callable[..., RawFile]) -> Callable[[str], list[str]]:
    """The headings of a document of these lines; * stands before those in bold."""

    def read(lines: str) -> list[str]:
        paragraphs = [line.partition("*") for line in lines.split("/")]
        body = "".join(f"<w:p>{run(plain)}{run(bold, '<w:b/>') if bold else ''}</w:p>" for plain, _, bold in paragraphs)
        return [text for _, level, text in load(raw(document(body).content(), "a.docx")).pages[0].lines() if level]

    return read


TEXT = "前日の正午までに上長に申請してください。"


def test_short_lines_in_bold_are_headings_where_a_document_has_no_others(bold_headings) -> None:
    lines = (
        f"*在宅勤務の手引き/*総務部/*2026年4月1日/*申請の方法/{TEXT}/{TEXT}/*機器の持ち出し/{TEXT}/*費用の負担/{TEXT}"
    )
    assert bold_headings(lines) == ["申請の方法", "機器の持ち出し", "費用の負担"]
    lines = "*Booking/Book trains in the portal./*Daily allowance/It is 2,000 yen a day./*Who pays?/The office does."
    assert bold_headings(lines) == ["Booking", "Daily allowance", "Who pays?"]
    assert bold_headings(f"■申請/{TEXT}/■機器/{TEXT}/■費用/{TEXT}/{lines}") == ["■申請", "■機器", "■費用"]


@pytest.mark.parametrize(
    "lines",
    [
        f"*申請の方法/{TEXT}/*機器の持ち出し/{TEXT}",
        f"申請の*方法/{TEXT}/機器の*持ち出し/{TEXT}/費用の*負担/{TEXT}",
        f"*必ず申請する。/{TEXT}/*期限は前日です。/{TEXT}/*費用は会社が出す。/{TEXT}",
        f"*佐藤/{TEXT}/*鈴木/{TEXT}/*佐藤/{TEXT}/*鈴木/{TEXT}",
        f"*申請/{TEXT}/*営業部/*総務部/*経理部/{TEXT}/*機器/*パソコン/*携帯電話/{TEXT}",
        "*氏名/佐藤/*所属/営業部/*住所/港区",
        f"*株式会社みどり 御中/{TEXT}/*記/{TEXT}/*2026年11月30日/{TEXT}/*03-1234-5678/{TEXT}",
    ],
    ids=["two", "parts of lines", "sentences", "speakers", "lists", "values", "a letter"],
)
def test_other_lines_in_bold_are_text(lines: str, bold_headings) -> None:
    assert bold_headings(lines) == []
