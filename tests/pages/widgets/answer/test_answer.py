"""An answer as HTML: what is escaped, what its markers open, and what is highlighted in a passage."""

import re
from html import unescape
from pathlib import Path

import pytest
from lxml.html import HtmlElement, fragment_fromstring

from index_store.search.hits import Hit
from pages.texts import texts
from pages.widgets.answer.answer import answer_html
from rag.runs.engine import UserEngine
from rag.text.citations import markers_of
from rag.text.places import place
from rag.trace.passages import Citation
from tests.pages.reader import Tags, for_reader

SECTION = (
    "日当は1日2,500円です。宿泊を伴わないときは半額です。\n\n| 区分 | 日当 |\n|---|---|\n| 部長 | 3,500円 |\n\n"
    "海外では別に定めます。"
)
HANDBOOK = f"# 出張旅費規程\n\n## 日当\n\n{SECTION}\n"
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)> ![p](https://elsewhere.example/p.png)"


def add(engine: UserEngine, folder: Path, text: str, index: str, name: str = "travel.md") -> None:
    """Adds the text as a file. Each test has its own index, because all tests share the engine."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    assert engine.store.add(index, file, file.name).error is None


def cited(engine: UserEngine, index: str, **changes: object) -> Citation:
    [hit, *_] = engine.store.search(index, "日当")
    return cites(hit).model_copy(update=changes)


def cites(hit: Hit) -> Citation:
    return Citation(number=1, **hit.model_dump(exclude={"rank", "score", "chunk_id"}))


def part(citation: Citation, text: str) -> Citation:
    """The citation narrowed to `text`."""
    start = citation.start + citation.text.index(text)
    return citation.model_copy(update={"text": text, "start": start, "end": start + len(text)})


def html_of(engine: UserEngine, answer: str, *citations: Citation, language: str = "ja") -> str:
    html, _ = for_reader(language, lambda: answer_html(answer, citations, engine.store, "k"))
    return html


@pytest.fixture(scope="module")
def engine(module_engine) -> UserEngine:
    return module_engine


@pytest.fixture(scope="module")
def citation(engine, tmp_path_factory) -> Citation:
    add(engine, tmp_path_factory.mktemp("documents"), HANDBOOK, "handbook")
    return cited(engine, "handbook")


def test_struck_out_text_is_struck_out(engine):
    assert "<s>2,000</s> 2,500" in html_of(engine, "~~2,000~~ 2,500 yen, 10~20 days")


def test_an_answer_is_markdown(engine):
    html = html_of(engine, "- **2,500円**\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<strong>2,500円</strong>" in html
    assert "<li>" in html
    assert "<td>1</td>" in html


@pytest.mark.parametrize(("label", "value"), [("期限", "9月30日"), ("参照先", "https://intra"), ("担当", "IT部")])
def test_a_bold_japanese_label_ends_behind_its_colon_whatever_follows(engine, label, value):
    html = html_of(engine, f"- **{label}:**{value}\n- 開始:**{value}**まで")
    assert f"<strong>{label}:</strong>{value}" in html
    assert f"開始:<strong>{value}</strong>まで" in html


@pytest.mark.parametrize(
    "bold", ["年次有給休暇（年休）", "「年休申請書」", "期限は3日前です。", "対象者：", "1,000円(税込)", "20%", "(例)"]
)
def test_bold_words_beside_japanese_are_bold_whatever_sign_they_begin_or_end_with(engine, bold):
    assert f"<p>申請は<strong>{bold}</strong>の規程です。</p>" in html_of(engine, f"申請は**{bold}**の規程です。")
    assert f"<s>{bold}</s>の" in html_of(engine, f"~~{bold}~~の規程です。")


def test_words_between_single_asterisks_are_in_italics(engine):
    assert "<p>これは<em>重要</em>です</p>" in html_of(engine, "これは*重要*です")
    assert "<p>It is <em>not</em> so.</p>" in html_of(engine, "It is *not* so.")


@pytest.mark.parametrize(
    "text",
    [
        "10~20日", "*.csv と *.txt", "snake_case_名", "** 注 **", "**Note:**text", "8*20*1.25=200", "1,250*8時間*20日",
        "氏名*、住所*は必須です", "申請書*1、領収書*2", "月額*12ヶ月*5名", "単価*数量*1.1", "=B2*C2*D2",
        "「*」は必須、「*」のない項目は任意です", "Fields with (*) are required, those without (*) are not.",
        "税込（*1）、送料別（*2）", "*.xlsx、*.docx を選ぶ", "*印は必須、*印のない項目は任意", "記号は「_」と「_」だけ",
    ],
)  # fmt: skip
def test_signs_that_stand_for_themselves_stay(engine, text):
    html = html_of(engine, text)
    assert Tags(html).text.strip() == text


@pytest.mark.parametrize(
    "path", ["\\\\fs01\\共有\\_総務", "\\\\fs01.example.jp\\forms\\#2024", "D:\\_old\\list.xlsx", "C:\\Users\\taro"]
)
def test_the_path_of_a_file_keeps_its_backslashes(engine, citation, path):
    html = html_of(engine, f"申請書は{path} にあります。**{path}**[1]", citation)
    assert html.count(path) == 2
    assert f"<strong>{path}</strong><button" in html
    assert f"<p>{path}</p>" in html_of(engine, path.replace("\\", "\\\\"))


def test_a_sign_behind_a_backslash_stands_for_itself(engine):
    assert "*2* [1] a_b CORP\\taro" in html_of(engine, "\\*2\\* \\[1\\] a\\_b CORP\\\\taro")


def test_the_lines_of_an_answer_stay_lines(engine):
    html = html_of(engine, "必要なもの:\n・申請書\n・領収書\n\n```\na\nb\n```")
    assert html.count("<br") == 2
    assert "a\nb" in html


def test_a_line_below_a_sentence_makes_no_heading_of_it(engine):
    html = html_of(engine, "日当は2,500円です。\n---\n海外では別に定めます。\n===")
    assert "<h" not in html.replace("<hr", "")
    assert "<p>日当は2,500円です。</p>\n<hr />" in html
    assert "===" in html


def test_the_lines_of_a_cell_are_lines_and_other_html_stays_text(engine):
    html = html_of(engine, "| a |\n|---|\n| 部長<br>課長<br/>`<br>` <b>x</b> |")
    assert html.count("<br />") == 2
    assert "<code>&lt;br&gt;</code> &lt;b&gt;x&lt;/b&gt;" in html


FORMULAE = {
    "$x^2$": "<msup>",
    r"\(\frac{a}{b}\)": "<mfrac>",
    "$$\nE = mc^2\n$$": 'display="block"',
    "Thus:\n\\[\nE = mc^2\n- 1\n\\]": 'display="block"',
    "Thus:\n$$\nE = mc^2\n- 1\n$$\nand": 'display="block"',
    "Thus $$E = mc^2$$.": 'display="block"',
    r"$$\begin{aligned} a &= b \\ &= c \end{aligned}$$": "<mtable",
    "| a |\n|---|\n| $x_1$ |": "<msub>",
    "So:\n\n\\[\na \\times b\n\\] [1]": 'display="block"',
    "\\[ a=b \\][1]": 'display="block"',
    "- 合計: \\[ a_1 = b \\]。": "<msub>",
    "$$\na=b\n$$ [1]": 'display="block"',
}


@pytest.mark.parametrize("written", FORMULAE)
def test_a_formula_is_written_as_mathml_and_its_latex_stands_in_its_place_till_it_is_drawn(engine, written):
    html = html_of(engine, written)
    [drawn] = re.findall(r'<code data-mathml="([^"]*)">', html)
    assert unescape(drawn).startswith("<math ")
    assert FORMULAE[written] in unescape(drawn)
    assert "mathml" not in Tags(html).text


@pytest.mark.parametrize(
    "written",
    [
        "It is $5 and $10.", "US$5 to US$10", "$5 and 10$", "$5から10$", "切符は$5、定期は$10で", "$1,200.50, or $3",
        "5$ or 10$",
        "| a |\n|---|\n| $5 |\n| $6 |", "`$x$`", "    $x$", "\\$x\\$", "$ x $", "$x", "$$", "$$\n\nx$$",
        "\\(x", "a\\[0\\]", "\\[x",
        "=SUM($A$1:$B$2)", "=VLOOKUP($A2,$D$2:$F$100,3,FALSE)", "SUM($A:$A)",
        "件名に$name、本文に$mailを入れます", "$env:PATHと$env:HOME", "${user_name}と${host}", "cp $dir/$file",
    ],
)  # fmt: skip
def test_a_price_and_what_is_no_formula_stay_text(engine, written):
    html = html_of(engine, written)
    assert "mathml" not in html
    assert "formula" not in html


def test_a_marker_beside_a_formula_stays_a_marker_and_one_in_it_does_not(engine, citation):
    html = html_of(engine, "$x[1]$ is so [1].", citation)
    answer = html.partition('class="sources"')[0]
    assert answer.count("<button") == 1
    assert "x[1]</code>" in answer


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}", r"\text{<img src=x onerror=alert(1)>}", "<script>alert(1)</script>",
        r"\class{copy}{x}", r"\cssId{a}{x}", r"\style{position:fixed}{x}", r"\hspace{9000em}x",
        r"\rule{9000px}{9000px}",
        r"\color{red}x", r"\includegraphics{https://elsewhere.example/p.png}", r'\text{" onload="alert(1)}',
        r"\unicode{60}b>",
        r"\text{&lt;b&gt;}", r"\text{&amp;lt;b&amp;gt;}",
    ],
)  # fmt: skip
def test_a_hostile_formula_runs_nothing_leads_nowhere_and_takes_no_page(engine, latex):
    html = html_of(engine, f"${latex}$")
    assert Tags(html).names <= {"div", "p", "span", "code", "br"}
    assert Tags(html).attributes <= {"class", "data-mathml", "title"}
    for drawn in re.findall(r'data-mathml="([^"]*)"', html):
        inside = Tags(unescape(drawn))
        assert all(name.startswith("m") for name in inside.names)
        assert not inside.attributes & {"href", "class", "id", "style", "src", "mathcolor", "mathbackground", "height"}
        assert "9000" not in unescape(drawn)


@pytest.mark.parametrize(
    "latex", ["{" * 500, "\\frac{" * 300, "^", "a^b^c", "\\left(", "\\begin{x}", "&", "\\genfrac{}{}", "}"]
)
def test_what_is_no_latex_stays_as_it_was_written(engine, latex):
    assert latex in unescape(html_of(engine, f"$$\n{latex}\n$$"))


def test_code_can_be_copied_and_a_table_stays_within_itself(engine, citation):
    html = html_of(engine, "```python\na[1] = '<b>'\n```\n\n    indented", citation, language="en")
    assert html.count('class="copy"') == 2
    assert "<pre><code>a[1] = &#x27;&lt;b&gt;&#x27;\n</code></pre>" in html


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| 宿泊 | 12,000円 | 上限[1] |", ["宿泊", "12,000円 | 上限[1]"]),
        ("宿泊|12,000円|上限||[1]", ["宿泊", "12,000円 | 上限 |  | [1]"]),
        ("| `ps aux | grep x` | 検索する[1] |", ["ps aux | grep x", "検索する[1]"]),
        ("| `a | b[1] |", ["`a", "b[1]"]),
    ],
)
def test_a_row_with_more_cells_than_the_header_loses_none(engine, citation, row, cells):
    html = html_of(engine, f"| 区分 | 金額 |\n|---|---|\n{row}\n| 日当 | 2,500円 |", citation)
    table = next(fragment_fromstring(html, create_parent=True).iter("table"))
    _, wide, other = ([cell.text_content() for cell in line] for line in table.iter("tr"))
    assert (wide, other) == (cells, ["日当", "2,500円"])
    assert len(list(table.iter("button"))) == 1


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("1. a\n  - b\n  - c\n2. d", "ol(a ul(b c) d)"),
        ("1. a\n  1. b\n  2. c\n2. d", "ol(a ol(b c) d)"),
        ("10. a\n  - b\n    - c\n  - d\n11. e", "ol(a ul(b ul(c) d) e)"),
        ("1. a\n\n  - b\n\n2. c\n   - d", "ol(a ul(b) c ul(d))"),
        ("- a\n  1. b\n    - c\n  2. d", "ul(a ol(b ul(c) d))"),
        ("1. a\n  2. b\n  3. c", "ol(a b c)"),  # the first one lost its spaces
        ("1. a\n - b", "ol(a) ul(b)"),
    ],
)
def test_a_list_that_is_indented_by_two_spaces_stands_in_its_item(text, shape):
    def shape_of(list_: HtmlElement) -> str:
        parts = [part for item in list_.findall("li") for part in (item.text_content().split()[0], *within(item))]
        return f"{list_.tag}({' '.join(parts)})"

    def within(item: HtmlElement) -> list[str]:
        return [shape_of(each) for each in item if each.tag in {"ol", "ul"}]

    html = fragment_fromstring(answer_html(text, (), None, "key"), create_parent=True)
    assert " ".join(within(html.find_class("answer")[0])) == shape


def test_code_in_a_list_keeps_its_spaces():
    html = answer_html("1. a\n  - b\n   ```\n   if x:\n       y()\n   ```\n2. c", (), None, "key")
    assert "if x:\n    y()\n" in html


def test_a_list_of_tasks_has_boxes_which_are_ticked_where_a_task_is_done(engine, citation):
    html = html_of(engine, "- [x] Ask your manager [1]\n- [ ] Book the train\n- [1] is no task", citation)
    boxes = re.findall("<input[^>]*>", html)
    assert ["checked" in box for box in boxes] == [True, False]
    assert all('type="checkbox"' in box and "disabled" in box for box in boxes)
    assert Tags(html).text.count("[x]") == 0


def test_html_in_an_answer_is_shown_and_not_run(engine):
    tags = Tags(html_of(engine, HOSTILE))
    assert "<script>alert(1)</script>" in tags.text
    assert tags.names == {"div", "p", "span"}


def test_a_picture_is_never_fetched(engine, citation):
    """A picture's address can carry what is on the page to another host."""
    html = html_of(engine, f"{HOSTILE} [1]\n\n![a][b]\n\n[b]: https://elsewhere.example/x.png", citation)
    assert "img" not in Tags(html).names
    assert not re.search(r"""\b(src|srcset|style|background)\s*=\s*["']?\s*(https?:)?//""", html)


@pytest.mark.parametrize("address", ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x"])
def test_a_link_that_runs_something_is_no_link(engine, address):
    html = html_of(engine, f"[click]({address}) <{address}>\n\n[again][r]\n\n[r]: {address}")
    assert "href" not in Tags(html).attributes


@pytest.mark.parametrize(
    "written",
    [
        "[Open your file](https://elsewhere.example/?q=secret)",
        "<https://elsewhere.example/?q=secret>",
        "[here][r]\n\n[r]: https://elsewhere.example/?q=secret 'title'",
        "[![a](https://elsewhere.example/a.png)](https://elsewhere.example/?q=secret)",
        "<a href='https://elsewhere.example/?q=secret'>here</a>",
        "[1](https://elsewhere.example/?q=secret)",
    ],
)
def test_an_answer_leads_nowhere_but_to_its_citations(engine, citation, written):
    tags = Tags(html_of(engine, f"{written} [1]。", citation))
    answer = Tags(html_of(engine, written))
    assert not answer.names & {"a", "img", "button", "form", "iframe", "link", "meta"}
    assert not tags.attributes & {"src", "srcset", "background", "style", "action"}


def test_the_words_of_a_link_stay(engine):
    html = html_of(engine, "See [the portal](https://portal.example/vpn).")
    assert Tags(html).text.strip() == "See the portal."
    assert 'title="https://portal.example/vpn"' in html


def test_a_marker_among_the_words_of_a_link_opens_its_passage(engine, citation):
    answer = html_of(engine, "See [the portal [1]](https://portal.example/vpn).", citation).partition(
        'class="sources"'
    )[0]
    assert 'title="https://portal.example/vpn">the portal <button class="cite" popovertarget="k-1"' in answer


@pytest.mark.parametrize(
    "written",
    [
        "上限は12,000円[1](税込)。",
        "It is 300 yen [1](2024).",
        "It is 300 yen [1](課長 3,000円).",
        "It is 300 yen [1]().",
        "See the site [1](https://portal.example/vpn).",
        "- **半額**[1](第4条)",
        "| a |\n|---|\n| 半額[1](v2.1) |",
    ],
)
def test_words_in_brackets_behind_a_marker_stay_and_the_marker_opens_its_passage(engine, citation, written):
    answer = html_of(engine, written, citation).partition('<div class="sources">')[0]
    assert answer.count('popovertarget="k-1"') == 1
    assert Tags(answer).text.count("(") == 1
    assert written[written.index("(") : written.index(")")] in Tags(answer).text


@pytest.mark.parametrize("text", ["様式[12](別紙)を出します。", "It is [the fee](2024).", "[注](No.4)です。"])
def test_words_of_a_document_in_two_kinds_of_brackets_stay_in_its_passage(engine, citation, text):
    html = html_of(engine, "[1]", citation.model_copy(update={"text": text, "best_start": None}))
    assert text in Tags(html).text


@pytest.mark.parametrize(
    "address",
    [
        "travel.md",
        "規程/旅費.md#日当",
        "../rules/travel.html",
        "/rules",
        "#fees",
        "http://a.example",
        "mailto:a@b.example",
    ],
)
def test_a_link_that_an_answer_repeats_from_a_document_is_shown_as_its_words(engine, citation, address):
    assert "See the rule[1]." in Tags(html_of(engine, f"See [the rule]({address})[1].", citation)).text


def test_words_of_a_document_are_escaped_wherever_they_stand(engine, tmp_path):
    add(engine, tmp_path, f"# 出張\n\n## 日当\n\n日当は2,500円です。{HOSTILE}\n", "hostile")
    citation = cited(engine, "hostile", source=f'"><script>{HOSTILE}', title=HOSTILE, headings=(HOSTILE,))
    tags = Tags(html_of(engine, "2,500円です[1]。", citation))
    assert not tags.names & {"script", "img", "iframe", "style"}
    assert not {name for name in tags.attributes if name.startswith("on")}
    assert tags.text.count("<script>") >= 4  # title, source, heading, passage


def test_a_marker_opens_the_passage_that_it_cites(engine, citation):
    html = html_of(engine, "日当は2,500円です[1]。", citation)
    [in_answer, in_sources] = re.findall(r'<button class="cite" popovertarget="([^"]+)"', html)
    assert in_answer == in_sources
    assert re.search(rf'<div popover id="{in_answer}" class="passage-card">', html)


def test_of_a_section_that_was_read_whole_the_chunk_that_was_found_is_highlighted(engine, tmp_path):
    clauses = [f"第{n}号の備品は{n}階の倉庫に保管し、{n}月に点検する。" for n in range(1, 40)]
    add(engine, tmp_path, "# 備品台帳\n\n## 保管\n\n" + "\n\n".join(clauses) + "\n", "long")
    hit = engine.store.search("long", "第20号の備品は20階の倉庫に保管", mode="keyword", unit="section")[0]
    citation = cites(hit)
    assert len(citation.text) > citation.best_end - citation.best_start
    read = re.search(r'<div class="read">(.*)</div><footer>', html_of(engine, "20階です[1]。", citation), re.DOTALL)[1]
    [found] = re.findall(r'<div class="cited">(.*?)</div>', read, re.DOTALL)
    chunk = citation.text[citation.best_start - citation.start : citation.best_end - citation.start]
    assert re.sub(r"</?p>|\s", "", found) == re.sub(r"\s", "", chunk)
    assert re.sub(r"<[^>]+>|\s", "", read) == re.sub(r"\s", "", citation.text)


def test_an_old_citation_without_its_chunk_is_highlighted_completely(engine, citation):
    old = citation.model_copy(update={"best_start": None, "best_end": None})
    assert html_of(engine, "[1]", old).count(citation.text[:9]) == 1
    assert re.search(r'<div class="read"><div class="cited"><p>日当は', html_of(engine, "[1]", old))


def test_a_number_that_cites_nothing_stays_what_it_is(engine, citation):
    html = html_of(engine, "array[7]は[1]の[2]です", citation)
    assert html.count('class="cite"') == 2  # in the text, and in the list of sources
    assert "array[7]は" in html
    assert "の[2]です" in html


@pytest.mark.parametrize(
    "text",
    [
        "`rows[1]` says so",
        "`rows[1]` says so [1]",
        "```\nrows[1]\n```\nsays so [1]",
        "- ```\n  rows[1]\n  ```",
        "```\nrows[1]",
        "An odd ` sign [1]",
        "Not \\`code [1]` at all",
        "``` `rows[1]` ```",
    ],
)
def test_the_page_has_a_button_for_each_marker_that_is_counted_and_for_no_other(engine, citation, text):
    answer, _ = html_of(engine, text, citation).split('<div class="sources">')
    assert answer.count('class="cite"') == len(markers_of(text))


def test_markers_open_their_passages_also_where_the_model_lists_its_sources_below(engine, citation):
    html = html_of(engine, "2,500円です[1]。[1]\n\n[1]: travel.md\n", citation)
    answer = html.partition('<div class="sources">')[0]
    assert answer.count('popovertarget="k-1"') == 3
    assert "travel.md" in Tags(answer).text
    assert 'class="address"' not in answer


def test_a_marker_in_code_stays_code(engine, citation):
    tags = html_of(engine, "`rows[1]` says [1]", citation)
    assert "<code>rows[1]</code>" in tags
    assert tags.count('class="cite"') == 2  # in the text, and in the list of sources


def test_without_citations_there_are_neither_markers_nor_sources(engine):
    html = html_of(engine, "[1]")
    assert "[1]" in html
    assert 'class="cite"' not in html
    assert texts("ja")["chat.sources"] not in html


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_sources_say_where_a_passage_stands_in_the_readers_language(engine, citation, language):
    html = html_of(engine, "2,500円[1]", citation.model_copy(update={"page": 7}), language=language)
    words = texts(language)
    assert words["chat.sources"] in html
    assert f"出張旅費規程 › 日当 › {words['detail.page'].format(page=7)}" in html
    assert words["chat.open_citation"].format(number=1) in html


FOLDERS = [
    (
        ["規程集.zip/2024年度/旅費規程.txt", "規程集.zip/2025年度/旅費規程.txt"],
        ["2024年度 › 旅費規程", "2025年度 › 旅費規程"],
    ),
    (["rules.zip/旅費規程.txt", "rules.zip/old/旅費規程.txt"], ["旅費規程", "old › 旅費規程"]),
    (
        ["a/b/旅費規程.txt", "c/b/旅費規程.txt", "a/d/旅費規程.txt"],
        ["a/b › 旅費規程", "c/b › 旅費規程", "a/d › 旅費規程"],
    ),
    (["first.md", "second.md"], ["first.md › 旅費規程", "second.md › 旅費規程"]),
    (["a/旅費規程.txt", "a/旅費規程.txt"], ["旅費規程", "旅費規程"]),
]


@pytest.mark.parametrize(("sources", "named"), FOLDERS)
def test_documents_of_the_same_title_are_told_apart_in_the_sources(engine, sources, named):
    citations = [
        Citation(
            number=number, document_id=source, section_id="", source=source, title="旅費規程", headings=(), page=None,
            text="日当", start=0, end=2,
        )
        for number, source in enumerate(sources, 1)
    ]  # fmt: skip
    html = fragment_fromstring(html_of(engine, "[1]", *citations), "div")
    assert [source.text_content() for source in html.find_class("sources")[0].iter("span")] == named


@pytest.mark.parametrize(
    ("title", "headings", "named"),
    [
        ("概要", ("第1章", "概要"), "概要 › 第1章 › 概要"),
        ("規程", ("第1章", "総則", "第1章"), "規程 › 第1章 › 総則 › 第1章"),
        ("規程", ("規程", "総則"), "規程 › 総則"),
    ],
)
def test_a_heading_is_left_out_only_where_it_repeats_the_one_above_it(engine, citation, title, headings, named):
    told = citation.model_copy(update={"title": title, "headings": headings})
    html = fragment_fromstring(html_of(engine, "[1]", told), "div")
    assert [source.text_content() for source in html.find_class("sources")[0].iter("span")] == [named]
    assert place(told) == named.replace("›", ">")


def test_a_slide_without_a_title_is_named_by_its_page_alone(engine, citation):
    slide = citation.model_copy(update={"title": "deck", "headings": ("3",), "page": 3})
    assert f"<span>deck › {texts('en')['detail.page'].format(page=3)}</span>" in html_of(
        engine, "[1]", slide, language="en"
    )


def test_exactly_the_passage_is_highlighted_and_its_section_stands_around_it(engine, citation):
    passage = part(citation, "日当は1日2,500円です。宿泊を伴わないときは半額です。")
    html = html_of(engine, "2,500円[1]", passage)
    [card] = re.findall(r'<div popover id="k-1".*', html, re.DOTALL)
    [marked] = re.findall(r'<div class="cited">(.*?)</div>', card, re.DOTALL)
    assert Tags(marked).text.strip() == passage.text
    assert "海外では別に定めます。" in Tags(card).text
    assert "海外では別に定めます。" not in marked


SIGNS = r"""共有は \\fs01\経費\_old、起動は __init__.py、式は a*b*c と 2*3*4 です。
対象は *.csv と *.txt、除外は ~~なし~~。変数は `x`、改行は &lt;br&gt; と書きます。
# コメント行
    字下げした行と <b>10</b> m2、[規程](http://intranet.example/) と [1]。

- 東京
1) 大阪"""


def card_of(engine: UserEngine, citation: Citation) -> HtmlElement:
    [card] = fragment_fromstring(html_of(engine, "[1]", citation), "div").find_class("passage-card")
    return card


def test_the_signs_of_a_text_are_shown_as_they_are_written(engine, tmp_path):
    add(engine, tmp_path, SIGNS, "signs", "signs.txt")
    [hit] = engine.store.search("signs", "共有", mode="keyword")
    for store in (engine.store, None):
        html, _ = for_reader("ja", lambda store=store: answer_html("[1]", [cites(hit)], store, "k"))
        [shown] = fragment_fromstring(html, "div").find_class("cited")
        assert shown.text_content() == SIGNS


def test_the_cells_of_a_table_are_shown_as_they_are_written(engine, tmp_path):
    cells = [["品目", "式", "場所"], ["A", "2*3*4", r"\\fs01\x"], ["__init__", "a|b", r"c\|d"]]
    add(engine, tmp_path, "".join(",".join(row) + "\n" for row in cells), "cells", "cells.csv")
    [hit] = engine.store.search("cells", "品目", mode="keyword")
    [table] = card_of(engine, cites(hit)).iter("table")
    assert [[cell.text_content() for cell in row] for row in table.iter("tr")] == cells
    assert [cell.tag for cell in next(table.iter("tr"))] == ["th"] * 3


def test_a_line_that_a_loader_had_to_escape_is_shown_as_the_document_has_it(engine, tmp_path):
    add(engine, tmp_path, "<h1>手順</h1><p># 注記です。</p><ul><li>``` で囲みます。</ul>", "escaped", "steps.html")
    [hit] = engine.store.search("escaped", "注記", mode="keyword")
    assert card_of(engine, cites(hit)).find_class("cited")[0].text_content() == "# 注記です。\n\n- ``` で囲みます。"


def test_code_in_a_passage_is_shown_as_code(engine, tmp_path):
    add(engine, tmp_path, "# 手順\n\n実行します。\n\n```python\n  a = b*c*d\n# e\n```\n\n終わりです。\n", "code")
    [hit] = engine.store.search("code", "実行", mode="keyword")
    [shown] = card_of(engine, cites(hit)).find_class("cited")
    assert [(part.tag, part.text_content()) for part in shown] == [
        ("p", "実行します。"), ("pre", "  a = b*c*d\n# e"), ("p", "終わりです。")
    ]  # fmt: skip


STOCK = [["番号", "品名", "場所"], *([f"{n:03}", f"部品{n:03}", f"倉庫{n % 7}の棚{n}"] for n in range(60))]


@pytest.mark.parametrize("unit", ["chunk", "section"])
def test_each_piece_of_a_long_table_is_a_table_with_its_header(engine, tmp_path, unit):
    index = f"stock-{unit}"
    add(engine, tmp_path, "".join(",".join(row) + "\n" for row in STOCK), index, "stock.csv")
    hit = engine.store.search(index, "部品030", mode="keyword", unit=unit)[0]
    card = card_of(engine, cites(hit))
    assert not list(card.iter("p"))
    tables = [[[cell.text_content() for cell in row] for row in table.iter("tr")] for table in card.iter("table")]
    assert [table[0] for table in tables] == [STOCK[0]] * len(tables)
    assert [row for table in tables for row in table[1:]] == STOCK[1:]
    [cited] = card.find_class("cited")
    assert "部品030" in cited.text_content()
    assert "部品000" not in cited.text_content()


@pytest.mark.parametrize("unit", ["chunk", "section"])
def test_each_piece_of_long_code_is_code(engine, tmp_path, unit):
    index = f"code-{unit}"
    code = "".join(f"def __f{n}__(a, b):\n    # comment {n}\n    return a*b*{n}\n" for n in range(40))
    add(engine, tmp_path, f"# Steps\n\nRun this.\n\n```python\n{code}```\n\nThe end.\n", index)
    hit = engine.store.search(index, "comment 20", mode="keyword", unit=unit)[0]
    card = card_of(engine, cites(hit))
    assert [line.text_content() for line in card.iter("p")] == ["Run this.", "The end."]
    lines = [line for piece in card.iter("pre") for line in piece.text_content().splitlines() if line]
    assert lines == code.splitlines()
    assert "# comment 20\n" in card.find_class("cited")[0].text_content()


def test_a_row_that_is_longer_than_a_chunk_is_shown_completely(engine, tmp_path):
    long = " ".join(f"word{n}" for n in range(400))
    add(engine, tmp_path, f"code,words\nA-1,one\nB-2,{long}\nC-3,three\n", "long-row", "long.csv")
    hit = engine.store.search("long-row", "word300", mode="keyword")[0]
    shown = " ".join(part.text_content() for part in card_of(engine, cites(hit)).iter("p", "td"))
    assert re.findall(r"word\d+", shown) == long.split()
    assert {"A-1", "one", "C-3", "three"} <= set(shown.split())


def test_two_answers_of_a_page_do_not_share_their_passages(engine, citation):
    def both() -> str:
        return "".join(answer_html("[1]", [citation], engine.store, key) for key in ("first", "second"))

    html, _ = for_reader("ja", both)
    ids = re.findall(r'<div popover id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) == 2


def test_passages_of_a_running_answer_are_read_only_once(engine, tmp_path):
    add(engine, tmp_path, HANDBOOK, "at-work")
    citation, cards = cited(engine, "at-work"), {}

    def drawn(*citations: Citation) -> str:
        html, _ = for_reader("en", lambda: answer_html("[1][2]", citations, engine.store, "k", cards=cards))
        return html

    first = drawn(citation)
    add(engine, tmp_path, HANDBOOK.replace("2,500", "9,999"), "at-work")
    assert drawn(citation) == first
    both = drawn(citation, citation.model_copy(update={"number": 2}))
    assert both.count(texts("en")["chat.gone"]) == 1
    assert list(cards) == [citation, citation.model_copy(update={"number": 2})]


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_passage_of_a_replaced_document_is_shown_as_it_was_read_and_says_so(engine, tmp_path, language):
    index = f"replaced-{language}"
    add(engine, tmp_path, HANDBOOK, index)
    citation = cited(engine, index)
    assert texts(language)["chat.gone"] not in html_of(engine, "[1]", citation, language=language)
    add(engine, tmp_path, HANDBOOK.replace("2,500", "9,999"), index)
    html = html_of(engine, "[1]", citation, language=language)
    assert texts(language)["chat.gone"] in html
    assert "2,500円" in html
    assert "9,999円" not in html


def test_a_passage_of_a_replaced_document_leads_to_no_page_of_the_new_one(engine, tmp_path):
    add(engine, tmp_path, HANDBOOK, "replaced pages")
    citation = cited(engine, "replaced pages", page=7, source="travel.pdf")
    assert "#page=7" in html_of(engine, "[1]", citation)
    add(engine, tmp_path, HANDBOOK.replace("2,500", "9,999"), "replaced pages")
    html = html_of(engine, "[1]", citation)
    assert f"originals/{citation.document_id}" in html
    assert "#page" not in html


def test_a_passage_of_a_removed_document_is_shown_as_it_was_read(engine, tmp_path):
    add(engine, tmp_path, HANDBOOK, "removed")
    citation = cited(engine, "removed")
    engine.store.remove("removed", "travel.md")
    html = html_of(engine, "[1]", citation)
    assert texts("ja")["chat.gone"] in html
    assert "2,500円" in html


OUTSIDE = Citation(
    number=1,
    document_id="",
    section_id="",
    source="https://weather.example/osaka?a=1&b=2",
    title=HOSTILE,
    headings=(),
    page=None,
    text=f"今日は晴れです。{HOSTILE}",
    start=0,
    end=10,
    origin="web",
    published="Fri, 20 Nov 2026",
)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_a_citation_of_the_web_is_marked_as_such_and_leads_there(engine, language):
    html = html_of(engine, "晴れです[1]。", OUTSIDE, language=language)
    assert html.count(f'class="web-mark">{texts(language)["web.mark"]}<') == 2  # in the sources, and on its card
    assert 'class="cite web"' in html
    assert "weather.example" in Tags(html).text
    assert "Fri, 20 Nov 2026" in Tags(html).text
    [link] = re.findall(r"<a [^>]*>", html)
    assert 'href="https://weather.example/osaka?a=1&amp;b=2"' in link
    assert 'target="_blank"' in link
    assert re.search(r'rel="noopener noreferrer', link)


def test_the_words_of_a_web_page_are_shown_and_not_run(engine):
    tags = Tags(html_of(engine, "晴れです[1]。", OUTSIDE))
    assert HOSTILE in tags.text
    assert not tags.names & {"script", "img"}


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "//weather.example", "ftp://x/", "https://"]
)
def test_an_address_that_is_none_of_the_web_is_no_link(engine, address):
    html = html_of(engine, "晴れです[1]。", OUTSIDE.model_copy(update={"source": address}))
    assert "href" not in Tags(html).attributes


def test_a_citation_of_a_document_is_not_marked_as_from_the_web(engine, citation):
    html = html_of(engine, "2,500円です[1]。", citation)
    assert texts("ja")["web.mark"] not in html
    assert 'class="cite web"' not in html


def test_no_sign_in_an_answer_or_in_its_sources_turns_what_follows_it(engine, citation):
    """Neither in what older versions stored, nor written as Markdown has it for any character."""
    turned = "\u202e&#8238;&#x2067;"
    web = OUTSIDE.model_copy(update={"number": 2, "title": f"Rates {turned}"})
    document = citation.model_copy(
        update={"source": f"fdp.{turned}.md", "title": turned, "text": f"日当は{turned}5円です。"}
    )
    html = html_of(engine, f"2,500円{turned}です[1][2]。`{turned}`\n\n```\n{turned}\n```", document, web)
    assert not set(Tags(html).text) & set("\u202e\u2067")
    assert "Rates" in Tags(html).text
