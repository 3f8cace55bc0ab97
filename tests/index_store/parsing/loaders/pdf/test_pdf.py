from dataclasses import replace

import pytest

from index_store.base import errors
from index_store.parsing.chunking.chunker import chunk_document
from index_store.parsing.loaders.pdf.paragraphs import joined
from index_store.parsing.loaders.pdf.pdf import load
from tests.index_store.parsing.loaders.pdf_file import SCAN, Annotation, PdfFile, Text, painted, rules


def lines(*texts: str, top: float = 700) -> list[Text]:
    return [Text(50, top - 16 * number, text) for number, text in enumerate(texts)]


def test_a_page_has_its_number_and_its_text(raw) -> None:
    content = PdfFile([lines("The first page."), lines("The second page.")]).content()
    assert [(page.number, page.markdown) for page in load(raw(content, "a.pdf")).pages] == [
        (1, "The first page."),
        (2, "The second page."),
    ]


def test_wrapped_japanese_lines_are_joined_without_a_space(raw) -> None:
    first, second = "出張の日当は一日二千五百円で、宿泊を伴わないときは半", "額になります。"
    assert load(raw(PdfFile([lines(first, second)]).content(), "a.pdf")).pages[0].markdown == first + second


def test_the_caption_of_an_article_is_a_line_of_its_own_even_below_a_full_line(raw) -> None:
    page = lines("この規則に定めのない事項は、法令による。", "（適用範囲）", "第２条　すべての従業員に適用する。")
    assert "による。\n（適用範囲）\n第２条" in load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown


def test_wrapped_english_lines_are_joined_with_a_space_and_paragraph_ends_are_kept(raw) -> None:
    wrapped = (
        "The allowance for a day of travel is paid",
        "after the report was handed in to the desk",
        "of the office.",
    )
    content = PdfFile([lines(*wrapped) + lines("Another matter begins here.", top=600)]).content()
    assert load(raw(content, "a.pdf")).pages[0].markdown == " ".join(wrapped) + "\n\nAnother matter begins here."


def test_the_lines_of_a_title_page_in_types_of_other_sizes_stay_apart(raw) -> None:
    page = [Text(50, 720, "２０２６年度　事業計画", 32), Text(50, 650, "営業本部", 18), Text(50, 600, "作成　山田", 12)]
    (loaded,) = load(raw(PdfFile([page]).content(), "a.pdf")).pages
    assert loaded.markdown.split() == ["２０２６年度", "事業計画", "営業本部", "作成", "山田"]


BODY = [
    Text(50, 600 - 14 * at, "拝啓　時下ますますご清栄のこととお慶び申し上げます。平素は格別のご高") for at in range(3)
]


@pytest.mark.parametrize(
    "sender",
    [
        ["２０２６年１１月３０日", "東京都港区芝１丁目", "株式会社グラス"],
        ["株式会社グラス", "東京都港区芝１丁目２番３号", "港ビル５階", "電話０３－１２３４－５６７８", "担当　山田"],
        ["番号：Q-1234-001", "2026年11月30日"],
    ],
)
@pytest.mark.parametrize("is_right", [False, True])
def test_the_lines_of_a_date_a_sender_and_an_address_on_the_right_stay_apart(
    is_right: bool, sender: list[str], raw
) -> None:
    def begin(line: str) -> float:
        return 560 - 12 * len(line) if is_right else 380

    block = [Text(begin(line), 750 - 14 * at, line) for at, line in enumerate(sender)]
    markdown = load(raw(PdfFile([[*block, *BODY]]).content(), "a.pdf")).pages[0].markdown
    assert markdown.startswith("\n".join(sender) + "\n\n拝啓")


@pytest.mark.parametrize(
    "terms",
    [
        ["件　　名：会議室の工事", "支払条件：月末締め翌月末現金振込", "有効期限：発行日より３０日", "納期:４週間"],
        ["Subject: meeting room", "Terms of payment: 30 days net, end of month", "Valid until: 31 December 2026"],
    ],
    ids=["ja", "en"],
)
def test_the_terms_of_an_estimate_on_the_left_stay_apart(terms: list[str], raw) -> None:
    block = [Text(50, 700 - 14 * at, line) for at, line in enumerate(terms)]
    assert load(raw(PdfFile([block]).content(), "a.pdf")).pages[0].markdown == "\n".join(terms)


@pytest.mark.parametrize(
    ("numbers", "first", "rest", "joined"),
    [
        (
            ("1.1", "1.2", "1.3"),
            "The goods are delivered to the premises of the",
            "recipient within ten days.",
            "the recipient",
        ),
        (
            ("第1条", "第2条", "第3条"),
            "乙は、発注の日から三十日以内に、甲の指定す",
            "る場所に納入する。",
            "指定する場所",
        ),
        (
            ("Article 1", "Article 2", "Article 3"),
            "The goods are delivered to the premises of the",
            "recipient by post.",
            "the recipient",
        ),
    ],
)
def test_a_clause_whose_number_stands_far_to_the_left_is_joined(numbers, first, rest, joined, raw) -> None:
    page = []
    for at, number in enumerate(numbers):
        y = 700 - 45 * at
        page += [Text(50, y, number), Text(140, y, first), Text(140, y - 16, rest)]
    written = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown
    assert written.count(joined) == 3


def test_a_question_and_an_answer_of_a_line_each_stay_apart(raw) -> None:
    texts = [
        "Q1 休暇は何日ですか。",
        "A1 年20日です。",
        "Q2 申請は。",
        "A2 システムから。",
        "Q3 期限は。",
        "A3 3日前です。",
    ]
    page = [Text(50, 700 - 18 * at, text) for at, text in enumerate(texts)]
    read = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0]
    assert read.markdown.split("\n") == texts
    assert [text for _, level, text in read.lines() if level] == texts[::2]


def test_a_sentence_with_colons_at_the_beginnings_of_its_lines_is_joined(raw) -> None:
    wrapped = ["受付の時間は次のとおりとする。本社は午前", "９：００から、川崎の工場は午前", "８：３０からとする。"]
    page = [Text(50, 700 - 14 * at, line) for at, line in enumerate([wrapped[0], wrapped[1] + "、横浜は", wrapped[2]])]
    markdown = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown
    assert markdown == f"{wrapped[0]}{wrapped[1]}、横浜は{wrapped[2]}"


def test_a_column_below_a_wider_title_in_larger_type_is_joined(raw) -> None:
    lines = [
        "社員の出張に要する費用は、この規程に定める",
        "ところにより支給する。出張の命令は、所属長",
        "が行うものとし、緊急の場合は口頭によること",
    ]
    columns = [Text(x, 700 - 14 * at, line, 10) for x in (50, 320) for at, line in enumerate([*lines, "ができる。"])]
    markdown = (
        load(raw(PdfFile([[Text(180, 760, "社内報　第１２号", 18), *columns]]).content(), "a.pdf")).pages[0].markdown
    )
    assert markdown.count("".join(lines) + "ができる。") == 2


def test_a_column_below_a_centred_line_in_type_of_its_size_is_joined(raw) -> None:
    lines = [
        "社員の出張に要する費用は、この規程に定める",
        "ところにより支給する。出張の命令は、所属長",
        "が行うものとし、緊急の場合は口頭によること",
    ]
    columns = [Text(x, 700 - 14 * at, line, 10) for x in (50, 320) for at, line in enumerate([*lines, "ができる。"])]
    page = [Text(215, 740, "２０２６年１１月号　発行：総務部", 10), *columns]
    markdown = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown
    assert markdown.count("".join(lines) + "ができる。") == 2


def test_a_date_that_is_divided_behind_its_figures_is_whole(raw) -> None:
    first, second = "健康診断の予約は、社内の案内の画面からお願いします。期限は１1", "月18日です。"
    assert load(raw(PdfFile([lines(first, second)]).content(), "a.pdf")).pages[0].markdown == first + second


def test_the_number_of_a_chapter_and_its_title_below_stay_apart(raw) -> None:
    first, second = "健康診断の予約については、社内の案内の手順に従います。Chapter 1", "まずは予約の方法です。"
    assert load(raw(PdfFile([lines(first, second)]).content(), "a.pdf")).pages[0].markdown == f"{first} {second}"


def test_the_lines_of_a_sentence_on_the_right_are_joined(raw) -> None:
    note = [
        Text(380, 750, "宿泊費は東京都の場合"),
        Text(380, 736, "一万円を上限とし、朝"),
        Text(380, 722, "食代を含む。"),
    ]
    markdown = load(raw(PdfFile([[*note, *BODY]]).content(), "a.pdf")).pages[0].markdown
    assert markdown.startswith("宿泊費は東京都の場合一万円を上限とし、朝食代を含む。\n\n拝啓")


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        ("Please fill in the form and keep it up-to-", "date, as the handbook says here.", "up-to-date"),
        ("Please fill in the form and write the infor-", "mation that the handbook asks for.", "information"),
    ],
    ids=["a hyphen of its own", "none"],
)
def test_a_word_with_hyphens_of_its_own_keeps_the_one_at_which_it_is_divided(first, second, word, raw) -> None:
    assert word in load(raw(PdfFile([lines(first, second)]).content(), "a.pdf")).pages[0].markdown


def test_the_hyphen_of_a_browser_divides_a_word_too() -> None:
    assert joined("It is used internation\u2010", "ally.") == "It is used internationally."


WIDTHS = {**dict.fromkeys("0123456789", 0.556), "-": 0.333}
"""of characters in Helvetica, in sizes of the type; Japanese ones take 1"""


def letter_by_letter(x: float, y: float, text: str) -> list[Text]:
    """As browsers write text in a Japanese font into a PDF."""
    letters = []
    for letter in text:
        letters.append(Text(x, y, letter, 10))
        x += WIDTHS.get(letter, 1) * 10
    return letters


@pytest.mark.parametrize("is_ruled", [False, True])
def test_words_of_a_table_whose_characters_are_written_one_by_one_are_whole(raw, is_ruled: bool) -> None:
    rows = [("氏名", "内線", "電話"), ("山田太郎", "1234", "03-1234-5678"), ("佐藤花子", "2345", "03-2345-6789")]
    page = [
        letter
        for at, row in enumerate(rows)
        for x, cell in zip((50, 200, 350), row, strict=True)
        for letter in letter_by_letter(x, 700 - 20 * at, cell)
    ]
    if is_ruled:
        page += rules((45, 195, 345, 495), (714, 694, 674, 654))
    [loaded] = load(raw(PdfFile([page]).content(), "a.pdf")).pages
    assert "| 山田太郎 | 1234 | 03-1234-5678 |\n| 佐藤花子 | 2345 | 03-2345-6789 |" in loaded.markdown


def test_a_time_in_characters_of_full_width_is_one_word(raw) -> None:
    notice = [
        "１．日　時　　令和８年４月１１日（土）１１：００～１２：００",
        "２．場　所　　第一会議室",
        "３．定　員　　２０名",
    ]
    [page] = load(raw(PdfFile([lines(*notice)]).content(), "a.pdf")).pages
    assert "１１：００～１２：００" in page.markdown
    assert "第一会議室" in page.markdown


def test_headings_come_from_the_outline_where_the_text_has_them(raw) -> None:
    page = [*lines("1. Travel"), *lines("The allowance is paid.", top=660), *lines("日当について", top=600)]
    loaded = load(raw(PdfFile([page], outline=[("Travel", 0), ("日当について", 0)]).content(), "a.pdf"))
    assert [heading.text for heading in loaded.pages[0].headings or ()] == ["1. Travel", "日当について"]


@pytest.mark.parametrize(
    "outline",
    [[("Introduction", 0)], [("Introduction", 0), ("Appendix", 2)], [("Handbook of the office", 0)]],
    ids=["the first alone", "the first and last", "the title alone"],
)
def test_headings_that_an_outline_leaves_out_are_found_by_their_type(raw, outline: list[tuple[str, int]]) -> None:
    body = [Text(50, 600 - 15 * line, "The allowance is paid per day, as it says here.") for line in range(20)]
    chapters = ("Introduction", "Travel rules", "Appendix")
    pages = [[Text(50, 660, chapter, 18), *body] for chapter in chapters]
    pages[0].insert(0, Text(50, 720, "Handbook of the office", 24))
    loaded = load(raw(PdfFile(pages, outline).content(), "a.pdf"))
    found = [(heading.text, heading.level) for page in loaded.pages for heading in page.headings or ()]
    level = 2 if outline == [("Handbook of the office", 0)] else 1
    assert found == [("Handbook of the office", 1), *((chapter, level) for chapter in chapters)]


def test_an_outline_that_lists_nearly_all_headings_tells_which_lines_are_headings(raw) -> None:
    body = [Text(50, 600 - 15 * line, "The allowance is paid per day, as it says here.") for line in range(20)]
    chapters = ("Introduction", "Travel rules", "Hotel rules", "Appendix")
    pages = [[Text(50, 660, chapter, 18), *body] for chapter in chapters]
    pages[1].append(Text(50, 100, "Please note", 14))
    loaded = load(raw(PdfFile(pages, [(chapter, at) for at, chapter in enumerate(chapters)]).content(), "a.pdf"))
    assert [heading.text for page in loaded.pages for heading in page.headings or ()] == list(chapters)


def test_an_outline_that_is_not_in_the_text_is_left_aside(raw) -> None:
    loaded = load(raw(PdfFile([lines("Some text.")], outline=[("Elsewhere", 0), ("Nowhere", 0)]).content(), "a.pdf"))
    assert loaded.pages[0].headings == ()


def test_half_a_character_in_the_outline_or_the_title_does_not_cost_the_document(raw) -> None:
    file = PdfFile([[Text(50, 700, "Travel"), Text(50, 650, "It pays 2,500 yen.")]], [("Travel", 0), ("T\ud842", 0)])
    content = file.content().replace(b"/Root", b"/Info << /Title <FEFF0054D842> >> /Root")
    (page,) = load(raw(content, "a.pdf")).pages
    assert [heading.text for heading in page.headings] == ["Travel"]


def test_without_an_outline_larger_type_makes_headings_and_the_title(raw) -> None:
    body = [
        "The allowance is paid for each day of travel, after the report was",
        "handed in to the desk of the office.",
    ]
    page = [
        Text(50, 760, "Travel Handbook", 24),
        *lines(*body, top=720),
        Text(50, 660, "Overnight stays", 16),
        *lines(*body, top=640),
        Text(50, 580, "海外へ出張するとき", 16),
        *lines(*body, top=560),
    ]
    loaded = load(raw(PdfFile([page, lines(*body)]).content(), "a.pdf"))
    assert loaded.title == "Travel Handbook"
    assert [(heading.text, heading.level) for heading in loaded.pages[0].headings or ()] == [
        ("Travel Handbook", 1), ("Overnight stays", 2), ("海外へ出張するとき", 2),
    ]  # fmt: skip
    for heading in loaded.pages[0].headings or ():
        assert loaded.pages[0].markdown.split("\n")[heading.line] == heading.text


@pytest.mark.parametrize(
    ("font", "paint", "expected"),
    [(b"Helvetica ", "", []), (b"Arial-Bold", "", ["1.1 Hotel"]), (b"Helvetica ", "2 Tr", ["1.1 Hotel"])],
    ids=["usual type", "a bold font", "outlines that are drawn too"],
)
def test_a_numbered_line_is_bold_whatever_stems_its_font_claims(raw, font: bytes, paint: str, expected: list) -> None:
    text = ["旅費は実費を支払う。", "領収書を経理部に提出する。"]
    page = [*lines(*text), Text(50, 660, "1.1 Hotel", paint=paint), *lines(*text, top=640)]
    content = PdfFile([page]).content().replace(b"Helvetica ", font)
    assert [heading.text for heading in load(raw(content, "a.pdf")).pages[0].headings] == expected


BOLD = "2 Tr"
"""draws the outlines of letters, too"""


def asked(question: str, top: int, *, paint: str = BOLD) -> list[Text]:
    answer = ["初日から半年が過ぎた人に十日があたえられます。", "申請は総務部で受けつけます。"]
    return [
        Text(50, top, question, paint=paint),
        *lines(*answer, top=top - 20),
        Text(50, top - 56, "以上です。"),
    ]


@pytest.mark.parametrize("title", [[], [Text(50, 760, "Leave", 24)]], ids=["no title", "title"])
def test_questions_in_bold_are_headings_of_their_answers_on_all_pages(raw, title: list[Text]) -> None:
    first = [*title, *asked("有給休暇はいつから取れますか？", 700), *asked("半日だけ取れますか？", 600)]
    loaded = load(raw(PdfFile([first, asked("翌年に繰り越せますか？", 700)]).content(), "a.pdf"))
    found = [(heading.text, heading.level) for page in loaded.pages for heading in page.headings or ()]
    names = ["有給休暇はいつから取れますか？", "半日だけ取れますか？", "翌年に繰り越せますか？"]
    assert found == [*[("Leave", 1)] * len(title), *((name, 1 + len(title)) for name in names)]


@pytest.mark.parametrize("paint", ["", BOLD], ids=["usual type", "a row in bold"])
def test_short_lines_in_usual_type_and_bold_words_beside_others_are_no_headings(raw, paint: str) -> None:
    page: list[Text] = []
    for top, name in ((700, "休暇甲"), (600, "休暇乙"), (500, "休暇丙")):
        word, *answer = asked(name, top, paint=paint)
        page += [word, *[Text(90, top, "は二日です。")] * bool(paint), *answer]
    (read,) = load(raw(PdfFile([page]).content(), "a.pdf")).pages
    assert not read.headings


def test_the_first_of_several_chapters_is_not_the_title(raw) -> None:
    body = [Text(50, 600 - 15 * line, "The allowance is paid per day, as it says here.") for line in range(9)]
    pages = [[Text(50, 700, f"Chapter of {name}", 18), *body] for name in ("travel", "money")]
    loaded = load(raw(PdfFile(pages).content(), "rules.pdf"))
    assert loaded.title == "rules"
    assert [page.headings[0].text for page in loaded.pages] == ["Chapter of travel", "Chapter of money"]


def test_a_heading_whose_number_stands_far_to_the_left_is_one(raw) -> None:
    body = [
        Text(50, y, "Travel is booked in the portal by each traveller.", size=10)
        for y in (680, 660, 600, 580, 520, 500)
    ]
    page = [
        Text(50, 700, "Foreword", 14),
        Text(50, 620, "1", 14),
        Text(100, 620, "Booking", 14),
        Text(50, 540, "2", 14),
    ]
    pages = load(raw(PdfFile([[*page, Text(100, 540, "Costs", 14), *body]]).content(), "a.pdf")).pages
    assert [text for _, level, text in pages[0].lines() if level] == ["Foreword", "1 Booking", "2 Costs"]


def test_a_page_of_nothing_but_large_type_has_no_headings(raw) -> None:
    poster = [Text(50, 700 - 60 * number, "Come to the meeting", 30) for number in range(3)]
    loaded = load(
        raw(
            PdfFile([[*poster, Text(50, 60, "Room 4 on the second floor, at ten on Monday, with tea")]]).content(),
            "a.pdf",
        )
    )
    assert loaded.pages[0].headings == ()


SENTENCE = "この規則に定めのない事項については、法令の定めるところによる。"


def headings(raw, *pages: list[Text]) -> list[tuple[int | None, int, str]]:
    loaded = load(raw(PdfFile(list(pages)).content(), "a.pdf"))
    return [(page.number, heading.level, heading.text) for page in loaded.pages for heading in page.headings]


def test_chapters_and_articles_in_one_size_are_headings_and_the_contents_are_not(raw) -> None:
    contents = lines("第１章　総則・・・・・・・・・・・・・・・・１", "附　則・・・・・・・・・・・・・・・・・・２")
    first = lines("就業規則", "第１章　総則", "第１条（目的）", SENTENCE, f"第２条（範囲）　{SENTENCE}", "（服務）")
    second = lines(f"第 3 条　{SENTENCE}", SENTENCE, "附　則", f"第１条　{SENTENCE}")
    assert headings(raw, contents, first, second) == [
        (2, 1, "第１章　総則"), (2, 2, "第１条（目的）"), (2, 2, "第２条（範囲）"), (2, 2, "第 3 条（服務）"),
        (3, 1, "附　則"), (3, 2, "第１条"),
    ]  # fmt: skip


def test_a_chapter_that_goes_on_over_the_page_stays_above_its_articles(raw) -> None:
    pages = [lines("第１章　総則", "第１条（目的）", SENTENCE), lines(SENTENCE, "第２条（範囲）", SENTENCE)]
    sections = chunk_document(load(raw(PdfFile(pages).content(), "a.pdf")), 300, 40)
    assert [(section.headings, section.text.count(SENTENCE)) for section in sections] == [
        (("第１章　総則", "第１条（目的）"), 2),
        (("第１章　総則", "第２条（範囲）"), 1),
    ]


def test_articles_are_headings_below_the_title_and_chapters_in_larger_type_and_other_headings_stay(raw) -> None:
    articles = [f"第１条（目的）　{SENTENCE}", SENTENCE, "第２条（範囲）", SENTENCE, SENTENCE]

    def rules(chapter: str) -> list[Text]:
        return [Text(50, 760, "就業規則", 24), Text(50, 720, chapter, 16), *lines(*articles)]

    above = [(1, 1, "就業規則"), (1, 2, "第１章　総則")]
    assert headings(raw, rules("第１章　総則")) == [*above, (1, 3, "第１条（目的）"), (1, 3, "第２条（範囲）")]
    last = Text(50, 600, "手続", 16)
    assert headings(raw, [*rules("第１章　総則"), last]) == [*above, (1, 2, "手続")]
    both = headings(raw, rules("第１章　総則"), [Text(50, 760, "賃金規程", 24), *lines(*articles)])
    assert both[4:] == [(2, 1, "賃金規程"), (2, 3, "第１条（目的）"), (2, 3, "第２条（範囲）")]


@pytest.mark.parametrize(
    "texts",
    [
        (
            SENTENCE,
            "附　則",
            "第１条（この規則の施行の期日及び適用の始期並びに経過措置に関する事項）",
            "施行日は四月とする。",
        ),
        ("The parties have agreed on this.", "Article 4 (Governing Law)", "The law of Japan."),
    ],
)
def test_the_line_of_a_division_is_joined_neither_with_the_text_above_nor_with_that_below(texts, raw) -> None:
    assert load(raw(PdfFile([lines(*texts)]).content(), "a.pdf")).pages[0].markdown == "\n".join(texts)


def test_the_number_of_a_paragraph_begins_a_line_below_a_full_sentence(raw) -> None:
    page = lines(SENTENCE, "２　前項の規定は適用しない。")
    assert load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown == "\n".join(line.text for line in page)


def test_a_title_that_a_program_put_there_is_not_the_title(raw) -> None:
    assert load(raw(PdfFile([lines("Some text of a page.")]).content(), "travel.pdf")).title == "travel"


def row(y: float, *cells: str) -> list[Text]:
    return [Text(50 + 120 * column, y, text) for column, text in enumerate(cells) if text]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("出張旅費規程（2025年度）".encode("cp932"), "出張旅費規程（2025年度）"),
        ("旅費規程".encode("euc_jp"), "旅費規程"),
        # One byte of く is no character in a PDF.
        ("くらしの手引".encode("cp932"), "travel"),
        (b"Trains\0", "Trains"),
        ("Überblick".encode("latin-1"), "Überblick"),
        (b"Employee\x90s Handbook", "Employee’s Handbook"),
        ("\ufeffR&D’S “Plan” – Año".encode("utf-16-be"), "R&D’S “Plan” – Año"),
    ],
)
def test_a_title_in_shift_jis_or_euc_jp_is_read(written: bytes, title: str, raw) -> None:
    content = PdfFile([lines("Some text of a page.")], title="x").content()
    content = content.replace("\ufeffx".encode("utf-16-be").hex().encode(), written.hex().encode())
    assert load(raw(content, "travel.pdf")).title == title


def test_words_in_columns_are_a_table(raw) -> None:
    grade = [*row(700, "役職", "宿泊費", "日当"), *row(680, "部長", "15,000円", ""), *row(660, "社員", "", "2,500円")]
    wrapped = [*row(666, "", "", "(宿泊"), *row(652, "", "", "なし)")]
    page = [Text(50, 740, "旅費の額は次の表による。"), *grade, *wrapped, Text(50, 600, "以上。")]
    assert load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown == (
        "旅費の額は次の表による。\n\n"
        "| 役職 | 宿泊費 | 日当 |\n| --- | --- | --- |\n| 部長 | 15,000円 |  |\n| 社員 |  | 2,500円 (宿泊なし) |\n\n"
        "以上。"
    )


@pytest.mark.parametrize(
    ("header", "cell", "rest", "whole"),
    [
        (("項目", "内容", "期限"), "申請書を所属長に出し、", "承認を得ること", "申請書を所属長に出し、承認を得ること"),
        (("Item", "Cost", "Limit"), "Actual cost, and", "Junior staff half", "Actual cost, and Junior staff half"),
    ],
)
@pytest.mark.parametrize("indent", [0, 60], ids=["header at the left", "header in the middle"])
def test_a_cell_of_two_lines_is_one_wherever_their_first_letters_begin(header, cell, rest, whole, indent, raw) -> None:
    page = [Text(x, 750, text) for x, text in zip((50, 150 + indent, 400), header, strict=True)]
    rows = ((730, "Taxi", cell, "10"), (690, "Meals", "None", "20"), (670, "Rail", cell, "30"))
    page += [Text(x, y, text) for y, *cells in rows for x, text in zip((50, 150, 400), cells, strict=True)]
    page = sorted([*page, Text(150, 714, rest), Text(150, 654, rest)], key=lambda text: -text.y)
    written = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown
    assert f"| Taxi | {whole} | 10 |" in written
    assert f"| Rail | {whole} | 30 |" in written


@pytest.mark.parametrize(
    "rows",
    [
        [("項目", "本社", "支店"), ("リモート勤務", "○", "×"), ("時差出勤", "△", "○")],
        [("Item", "A", "B"), ("Remote", "Y", "N"), ("Flex", "N", "Y")],
        [("等級", "1", "2"), ("部長", "5", "6"), ("課長", "4", "5")],
    ],
)
def test_cells_of_one_character_are_in_their_rows(rows: list[tuple[str, ...]], raw) -> None:
    page = [text for at, cells in enumerate(rows) for text in row(700 - 20 * at, *cells)]
    header, *others = (f"| {' | '.join(cells)} |" for cells in rows)
    written = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown.strip()
    assert written.splitlines() == [header, "| --- | --- | --- |", *others]


@pytest.mark.parametrize("step", [14, 20])
@pytest.mark.parametrize(
    "rows",
    [
        [("No", "品名", "金額"), ("1", "利用料", "50,000"), ("2", "サポート", "30,000")],
        [("Grade", "Rate", "Cap"), ("A", "10%", "100"), ("B", "20%", "200")],
    ],
)
def test_rows_that_begin_with_one_character_stay_apart_on_a_page_of_a_small_table(rows, step: int, raw) -> None:
    page = [
        Text(x, 700 - step * at, text)
        for at, cells in enumerate(rows)
        for x, text in zip((50, 120, 300), cells, strict=True)
    ]
    header, *others = (f"| {' | '.join(cells)} |" for cells in rows)
    written = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown.strip()
    assert written.splitlines() == [header, "| --- | --- | --- |", *others]


def test_the_empty_half_of_a_bracket_or_a_stop_parts_no_cells(raw) -> None:
    rows = [("No", "品名", "金額"), ("1", "利用料", "50,000"), ("2", "サポート", "30,000")]
    page = [
        Text(x, 700 - 16 * at, text) for at, row in enumerate(rows) for x, text in zip((50, 80, 300), row, strict=True)
    ]
    page.append(Text(50, 652, "振込先：みどり銀行、ミドリ支店（普通）（カ）ミドリ"))
    assert load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown.strip() == (
        "| No | 品名 | 金額 |\n| --- | --- | --- |\n| 1 | 利用料 | 50,000 |\n| 2 | サポート | 30,000 |\n\n"
        "振込先：みどり銀行、ミドリ支店（普通）（カ）ミドリ"
    )


def test_a_row_of_words_below_words_over_several_columns_is_part_of_the_header(raw) -> None:
    page = [*row(700, "役職", "国内", "", "備考"), *row(680, "", "日帰り", "宿泊")]
    page += [*row(660, "部長", "3,000円", "5,000円", "なし"), *row(640, "課長", "2,500円", "4,000円", "なし")]
    assert load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown.strip() == (
        "| 役職 | 国内 日帰り | 国内 宿泊 | 備考 |\n| --- | --- | --- | --- |\n"
        "| 部長 | 3,000円 | 5,000円 | なし |\n| 課長 | 2,500円 | 4,000円 | なし |"
    )


def test_a_header_without_a_word_for_each_column_is_one_row(raw) -> None:
    page = [*row(700, "氏名", "担当", ""), *row(680, "佐藤", "営業", "済"), *row(660, "鈴木", "100", "済")]
    assert load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown.strip().startswith("| 氏名 | 担当 |  |\n")


def test_a_raised_figure_is_not_read_as_more_digits_of_the_number_before_it(raw) -> None:
    cells = [
        Text(50, 700, "There are 10"),
        Text(118, 706, "6", 7),
        Text(123, 700, "cells in 100 m"),
        Text(196, 706, "2", 7),
    ]
    sales = [Text(50, 650, "売上は1,200"), Text(143, 656, "1", 7), Text(147, 650, "百万円")]
    others = [
        Text(50, 600, "It costs 20"),
        Text(105, 600, "50", 7),
        Text(50, 550, "Nails of 3"),
        Text(108, 555, "1/2 inches", 7),
    ]
    loaded = load(raw(PdfFile([cells + sales + others]).content(), "a.pdf"))
    assert loaded.pages[0].markdown.split("\n\n") == [
        "There are 10^6 cells in 100 m2",
        "売上は1,200^1百万円",
        "It costs 2050",
        "Nails of 3 1/2 inches",
    ]


def test_words_whose_characters_were_placed_one_by_one_are_words(raw) -> None:
    def placed(x: int, y: int, text: str, size: int = 12) -> list[Text]:
        return [Text(x + size * at, y, character, size) for at, character in enumerate(text)]

    rows = [[*placed(50, y, "番号"), *placed(200, y, "品名"), *placed(350, y, "単価")] for y in range(220, 716, 16)]
    page = [*placed(50, 740, "価格表", 20), *(text for row in reversed(rows) for text in row)]
    loaded = load(raw(PdfFile([page]).content(), "a.pdf"))
    assert loaded.title == "価格表"
    assert set(loaded.pages[0].markdown.split("\n")) == {"価格表", "", "| 番号 | 品名 | 単価 |", "| --- | --- | --- |"}


def test_columns_of_text_are_read_one_after_the_other_however_they_were_drawn(raw) -> None:
    left = [f"The allowance is paid for every day ({line})" for line in "abcd"]
    right = [f"Trains are booked by the desk of travel ({line})" for line in "efgh"]
    page = [
        Text(x, 700 - 15 * at, pair[x > 20]) for at, pair in enumerate(zip(left, right, strict=True)) for x in (20, 310)
    ]
    markdown = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown
    assert " ".join(markdown.split()) == " ".join([*left, *right])


TURNED = ["0 1 -1 0 600 0 Tm", "-1 0 0 -1 600 800 Tm", "0 -1 1 0 0 800 Tm"]
"""PDF operators that turn what follows by one, two and three quarters, to the left"""


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("turned", TURNED)
def test_text_and_tables_that_are_drawn_sideways_or_upside_down_read_as_upright_ones(
    raw, turned: str, rotate: int
) -> None:
    page = [
        *lines("The allowance is paid by the day, after the report was", "handed in to the office.", top=560),
        *row(460, "Item", "Price", "Stock"), *row(440, "Apple", "120", "15"), *row(420, "Pear", "", "7"),
    ]  # fmt: skip
    content = PdfFile([[replace(text, paint=turned) for text in page]]).content()
    content = content.replace(b"/MediaBox", b"/Rotate %d /MediaBox" % rotate)
    assert load(raw(content, "a.pdf")).pages == load(raw(PdfFile([page]).content(), "b.pdf")).pages


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_each_half_of_a_spread_that_was_cut_into_two_pages_is_read_once(raw, rotate: int) -> None:
    left = ["日当は一日二千五百円です。", "宿泊費は別に払います。"]
    right = ["申請は総務部に出します。", "締め切りは月末です。"]
    spread = [Text(x, 700 - 40 * at, half[at]) for at in range(2) for x, half in ((50, left), (350, right))]
    start, first, second = PdfFile([spread, spread]).content().split(b"/MediaBox")
    shown = b"/CropBox [%d 0 %d 800] /Rotate %d /MediaBox"
    content = start + shown % (0, 300, rotate) + first + shown % (300, 600, rotate) + second
    assert [page.markdown for page in load(raw(content, "a.pdf")).pages] == ["".join(left), "".join(right)]


def test_a_line_that_is_too_long_for_the_page_is_read_to_its_end(raw) -> None:
    text = "The variable DEB_HOST_MULTIARCH is set by dpkg-architecture for every build."
    content = PdfFile([lines(text)]).content().replace(b"/MediaBox", b"/CropBox [0 0 300 800] /MediaBox")
    assert load(raw(content, "a.pdf")).pages[0].markdown == text


def test_a_watermark_across_the_page_is_neither_title_nor_in_a_sentence(raw) -> None:
    watermark = Text(0, 0, "社外秘", 90, ".7 .7 -.7 .7 150 300 Tm")
    heading = [Text(50, 740, "Travel", 20)]
    first = "The allowance for a day of travel is paid after the report was handed in to"
    page = [*heading, *lines(first), watermark, watermark, *lines("the desk of the office.", top=684)]
    loaded = load(raw(PdfFile([page]).content(), "a.pdf"))
    assert loaded.title == "Travel"
    assert loaded.pages[0].markdown == f"Travel\n{first} the desk of the office.\n\n社外秘"

    pages = [[watermark, *lines(text)] for text in ("The first page.", "The next page.", "The last page.")]
    loaded = load(raw(PdfFile(pages).content(), "a.pdf"))
    assert [page.markdown for page in loaded.pages] == ["The first page.", "The next page.", "The last page."]


def test_small_readings_above_kanji_are_left_out(raw) -> None:
    """As Word and Chromium write them: in the middle of a line, and after it."""
    parts = [(50, "この規程は、"), (122, "東京"), (146, "への"), (170, "転勤"), (194, "の手当を定める。")]
    readings = {"東京": "とうきょう", "転勤": "てんきん"}
    inside = [
        text
        for x, part in parts
        for text in (*([Text(x, 711, readings[part], 5)] if part in readings else []), Text(x, 700, part))
    ]
    after = [Text(50, 680, "別居手当は、"), Text(50, 691, "べっきょてあて", 5), Text(122, 680, "支給しない。")]
    markdown = load(raw(PdfFile([[*inside, *after]]).content(), "a.pdf")).pages[0].markdown
    assert markdown == "この規程は、東京への転勤の手当を定める。別居手当は、支給しない。"


def test_the_small_label_above_a_name_is_no_reading(raw) -> None:
    form = [Text(50, 711, "ふりがな", 7), Text(50, 700, "氏名")]
    assert "ふりがな" in load(raw(PdfFile([form]).content(), "a.pdf")).pages[0].markdown


def test_letters_that_lean_stay_in_their_sentence(raw) -> None:
    leaning = Text(0, 0, "in to the desk", 12, "1 0 .33 1 50 684 Tm")
    page = [*lines("The allowance is paid when the report is handed"), leaning, *lines("of the office.", top=668)]
    markdown = load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown
    assert " ".join(markdown.split()) == "The allowance is paid when the report is handed in to the desk of the office."


def test_boxes_beside_each_other_are_texts_of_their_own(raw) -> None:
    page = [Text(x, 600 - 16 * at, line) for x, box in ((50, "営業課 佐藤"), (200, "開発課 鈴木"), (350, "総務課 田中"))
            for at, line in enumerate(box.split())]  # fmt: skip
    assert load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown.count("\n\n") == 2


@pytest.mark.parametrize("turned", ["", *TURNED])
def test_vertical_japanese_is_read_from_right_to_left(raw, turned: str) -> None:
    written = ["出張の日当は一日二千五百円で、", "宿泊を伴わないときは半額になり", "ます。"]
    page = [Text(500 - 20 * number, 500, text, paint=turned) for number, text in enumerate(written)]
    content = PdfFile([page]).content().replace(b"90ms-RKSJ-H", b"90ms-RKSJ-V")
    assert load(raw(content, "a.pdf")).pages[0].markdown == "".join(written)


def test_larger_type_makes_headings_and_the_title_of_vertical_japanese_too(raw) -> None:
    text = ["一日二千五百円とし、月の末日に支払", "う。領収書はいらない。"] * 2
    written = [("出張旅費の手引き", 24), ("日当の額", 16), *((line, 12) for line in text),
               ("宿泊費の額", 16), *((line, 12) for line in text)]  # fmt: skip
    page = [Text(550 - 30 * at, 700, line, size) for at, (line, size) in enumerate(written)]
    content = PdfFile([page]).content().replace(b"90ms-RKSJ-H", b"90ms-RKSJ-V")
    loaded = load(raw(content, "a.pdf"))
    assert loaded.title == "出張旅費の手引き"
    assert [(heading.level, heading.text) for heading in loaded.pages[0].headings] == [
        (1, "出張旅費の手引き"), (2, "日当の額"), (2, "宿泊費の額"),
    ]  # fmt: skip


def test_a_list_a_drawing_and_two_rows_are_no_tables(raw) -> None:
    drawing = [*row(700, "a ---+", "in"), *row(680, "b ---+->", "c"), *row(660, "d ---+", "out")]
    items = [Text(x, 500 - 15 * line, text) for line in range(4) for x, text in ((50, f"{line + 1}."), (90, "Pay"))]
    few = [*row(300, "a", "b"), *row(280, "c", "d")]
    assert "|" not in load(raw(PdfFile([drawing, items, few]).content(), "a.pdf")).pages[0].markdown


def test_the_dots_before_a_page_number_are_no_text(raw) -> None:
    page = [Text(50, 700, "1 Travel . . . . . . . . . . . . . 3"), Text(50, 680, "2 Money................ 12")]
    assert load(raw(PdfFile([page]).content(), "a.pdf")).pages[0].markdown == "1 Travel … 3\n2 Money … 12"


def test_running_headers_and_page_numbers_are_left_out(raw) -> None:
    pages = [
        [
            Text(50, 760, "Handbook of the office"),
            Text(50, 600, f"The body of part {name}."),
            Text(290, 30, f"{number}"),
        ]
        for number, name in enumerate("ABCDE", 1)
    ]
    assert [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages] == [
        f"The body of part {name}." for name in "ABCDE"
    ]


def chapters(*headers: str, chapters: str = "AABBBC") -> list[list[Text]]:
    """Pages of which each names its chapter, in turn by one of `headers`; a chapter begins with its name."""
    pages = []
    for number, chapter in enumerate(chapters):
        name, begins = f"Chapter {chapter}", number == 0 or chapters[number - 1] != chapter
        header = headers[number % len(headers)].format(name=name, number=number + 1)
        pages.append([
            Text(50, 760, header),
            *([Text(50, 620, name)] if begins else []),
            Text(50, 600, f"Rule {number} of these rules is here."),
        ])  # fmt: skip
    return pages


@pytest.mark.parametrize(
    "header",
    ["{name}", "{name} | {number}", "Page {number}  {name}", "Safety manual  {name}", "{name} - Safety manual"],
)
def test_a_header_that_names_the_chapter_of_its_page_is_left_out_and_the_chapter_goes_on(raw, header: str) -> None:
    texts = [page.markdown for page in load(raw(PdfFile(chapters(header, chapters="AABBB")).content(), "a.pdf")).pages]
    rules = [f"Rule {number} of these rules is here." for number in range(5)]
    assert texts == [f"Chapter A\n{rules[0]}", rules[1], f"Chapter B\n{rules[2]}", *rules[3:]]


def test_slides_keep_a_title_that_several_share(raw) -> None:
    pages = [
        [Text(50, 500, f"Agenda: {number}"), Text(50, 480, "Plans"), Text(50, 460, "Costs")] if number == 0 else
        [Text(50, 500, "Plans" if number < 4 else "Costs", 24), Text(50, 460, f"Point {name} of the talk.")]
        for number, name in enumerate("ABCDEFG")
    ]  # fmt: skip
    texts = [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages]
    assert [text.split("\n")[0] for text in texts[1:]] == ["Plans"] * 3 + ["Costs"] * 3


@pytest.mark.parametrize("size", [9, 18])
def test_a_title_in_larger_type_that_is_the_header_of_most_pages_is_kept_once(size: int, raw) -> None:
    articles = ["始業は九時とする。", "休憩は一時間とする。", "賃金は別に定める。", "休暇は別に定める。"]
    pages = [
        [Text(250, 800, "就業規則", size if at else 18), *lines(f"第{at}条　{text}"), Text(280, 40, f"- {at + 1} -")]
        for at, text in enumerate(articles)
    ]
    loaded = load(raw(PdfFile(pages).content(), "a.pdf"))
    assert loaded.title == "就業規則"
    first, *others = [f"第{at}条　{text}" for at, text in enumerate(articles)]
    assert [page.markdown for page in loaded.pages] == [f"就業規則\n{first}", *others]


def test_facing_pages_may_take_turns_with_the_title_and_the_chapter(raw) -> None:
    cover = [Text(50, 500, "Office rules")]
    pages = [cover, *chapters("Office rules", "{name}", chapters="AAAABBBB")]
    texts = [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages]
    assert [text.split("\n")[0] for text in texts] == [
        "Office rules", "Chapter A", *(f"Rule {number} of these rules is here." for number in (1, 2, 3)),
        "Chapter B", *(f"Rule {number} of these rules is here." for number in (5, 6, 7)),
    ]  # fmt: skip


def test_a_first_line_that_a_few_pages_share_and_that_stands_nowhere_else_is_kept(raw) -> None:
    pages = [
        [Text(50, 760, f"Bill for {name}"), Text(50, 600, f"Item {number} costs 100 yen.")]
        for number, name in enumerate(["Sato", "Sato", "Suzuki", "Suzuki", "Tanaka", "Tanaka"])
    ]
    texts = [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages]
    assert [text.split("\n")[0] for text in texts] == [page[0].text for page in pages]


def test_pages_of_the_same_words_are_read(raw) -> None:
    pages = [[Text(50, 760, f"Receipt {number}"), Text(50, 600, "Paid: 100 yen")] for number in range(3)]
    assert [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages] == [
        f"Receipt {number}\n\nPaid: 100 yen" for number in range(3)
    ]


def test_numbers_that_differ_from_page_to_page_are_no_running_lines(raw) -> None:
    pages = [
        lines(f"請求書番号 {1001 + page}", f"{name} 御中", f"合計金額 {total}円")
        for page, (name, total) in enumerate([("佐藤商店", "12,400"), ("鈴木工業", "88,000"), ("高橋運輸", "45,600")])
    ]
    texts = [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages]
    assert texts == ["\n".join(line.text for line in page) for page in pages]


def test_the_numbers_of_forms_are_no_page_numbers(raw) -> None:
    pages = [
        [Text(50, 760, f"様式第{number}号"), Text(50, 700, name), Text(50, 30, f"別紙 {number}")]
        for number, name in enumerate(["休暇届", "出張届", "退職届"], 1)
    ]
    assert [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages] == [
        f"様式第{number}号\n\n{name}\n\n別紙 {number}" for number, name in enumerate(["休暇届", "出張届", "退職届"], 1)
    ]


@pytest.mark.parametrize(
    "footer",
    [
        "- {} -",
        "{} / 12",
        "Page {} of 5",
        "第{}頁",
        "{}ページ",
        "[Page {}]",
        "Handbook, page {}",
        "Handbook | {}",
        "2-{}",
    ],
)
def test_page_numbers_are_left_out_in_each_usual_form(raw, footer: str) -> None:
    pages = [
        [Text(50, 600, f"The body of part {name}."), Text(290, 30, footer.format(number))]
        for number, name in enumerate("ABCDE", 1)
    ]
    assert [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages] == [
        f"The body of part {name}." for name in "ABCDE"
    ]


@pytest.mark.parametrize("footer", ["{}", "- {} -", "{} / 2", "Confidential  Page {} of 2", "旅費規程 - {}"])
@pytest.mark.parametrize(
    "cover", [[], [[Text(50, 500, "Travel rules", 30)]]], ids=["two pages", "a cover and two pages"]
)
def test_two_page_numbers_are_left_out(raw, footer: str, cover: list) -> None:
    texts = ["The allowance for a day of travel is paid", "after the report was handed in."]
    pages = [[*lines(text), Text(50, 30, footer.format(number), 9)] for number, text in enumerate(texts, 1)]
    read = [page.markdown for page in load(raw(PdfFile([*cover, *pages]).content(), "a.pdf")).pages]
    assert read[len(cover) :] == texts


def test_the_numbers_of_two_titles_in_larger_type_are_no_page_numbers(raw) -> None:
    pages = [[Text(50, 740, f"Plan for the move - {number}", 24), *lines(f"It is the {name} plan.")]
             for number, name in ((1, "long"), (2, "short"))]  # fmt: skip
    texts = [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages]
    assert [text.split("\n")[0] for text in texts] == ["Plan for the move - 1", "Plan for the move - 2"]


def test_page_numbers_beside_a_running_title_are_left_out_on_either_side_and_after_a_restart(raw) -> None:
    numbers = [1, 2, 3, 1, 2, 3, 4]
    pages = [
        [
            Text(50, 760, "Handbook of the office" if number % 2 else str(number)),
            Text(400, 760, str(number) if number % 2 else "Handbook of the office"),
            Text(50, 600, f"The body of part {name}."),
        ]
        for number, name in zip(numbers, "ABCDEFG", strict=True)
    ]
    assert [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages] == [
        f"The body of part {name}." for name in "ABCDEFG"
    ]


def test_numbers_in_a_column_of_their_own_are_no_page_numbers_unless_they_count_the_pages(raw) -> None:
    pages = [
        [Text(50, 760, name), *row(700, "Invoice", str(1001 + page)), *row(30, "Total", str(total))]
        for page, (name, total) in enumerate([("Apples", 3), ("Pears", 8), ("Melons", 2), ("Grapes", 5)])
    ]
    texts = [page.markdown for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages]
    assert [text.split() for text in texts] == [
        [name, "Invoice", str(1001 + page), "Total", str(total)]
        for page, (name, total) in enumerate([("Apples", 3), ("Pears", 8), ("Melons", 2), ("Grapes", 5)])
    ]


@pytest.mark.parametrize("header", [("Part", "Name", "Price"), ("", "Name", "Price")])
def test_the_header_of_a_table_that_goes_on_over_pages_is_kept_on_each(raw, header: tuple[str, ...]) -> None:
    pages = [
        row(760, *header) + [cell for n in range(4) for cell in row(740 - 20 * n, f"{word}-{n}", f"bolt {word}", "0.5")]
        for word in "ABCDE"
    ]
    titled = [[Text(50, 785, "The parts"), *page] for page in pages]
    for each in (pages, titled):
        texts = [page.markdown.strip() for page in load(raw(PdfFile(each).content(), "a.pdf")).pages]
        assert all(text.startswith(f"| {' | '.join(header)} |\n| --- | --- | --- |\n") for text in texts)


def rows(top: float, *texts: tuple[str, ...]) -> list[Text]:
    return [cell for number, cells in enumerate(texts) for cell in row(top - 20 * number, *cells)]


RANKS = (("Rank", "Per diem", "Hotel"), ("Head", "3,000", "12,000"), ("Lead", "2,500", "10,000"))
MORE_RANKS = (("Senior", "2,000", "9,000"), ("Staff", "1,800", "8,500"), ("Guest", "1,500", "8,000"))


def test_a_table_that_goes_on_over_pages_has_its_header_on_each(raw) -> None:
    pages = load(raw(PdfFile([rows(700, *RANKS), *[rows(760, *MORE_RANKS)] * 2]).content(), "a.pdf")).pages
    assert len(pages) == 3
    for page in pages[1:]:
        assert page.markdown.strip().startswith(
            "| Rank | Per diem | Hotel |\n| --- | --- | --- |\n| Senior | 2,000 | 9,000 |"
        )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([*rows(700, *RANKS), *lines("The hotel is paid for.", top=600)], rows(760, *MORE_RANKS)),
        (rows(700, *RANKS), [*lines("Other amounts", top=760), *rows(720, *MORE_RANKS)]),
        (rows(700, *RANKS), rows(760, *(row[:2] for row in MORE_RANKS))),
        (rows(700, *MORE_RANKS), rows(760, *MORE_RANKS)),
        (rows(700, *RANKS), rows(760, ("Tokyo", "High", "Low"), *MORE_RANKS)),
    ],
    ids=["text after the first", "text before the second", "fewer columns", "no header", "a header of its own"],
)
def test_another_table_on_the_next_page_has_not_the_header_of_the_one_before(
    raw, first: list[Text], second: list[Text]
) -> None:
    pages = load(raw(PdfFile([first, second]).content(), "a.pdf")).pages
    assert "---" in pages[1].markdown
    assert "Rank" not in pages[1].markdown


def test_a_running_title_with_a_page_number_is_left_out_above_a_table_too(raw) -> None:
    pages = [
        row(760, "Handbook", str(number)) + [cell for n in range(4) for cell in row(730 - 20 * n, f"{word}-{n}", "0.5")]
        for number, word in enumerate("ABCDE", 1)
    ]
    texts = [page.markdown.strip() for page in load(raw(PdfFile(pages).content(), "a.pdf")).pages]
    assert [text.split("\n")[0] for text in texts] == [f"| {word}-0 | 0.5 |" for word in "ABCDE"]


@pytest.mark.parametrize("kind", ["Widget", "FreeText"])
def test_what_was_typed_into_a_form_or_onto_a_page_is_read_beside_its_label(raw, kind: str) -> None:
    page = [
        *row(700, "Name:", "", "Date:"),
        Text(50, 660, "Reason of the travel:"),
        Text(50, 500, "Signed by the desk."),
    ]
    typed = [
        Annotation(kind, 400, 703, "3 June"), Annotation(kind, 100, 699, "Taro Yamada"),
        Annotation(kind, 50, 620, "京都の会議に出席"), Annotation(kind, 50, 604, "するため"),
    ]  # fmt: skip
    content = PdfFile([page], annotations=typed).content()
    assert load(raw(content, "a.pdf")).pages[0].markdown.split() == [
        *("Name:", "Taro", "Yamada", "Date:", "3", "June"),
        *("Reason", "of", "the", "travel:", "京都の会議に出席", "するため"),
        *("Signed", "by", "the", "desk."),
    ]


def test_what_was_typed_into_boxes_for_a_character_each_is_a_word(raw) -> None:
    page = [Text(50, 700, "Number:"), Text(50, 660, "郵便番号"), Text(50, 620, "Days:")]
    typed = [
        Annotation("Widget", 130, 700, "1234 5678", step=14), Annotation("Widget", 130, 660, "100-0001", step=24),
        *(Annotation("Widget", 130 + 30 * at, 620, str(at)) for at in range(1, 4)),
    ]  # fmt: skip
    content = PdfFile([page], annotations=typed).content()
    read = load(raw(content, "a.pdf")).pages[0].markdown.replace("|", " ").replace("---", " ")
    assert read.split() == ["Number:", "12345678", "郵便番号", "100-0001", "Days:", "1", "2", "3"]


def test_a_form_that_does_not_say_how_its_entries_look_is_read(raw) -> None:
    typed = [Annotation("Widget", 100, 700, "Taro Yamada", is_drawn=False), Annotation("Widget", 100, 660, "", False)]
    content = PdfFile([[Text(50, 700, "Name:"), Text(50, 660, "Date:")]], annotations=typed).content()
    assert load(raw(content, "a.pdf")).pages[0].markdown == "Name: Taro Yamada Date:"


def test_a_form_on_an_otherwise_empty_page_is_read(raw) -> None:
    content = PdfFile([[]], annotations=[Annotation("Widget", 50, 700, "Taro Yamada")]).content()
    assert load(raw(content, "a.pdf")).pages[0].markdown == "Taro Yamada"


@pytest.mark.parametrize("is_drawn", [True, False])
def test_comments_and_links_are_no_text_of_the_page(raw, is_drawn: bool) -> None:
    others = [Annotation(kind, 50, 600, "Comment", is_drawn) for kind in ("Text", "Popup", "Link", "Highlight")]
    entry = Annotation("Widget", 100, 700, "Taro Yamada")
    for annotations, text in ((others, "Name:"), ([*others, entry], "Name: Taro Yamada")):
        content = PdfFile([[Text(50, 700, "Name:")]], annotations=annotations).content()
        assert load(raw(content, "a.pdf")).pages[0].markdown == text


def test_a_pdf_without_text_says_what_to_do(raw) -> None:
    with pytest.raises(errors.NoText, match="OCR"):
        load(raw(PdfFile([[]]).content(), "scan.pdf"))


LOGO = "100 0 0 100 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID 0 EI"
LETTERS = "0 0 m 9 9 l S " * 30


def test_pages_that_show_something_but_have_no_text_are_told(raw) -> None:
    shown = ["", SCAN, "", LOGO, SCAN, LETTERS, SCAN]
    pages = [lines("It pays 2,500 yen."), *([painted(each)] for each in shown)]
    assert load(raw(PdfFile(pages).content(), "a.pdf")).pages_without_text == "3, 6-8"


def test_a_scan_with_a_printed_page_number_is_told(raw) -> None:
    numbered = [[Text(300, 20, f"- {number} -")] for number in range(1, 6)]
    bodies = [lines("A rule."), lines("Another one."), *[[painted(SCAN)]] * 2, lines("The last.")]
    pages = [body + number for body, number in zip(bodies, numbered, strict=True)]
    assert load(raw(PdfFile(pages).content(), "a.pdf")).pages_without_text == "3-4"


STAMP = Text(300, 20, "Scanned with CamScanner")


def test_scans_with_nothing_but_a_stamp_or_a_number_are_told_beside_a_single_page_of_text(raw) -> None:
    stamped = [lines("It pays 2,500 yen."), *[[painted(SCAN), STAMP]] * 4]
    numbered = [lines("It pays."), *([painted(SCAN), Text(300, 20, f"- {number} -")] for number in range(2, 6))]
    for pages in (stamped, numbered):
        loaded = load(raw(PdfFile(pages).content(), "a.pdf"))
        assert (loaded.pages_without_text, [bool(page.markdown) for page in loaded.pages][1:]) == ("2-5", [False] * 4)


def test_a_file_of_scans_with_nothing_but_a_stamp_has_no_text(raw) -> None:
    with pytest.raises(errors.NoText):
        load(raw(PdfFile([[painted(SCAN), STAMP]] * 3).content(), "scan.pdf"))
    assert len(load(raw(PdfFile([[STAMP]] * 3).content(), "cards.pdf")).pages) == 3


def test_the_numbers_of_letters_in_a_font_that_does_not_name_them_are_no_text(raw) -> None:
    words = "旅費規程は次のとおりとする。"

    def content(*texts: str) -> bytes:
        content = PdfFile([lines(*texts)]).content()
        numbers = "".join(f"{88 + 370 * at:04x}" for at in range(len(words)))
        for named, unnamed in (
            (b"/90ms-RKSJ-H", b"/Identity-H"),
            (b"(Japan1)", b"(Identity)"),
            (b"/CIDFontType0", b"/CIDFontType2"),
            (b"/MSGothic", b"/ABCDEF+Gothic"),
            (words.encode("cp932").hex().encode(), numbers.encode()),
        ):
            content = content.replace(named, unnamed)
        return content

    assert load(raw(content(words, "Travel 2025"), "a.pdf")).pages[0].markdown.strip() == "Travel 2025"
    with pytest.raises(errors.NoText, match="OCR"):
        load(raw(content(words), "b.pdf"))


def test_a_pdf_that_is_locked_for_chosen_readers_is_called_protected(raw) -> None:
    lock = b"trailer << /ID [<00><00>] /Encrypt << /Filter /Adobe.PubSec /V 4 /SubFilter /adbe.pkcs7.s5 >> "
    content = PdfFile([lines("Some text.")]).content().replace(b"trailer << ", lock)
    with pytest.raises(errors.CopyProtected):
        load(raw(content, "a.pdf"))


@pytest.mark.parametrize("kids", ["2 0 R", "3 0 R 2 0 R", "3 0 R", "9 0 R"])
@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_a_page_tree_that_goes_in_circles_or_claims_a_million_pages_ends_in_time(raw, kids: str) -> None:
    content = (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[%s]/Count 1000000>>endobj\n"
        b"3 0 obj<</Type/Pages/Kids[2 0 R]/Parent 2 0 R/Count 5>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF"
        % kids.encode()
    )
    with pytest.raises(errors.Unreadable):
        load(raw(content, "a.pdf"))


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 40, errors.WrongContent),
        (b"%PDF-1.7\nthis is all", errors.Unreadable),
        (b"no PDF at all", errors.Unreadable),
    ],
)
def test_what_is_no_pdf_is_refused_in_plain_words(content: bytes, error: type[errors.PlainError], raw) -> None:
    with pytest.raises(error):
        load(raw(content, "a.pdf"))
