import pytest

from index_store.base import errors
from index_store.parsing.loaders.html.html import load, load_html


def markdown(html: str) -> str:
    return load_html(html, "page.html").pages[0].markdown


def test_headings_lists_tables_and_code_become_markdown() -> None:
    html = """<h1>Guide</h1><h2>Steps</h2><ol><li>One<ul><li>inner</li></ul></li><li>Two</li></ol>
    <table><tr><th>Code</th><th>Price</th></tr><tr><td rowspan=2>A|1</td><td>100</td></tr><tr><td>200</td></tr></table>
    <pre># a comment
    make</pre>"""
    assert markdown(html) == (
        "# Guide\n\n## Steps\n\n1. One\n   - inner\n2. Two\n\n"
        "| Code | Price |\n| --- | --- |\n| A\\|1 | 100 |\n| A\\|1 | 200 |\n\n"
        "```\n# a comment\n    make\n```\n"
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol start=3><li>a<li>b</ol>", "3. a\n4. b"),
        ("<ol><li value=10>a<li><li value='-1'>b<li>c</ol>", "10. a\n-1. b\n0. c"),
        ("<ol><li>a<li><li>c</ol>", "1. a\n3. c"),
        ("<ol type=a start=26><li>a<li>b</ol>", "z. a\naa. b"),
        ("<ol type=A><li>a</ol>", "A. a"),
        ("<ol type=i><li>a<li>b<li value=9>c</ol>", "i. a\nii. b\nix. c"),
        ("<ol type=I start=0><li>a<li>b</ol>", "0. a\nI. b"),
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
        ("<ol style='list-style-type: lower-alpha;'><li>a<li>b</ol>", "a. a\nb. b"),
        ("<ol type=1 style='margin:0;list-style:upper-roman inside'><li>a</ol>", "I. a"),
        ("<ol style='list-style-type:katakana'><li>a<li>b</ol>", "ア. a\nイ. b"),
        ("<ol style='list-style-type:none'><li>(1) a<li>(2) b</ol>", "- (1) a\n- (2) b"),
        ("<ol type=a style='list-style-type:decimal'><li>a</ol>", "1. a"),
        ("<ol type=''><li>a</ol>", "1. a"),
        ("<ol><li>a</li><br><li>b</li><br>c</ol>", "1. a\n2. b\nc"),
        ("<ol><a id=x></a><li>a<ol><li>b</ol></li><ol><li>c</ol><li>d</ol>", "1. a\n   1. b\n   1. c\n2. d"),
        ("<ol reversed><li>a</li><br><li>b</ol>", "2. a\n1. b"),
        ("<ol start=none><li value=1.5>a<li value='99999999999999999999'>b</ol>", "1. a\n2. b"),
    ],
)
def test_the_entries_of_a_list_have_the_numbers_that_a_browser_shows(html: str, expected: str) -> None:
    assert markdown(html) == expected + "\n"


def test_navigation_scripts_and_menus_go_and_the_words_of_links_stay() -> None:
    menu = "".join(f"<li><a href='/{n}'>Menu item {n}</a></li>" for n in range(8))
    text = "The allowance is explained <a href='/x'>in this note</a>, and it is paid every month. " * 5
    html = f"<nav>Home</nav><div><ul>{menu}</ul></div><script>var x</script><p>{text}</p><footer>© 2026</footer>"
    assert markdown(html).strip() == " ".join(text.replace("<a href='/x'>", "").replace("</a>", "").split())


def test_text_outside_paragraphs_is_kept() -> None:
    html = "<body>loose text<br>second line<div>in a div<dl><dt>Q: When?</dt><dd>A: On Monday.</dd></dl></div></body>"
    for part in ("loose text\nsecond line", "in a div", "Q: When?", "A: On Monday."):
        assert part in markdown(html)


LINKS = "".join(f"<li><a href='{n}.pdf'>Form {n} as a PDF file</a></li>" for n in range(5))
TEXT = "<p>" + "The allowance is paid every month. " * 20 + "</p>"


@pytest.mark.parametrize("text", ["{}", "<div>{}</div>", "{}<br>", "<table><tr><td>{}"])
def test_a_list_of_links_below_a_heading_is_read_in_a_text_without_paragraphs(text: str) -> None:
    announced = text.format("The allowance is paid every month. " * 5 + f"<h2>Papers</h2><ul>{LINKS}</ul>")
    assert "## Papers\n\n- Form 0" in markdown(f"<body>{announced}<p>End</p></body>")


@pytest.mark.parametrize(
    "html",
    [
        "<h2>Papers</h2><p>Bring these papers:</p><ul>{}</ul>",
        "<div class=h2><h2>Papers</h2></div><div class=box><ul>{}</ul></div>",
        "<h2>Papers</h2><p></p><table><tr><th>Area<th>Office</tr><tr><td>{}<td><a href=1>Desk</a></table>",
        "<b>Papers</b>:<br><ul>{}</ul>",
        "<ul>{}</ul><p>Papers</p><div><p>Bring these papers:</p><ol>{}</ol></div>",
    ],
)
def test_a_list_of_links_behind_the_words_that_announce_it_is_read(html: str) -> None:
    assert "Form 4 as a PDF file" in markdown(f"<main>{TEXT}{html.format(LINKS, LINKS)}<p>End</p></main>")


@pytest.mark.parametrize(
    "html",
    [
        "<h2>Related articles</h2><ul>{}</ul>",
        "<h2>関連リンク</h2><ul>{}</ul>",
        "<p>So much for today.</p><ul class=tags>{}</ul>",
        "<p>So much for today.</p><div class='post-navigation'><div><ul>{}</ul></div></div>",
        "<p>So much for today.</p><hr><ul>{}</ul>",
        "<aside><h2>On this site</h2><ul>{}</ul><p>About us</p><p>We are a shop.</p></aside>",
        "<div id=sidebar><p>Call us any time, or read on.</p><ul>{}</ul></div>",
    ],
)
def test_a_menu_or_related_articles_behind_a_text_are_left_out(html: str) -> None:
    assert "Form" not in markdown(f"<main>{TEXT}{html.format(LINKS)}<p>End</p></main>")


@pytest.mark.parametrize("page", ["<main>{}</main>", "<div id=main>{}</div>"])
@pytest.mark.parametrize(
    "html",
    [
        "<div class=detail_file><h2>Forms to download</h2><ul>{}</ul></div>",
        "<section><div class=head><h2>様式</h2></div><div><ul>{}</ul></div></section>",
        "<div><div><h3>Forms</h3></div><ul>{}</ul></div>",
    ],
)
def test_documents_below_a_heading_of_their_own_are_read(page: str, html: str) -> None:
    text = f"<div>{TEXT}{TEXT}</div>{html.format(LINKS)}<div>{TEXT}</div>"
    assert "- Form 4 as a PDF file" in markdown(page.format(text))


@pytest.mark.parametrize(
    "html",
    [
        "<div><h2>関連資料</h2><ul>{}</ul></div>",
        "<div><h2>Forms</h2><ul>" + LINKS.replace(".pdf", ".html") + "</ul></div>",
        "<div id=sidebar><h2>Forms</h2><ul>{}</ul></div>",
    ],
)
def test_other_pages_and_documents_beside_a_text_are_left_out(html: str) -> None:
    assert "as a PDF file" not in markdown(f"<div><div>{TEXT}</div>{html.format(LINKS)}</div>")


def test_numbers_to_call_and_addresses_to_write_to_are_no_menu() -> None:
    lines = "".join(
        f"<li>Desk {n}: <a href='tel:{n}'>03-1234-567{n}</a> <a href=' MAILTO:a'>a@x.jp</a></li>" for n in "1234"
    )
    assert "03-1234-5674 a@x.jp" in markdown(f"<main>{TEXT}<hr><ul>{lines}</ul></main>")


def test_a_page_of_links_keeps_them() -> None:
    html = "<ul>" + "".join(f"<li><a href='/{n}'>Form {n}</a></li>" for n in range(9)) + "</ul>"
    assert "Form 8" in markdown(html)


@pytest.mark.parametrize(
    ("html", "title"),
    [
        (
            "<title>旅費規程 | 山田商事</title><header><h1>山田商事</h1></header><main><h2>旅費</h2>{}</main>",
            "旅費規程",
        ),
        ("<title>旅費規程 - 山田商事</title><h1>山田商事</h1><h2>旅費規程</h2>{}", "旅費規程"),
        ("<title>旅費規程｜山田商事</title><h1>山田商事</h1><h1>旅費規程</h1>{}", "旅費規程"),
        ("<meta property=og:site_name content=Acme><title>Acme: Travel</title><h1>Acme</h1>{}", "Travel"),
        ("<meta property=og:site_name content=Acme><title>Acme</title><h1>Acme</h1>{}", "Acme"),
        ("<title>Travel :: Acme ::</title><header><h1>Acme</h1></header><main><h2>By train</h2>{}</main>", "Travel"),
        ("<title>Acme | Travel</title><main><h1>Travel</h1>{}</main>", "Travel"),
        ("<title>Travel</title><h1>Travel by train</h1>{}", "Travel by train"),
        ("<title>旅費規程</title><h1>社内ポータル</h1><h2>旅費規程</h2>{}", "旅費規程"),
        ("<title>料金表｜山田商事</title><h1>出張の手配なら山田</h1><h2>料金表</h2>{}", "料金表"),
        ("<title>人事｜山田の発表</title><div id=header><h1>山田の発表</h1></div><h2>役員</h2>{}", "人事"),
        ("<title>役員の人事</title><div id=topHeader><h1>山田の発表</h1></div><h2>役員</h2>{}", "役員の人事"),
        ("<title>Guide - Intranet - Wiki</title><div id=header><h1>Intranet</h1></div><h1>Guide</h1>{}", "Guide"),
        ("<title>Gifts - Acme</title><div id=header><h1>What we give</h1></div><h1>Points</h1>{}", "Gifts - Acme"),
        ("<title>Acme</title><div id=header><h1>Acme</h1></div><h1>Guide</h1>{}", "Guide"),
        ("<title>Travel - Acme</title><header id=header><h1>Travel</h1></header>{}", "Travel"),
        ("<title></title><div id=header><h1>Travel</h1></div>{}", "Travel"),
        ("<title>Acme</title><header><h1>Travel</h1></header>{}", "Travel"),
    ],
)
def test_a_page_is_not_titled_by_the_name_of_its_site(html: str, title: str) -> None:
    assert load_html(html.format(TEXT), "a.html").title == title


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("<span>旅費</span>規程", "旅費規程"),
        ("<span class=en>COMPANY</span>会社<span>概要</span>", "COMPANY 会社概要"),
        ("会社概要<small><i>Company</i></small>", "会社概要 Company"),
        ("<ruby>稟<rt>りん</rt>議<rt>ぎ</rt></ruby>書", "稟議書"),
        ("Travel<a class=headerlink href=#travel>¶</a>", "Travel"),
        ("CO<sub>2</sub>排出量<button>コピー</button>", "CO2排出量コピー"),
        ("旅費<br>規程", "旅費 規程"),
        ("<img src=a.png alt=旅費規程>", "旅費規程"),
    ],
)
def test_a_page_is_titled_by_its_heading_as_it_is_read(heading: str, title: str) -> None:
    loaded = load_html(f"<title>山田商事</title><h1>{heading}</h1><p>{TEXT}</p>", "a.html")
    assert loaded.title == title
    assert loaded.pages[0].markdown.startswith(f"# {title}\n")


def test_readings_above_kanji_do_not_double_the_text() -> None:
    assert markdown("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>を読む</p>") == "漢字を読む\n"


def test_deleted_text_is_left_out_and_struck_text_is_marked() -> None:
    html = "<p>日当は<del>3,000円</del><ins>3,500円</ins>、通常<s>5,000<strike>円</strike></s>4,000円<s> </s>。</p>"
    assert markdown(html) == "日当は3,500円、通常~~5,000円~~4,000円 。\n"


@pytest.mark.parametrize(
    "style", ["text-decoration: line-through;", "color:red;TEXT-DECORATION-LINE:underline line-through"]
)
def test_text_that_a_style_strikes_through_is_marked(style: str) -> None:
    html = f'<p>日当は<span style="{style}">1,000円<s>です</s></span>2,000円</p><p style="{style}">廃止</p>'
    html += '<p style="text-decoration: none; --x: line-through">存続</p>'
    assert markdown(html) == "日当は~~1,000円です~~2,000円\n\n~~廃止~~\n\n存続\n"


def test_japanese_wrapped_in_the_source_has_no_space() -> None:
    assert markdown("<p>日本語の\n   文章と English\nwords</p>") == "日本語の文章と English words\n"


def test_legacy_pages_are_read_by_what_they_declare(raw) -> None:
    html = "<meta charset=Shift_JIS><title>案内</title><p>ようこそ、表示のテストです。</p>"
    loaded = load(raw(html.encode("cp932"), "a.html"))
    assert (loaded.title, loaded.pages[0].markdown) == ("案内", "ようこそ、表示のテストです。\n")


def test_the_title_is_the_heading_that_the_page_is_titled_by(raw) -> None:
    loaded = load(raw(b"<title>Annual leave</title><h1>Acme</h1><h1>Annual leave</h1><p>x</p>", "a.html"))
    assert loaded.title == "Annual leave"


@pytest.mark.parametrize(
    "html",
    [
        "<body><noscript>Turn JavaScript on</noscript><div id=root></div><script>x()</script></body>",
        "<head><title>規程集</title></head><frameset cols='20%,*'><frame src=menu.html><frame src=a.html></frameset>",
        "<frameset><frame src=a.html><noframes><body><p>フレームが必要です。</p></body></noframes></frameset>",
    ],
)
def test_a_page_without_text_of_its_own_is_refused_with_what_helps_for_a_page(html: str, raw) -> None:
    with pytest.raises(errors.PageWithoutText) as refused:
        load(raw(html.encode(), "a.html"))
    for language, words in (("en", ("script", "frame")), ("ja", ("スクリプト", "フレーム"))):
        sentence = refused.value.sentence(language)
        assert all(word in sentence for word in ("a.html", "PDF", *words))
        assert "OCR" not in sentence


def test_a_pdf_named_html_is_refused(raw) -> None:
    with pytest.raises(errors.WrongContent, match="PDF"):
        load(raw(b"%PDF-1.4\n%\xe2\xe3\n1 0 obj", "a.html"))


def test_what_surrounds_an_article_is_left_out() -> None:
    text = "<p>" + "The allowance is paid every month. " * 20 + "</p>"
    around = (
        "<div id='cookie-banner'>We use cookies.</div><div class='social-share'>Tell your friends</div>"
        "<form class='comment-form'>Your comment<textarea></textarea></form><div class='adsbygoogle'>Buy now</div>"
        "<footer><p>© Acme. All rights reserved.</p></footer><div style='display: none'>hidden words</div>"
    )
    assert markdown(f"<body>{text}{around}</body>").strip() == ("The allowance is paid every month. " * 20).strip()


def test_what_a_wiki_puts_around_its_text_is_left_out() -> None:
    text = "<h2>準備</h2><p>" + "証明書を総務課で受け取ってから設定します。" * 9 + "</p>"
    around = (
        "<ul id='skip-links'><li><a href='#a'>本文へ</a></li></ul><div id='siteSub'>提供: 社内Wiki</div>"
        "<div class='toc-macro'><ul><li><a href='#1'>準備</a></li></ul></div><div id='toc' class='toc'>目次</div>"
        "<div class='page-metadata'>作成者 佐藤</div><table class='navbox'><tr><th>網<td><a href='1'>LAN</a></table>"
        "<div class='printfooter'>から取得</div><div id='catlinks'>カテゴリ: 網</div>"
    )
    assert markdown(f"<body>{around}{text}{around}</body>") == markdown(text)


def test_a_heading_that_has_a_path_above_it_is_read() -> None:
    title = "<h1 id=title-text class=with-breadcrumbs><a href=/1>New people</a></h1>"  # as in Confluence
    assert markdown(f"<ol id=breadcrumbs><li><a href=/>Pages</a></ol>{title}{TEXT}").startswith("# New people\n\nThe")


@pytest.mark.parametrize(
    "link",
    [
        "<a href='#main'>本文へスキップします。</a>",
        "<p><a href='#honbun'><span>このページの本文へ移動</span></a></p>",
        "<ul><li><a href='#main'>Skip to content</a><li><a href='#nav'>Skip to main navigation</a></ul>",
        "<p class=up><a href='#'>▲ページの先頭へ戻る</a></p>",
        "<div><a href='#top'>Back to top</a></div>",
    ],
)
def test_links_to_the_text_and_to_the_top_of_a_page_are_left_out(link: str) -> None:
    assert markdown(f"<body>{link}<h1>旅費</h1><p>月末まで。</p>{link}</body>") == "# 旅費\n\n月末まで。\n"


@pytest.mark.parametrize(
    "text",
    [
        "詳しくは<a href='#menu'>メニュー</a>を見る。", "その後<a href='/top'>トップへ戻る</a>。",
        "<a href='#s5'>Skip to step 5</a> if you have an account.",
    ],
)  # fmt: skip
def test_other_links_in_a_text_are_read(text: str) -> None:
    words = text.replace("</a>", "").partition("<a")
    assert markdown(f"<p>{text}</p>").strip() == words[0] + words[2].partition(">")[2]


@pytest.mark.parametrize(
    "mark",
    [
        "<sup id='fnref:1'><a class=footnote-ref href='#fn:1'>1</a></sup>",
        "<a href='#fn1' id=fnref1 role=doc-noteref><sup>1</sup></a>",
        "<a href='#fn:1' epub:type=noteref>1</a>",
        "<sup><a href='notes.xhtml#n1' epub:type='noteref'>1</a></sup>",
    ],
    ids=["MkDocs", "Pandoc", "EPUB", "EPUB, raised"],
)
def test_the_mark_of_a_note_does_not_stick_to_the_word_before_it(mark: str) -> None:
    note = "<li id='fn:1'>In Japan. <a class=footnote-backref href='#fnref:1'>↩</a></li>"
    assert markdown(f"<p>Kept for 30 days{mark}.</p><ol>{note}</ol>") == "Kept for 30 days[1].\n\n1. In Japan.\n"


@pytest.mark.parametrize(
    "box",
    [
        "<div><span>Was this article helpful?</span><button>Yes</button><small>12 of 20 did</small></div>",
        "<section><h2>Did you find what you were looking for?</h2><form><input type=radio>Yes</form></section>",
        "<form><h2>このページの情報は役に立ちましたか？</h2><input type=radio><label>1：役に立った</label></form>",
        "<div><h2>より良いホームページにするために皆さまのご意見をお聞かせください</h2><form><input><p>ふつう</p></form></div>",
    ],
)
def test_a_box_in_which_readers_rate_the_page_is_left_out(box: str) -> None:
    assert markdown(f"<div>{TEXT}{box}</div>") == markdown(TEXT)


@pytest.mark.parametrize("anchor", ["pagination", "cookies", "ad-accounts", "related-articles", "navbar", "gutter"])
@pytest.mark.parametrize(
    "html",
    [
        "<section id={}><h2>Our rules</h2><p>Ask first.</p></section>",
        "<div id={} class=section><h2>Our rules</h2><p>Ask first.</p></div>",
        "<h2 id={}>Our rules</h2><p>Ask first.</p>",
        "<h2><span class=mw-headline id={}>Our rules</span></h2><p>Ask first.</p>",
        "<h2>Our rules</h2><dl><dt id={}>Ask first.</dt></dl>",
    ],
)
def test_a_section_whose_anchor_is_named_like_a_widget_is_read(html: str, anchor: str) -> None:
    text = "<p>" + "The allowance is paid every month. " * 20 + "</p>"
    assert markdown(text + html.format(anchor)).endswith("\n\n## Our rules\n\nAsk first.\n")


@pytest.mark.parametrize(
    "html",
    [
        "<div id=social><h2>Our rules</h2><p>Ask first.</p></div>",
        "<div id=cookie> <h3>Our rules</h3><p>Ask first.</p></div>",
        "<div id=cookie-policy><h2>Our rules</h2><p>Ask first.</p></div>",
        "<table><tr><th>a<th>b<tr class=footer><td>Our rules<td>Ask first.</table>",
        "<table><tr><td>a<td id=ad>Our rules<td class=share>Ask first.</table>",
        "<div class=ad-hoc>Our rules<p>Ask first.</p></div>",
        "<div class=share>Our rules<p>Ask first.</p></div>",
        f"<div class='entry share'><p>Our rules</p><p>{'Ask first. ' * 30}</p><div><a href=1>Tweet</a></div></div>",
        "<blockquote>Our rules<footer class=footer>Ask first.</footer></blockquote>",
        "<main><p>Our rules</p><footer>Ask first.</footer></main>",
    ],
)
def test_a_part_of_the_text_that_is_named_with_a_common_word_is_read(html: str) -> None:
    page = markdown(f"<body>{TEXT}{html}</body>")
    assert "Our rules" in page
    assert "Ask first." in page


@pytest.mark.parametrize(
    "html",
    [
        "<div id='cookie-banner'><h2>Our rules</h2><p>Ask first.</p></div>",
        "<div class=cookies><h2>Our rules</h2><p>Ask first.</p></div>",
        "<div class='ad-slot'>Our rules</div><div class=ad-300x250>Our rules</div>",
        "<div class=share><p>Our <a href=1>rules</a></p></div>",
        "<footer>Our rules</footer>",
        "<div id=tmp_footer><p>Our rules</p></div>",
        "<div id=footerArea><p>Our rules</p></div>",
        "<div class=footer-inner><p>Our rules</p></div>",
        "<div id=cookieConsent class='alert alert-info' role=alert>Our <a href=/privacy>rules</a></div>",
        "<div class='cookiebar js-bar'><p>Our rules</p></div>",
        "<main><p>Text</p><footer class='prev-next-footer d-print-none'><p>next</p><p>Our rules</p></footer></main>",
        "<div class='tocsection editthispage'><a href=1>Our rules</a></div>",
        "<main><p>Text</p><footer class='theme-doc-footer docusaurus-mt-lg'><a href=1>Our rules</a></footer></main>",
        "<main><p>Text</p><footer class=site-footer>Our rules</footer></main>",
    ],
)
def test_a_widget_is_left_out_though_it_has_a_heading_or_text(html: str) -> None:
    assert "rules" not in markdown(f"<body>{TEXT}{html}</body>")


def test_a_section_whose_class_is_that_of_a_widget_is_left_out() -> None:
    text = "<p>" + "The allowance is paid every month. " * 20 + "</p>"
    widget = "<section class=related-posts><h2>Read this, too</h2><p>Ten ways to travel</p></section>"
    assert markdown(text + widget) == markdown(text)


@pytest.mark.parametrize(
    "html",
    [
        "<div class='accordion'><div><p>Question</p><div style='display:none'>Answer</div></div></div>",
        "<dl id='faq-list'><dt>Question</dt><dd hidden>Answer</dd></dl>",
        "<dl class=list><dt>Question</dt><dd style='display: none;'><p>Answer</p></dd></dl>",
        "<p>Question</p><div role='tabpanel' hidden>Answer</div>",
        "<a class=inline href='#a1'>Question</a><div style='display:none'><div id=a1><p>Answer</p></div></div>",
    ],
)
def test_what_a_click_unfolds_is_read(html: str) -> None:
    assert markdown(html) == "Question\n\nAnswer\n"


@pytest.mark.parametrize(
    "html",
    [
        "<h3><button>{q}</button></h3><div class=collapse>{a}</div>",
        "<dl><dt><button type=button>{q}</button></dt><dd>{a}</dd></dl>",
        "<button aria-expanded=false aria-controls='a1 a2'>{q}</button><div id=a2 hidden>{a}</div>",
        "<div><button aria-expanded=false>{q}</button></div><div hidden='until-found'>{a}</div>",
        "<button class=accordion>{q}</button><div class=panel>{a}</div>",
        "<div role=tablist><button role=tab>{q}</button></div><div role=tabpanel>{a}</div>",
        "<p>{q} <a href='#a1' aria-controls='a1'></a></p><div id=a1 style='display:none'>{a}</div>",
    ],
)
def test_a_question_that_is_a_button_is_read_and_so_is_what_it_unfolds(html: str) -> None:
    page = markdown(html.format(q="How much is it?", a="980 yen"))
    assert "How much is it?" in page
    assert "980 yen" in page


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<dl><dt><span>Q</span>転勤は？</dt><dd><span>A</span><p>ありません。</p><p>以上</p></dd></dl>",
            "Q 転勤は？\n\nA ありません。\n\n以上",
        ),
        (
            "<div><i>Q1</i><span>Do you ship?</span></div><div hidden class=answer><i>A1</i>\n<b>We</b> do.</div>",
            "Q1 Do you ship?\n\nA1 We do.",
        ),
        (
            "<div><p class=mark>Ｑ．</p><div>土曜は？</div></div><div><p>Ａ．</p><p>休みです。</p></div>",
            "Ｑ． 土曜は？\n\nＡ． 休みです。",
        ),
        ("<p><b>Q</b></p><h2>When?</h2><p><b>A</b></p><ul><li>Now</ul>", "Q\n\n## When?\n\nA\n\n- Now"),
        ("<p><span class=cap>Q</span>uality first.</p>", "Quality first."),
        ("<p><b>A</b></p><p><b>A</b>社</p><p>Q<sub>10</sub></p>", "A\n\nA社\n\nQ10"),
    ],
)
def test_the_mark_of_a_question_or_an_answer_stands_before_its_words(html: str, expected: str) -> None:
    assert markdown(html) == expected + "\n"


def test_the_sign_of_a_link_to_a_heading_is_no_part_of_it() -> None:
    html = "<h2 id=a><a class=header-anchor href=#a>#</a> Travel</h2><h3>C<a href=#b class=wiki-anchor>¶</a></h3>"
    html += "<h4>Price<a href=#note>*</a> in <a href=/c>C</a><a href=/sharp>#</a></h4><p>x</p>"
    assert markdown(html) == "## Travel\n\n### C\n\n#### Price* in C#\n\nx\n"


def test_buttons_that_do_something_else_are_left_out() -> None:
    buttons = (
        "<button>Copy</button><button aria-haspopup=menu aria-expanded=false>Share</button>"
        "<button aria-controls=menu aria-expanded=false>Menu</button>"
        "<div id=menu hidden><nav><a href='/'>Home</a></nav></div>"
    )
    assert markdown(f"<p>Text</p>{buttons}") == "Text\n"


@pytest.mark.parametrize(
    "html",
    [
        "<body style='visibility:hidden' onload='show()'><p>Question</p><p>Answer</p>",
        "<main hidden><p>Question</p><p>Answer</p></main>",
        "<p>Question</p><div style='-webkit-backface-visibility:hidden;backface-visibility: hidden'>Answer</div>",
        "<p>Question</p><div class='wow fadeInUp' style='visibility: hidden;'>Answer</div>",
        "<p>Question</p><div class=js-more style='display:none'>Answer</div>",
        "<p>Question</p><div class=expand-content style='color:red;display:none'>Answer</div>",
    ],
)
def test_what_a_reader_sees_once_the_page_is_shown_is_read(html: str) -> None:
    assert markdown(html) == "Question\n\nAnswer\n"


@pytest.mark.parametrize("tag", ["video controls", "audio", "canvas"])
def test_what_a_page_says_to_browsers_without_films_or_drawings_is_left_out(tag: str) -> None:
    said = f"<{tag}><source src=a>Your browser can't show this.</{tag.split()[0]}>"
    assert markdown(f"<p>Text</p>{said}<p>More</p>") == "Text\n\nMore\n"


@pytest.mark.parametrize("style", ["display:none", "color: red; visibility :hidden", ";DISPLAY : NONE"])
def test_what_no_click_shows_is_left_out(style: str) -> None:
    assert markdown(f"<div class=more><p>Text</p><p class=menu style='{style}'>hidden</p></div>") == "Text\n"


@pytest.mark.parametrize(
    "name",
    ["class=pankuzu", "id=topicpath", "class=topic_path", "class=c-breadcrumb", "class='breadcrumb-area inner'",
     "id=breadCrumbList"],
)  # fmt: skip
def test_the_path_to_a_page_is_left_out(name: str) -> None:
    path = f"<div {name}><p>現在地 <a href=/>トップ</a> &gt; <a href=/k>手当</a> &gt; 児童手当</p></div>"
    assert markdown(f"<div>{path}<h1>児童手当</h1>{TEXT}</div>").startswith("# 児童手当\n")


@pytest.mark.parametrize("name", ["header", "global-header", "site_header", "tmp_header", "headerArea", "header_inner"])
def test_what_a_page_has_above_its_text_is_left_out_if_its_header_is_a_div(name: str) -> None:
    tools = "<p><a href=/><img alt=City></a></p><dl><dt>文字サイズ</dt><dd>拡大</dd></dl><a href=/en>English</a>"
    text = f"<h1>児童手当</h1>{TEXT}"
    assert markdown(f"<div><div id={name}>{tools}</div>{text}</div>").startswith("# 児童手当\n")
    assert markdown(f"<div><div id={name}>{tools}{text}</div><p>End</p></div>").count("# 児童手当") == 1
    assert "Open to all" in markdown(f"<div><div id={name}><p>Open to all, at 9.</p></div>{text}</div>")
    assert "文字サイズ" in markdown(f"<article><h1>A</h1><div id={name}>{tools}</div>{TEXT}</article>")


def test_a_page_that_is_a_table_of_contents_is_kept() -> None:
    assert "Travel" in markdown("<div class='toc'><p>Contents</p><ul><li>Travel<li>Money</ul></div><p>See there.</p>")


def test_header_rows_become_one() -> None:
    html = (
        "<table><tr><th rowspan=2>役職<th colspan=2>宿泊費</tr><tr><th>国内<th>海外</tr>"
        "<tr><th>部長<td>1<td>2</tr><tr><th>社員<td>3<td>4</tr></table>"
    )
    assert markdown(html) == (
        "| 役職 | 宿泊費 国内 | 宿泊費 海外 |\n| --- | --- | --- |\n| 部長 | 1 | 2 |\n| 社員 | 3 | 4 |\n"
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><td rowspan=2>役職<td colspan=2>宿泊費<tr><td>国内<td>海外", "| 役職 | 宿泊費 国内 | 宿泊費 海外 |"),
        ("<tr><td colspan=2 rowspan=2>役職<td colspan=2>宿泊費<tr><td>国内<td>海外",
         "| 役職 | 役職 | 宿泊費 国内 | 宿泊費 海外 |"),
        ("<tr><td>氏名<td colspan=2>佐藤<tr><td>部署<td>営業<td>課長<tr><td>住所<td colspan=2>東京",
         "| 氏名 | 佐藤 |  |"),
        ("<tr><td>役職<td colspan=2>日当<tr><td>部長<td>3,000円<td>2,500円", "| 役職 | 日当 |  |"),
    ],
)  # fmt: skip
def test_header_rows_of_a_page_that_a_program_of_office_wrote_are_known_by_their_merged_cells(
    rows: str, expected: str
) -> None:
    below = "<tr>" + "<td>1" * (expected.count("|") - 1)
    assert markdown(f"<table border=1>{rows}{below}{below}</table>").splitlines()[0] == expected


@pytest.mark.parametrize(
    "html",
    [
        "<pre><code class='hljs language-python'>x</code></pre>",
        "<pre class='lang-python'>x</pre>",
    ],
)
def test_code_keeps_the_name_of_its_language(html: str) -> None:
    assert markdown(html) == "```python\nx\n```\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("<div class=line>a = 1</div><div class=line>  b = 2</div>", "a = 1\n  b = 2"),
        ("<p>a = 1</p>\n<p>b = 2</p>", "a = 1\nb = 2"),
        ("a = 1<br>b = 2", "a = 1\nb = 2"),
    ],
)
def test_code_whose_lines_are_blocks_keeps_its_lines(lines: str, expected: str) -> None:
    assert markdown(f"<pre>{lines}</pre>") == f"```\n{expected}\n```\n"


def test_parts_of_a_page_that_are_the_entries_of_a_list_have_their_headings() -> None:
    parts = "<ul><li><h3>申込み</h3><p>窓口で申し込みます。</p></li><li><h3>審査</h3><p>3日かかります。</p></li></ul>"
    assert markdown(parts) == "### 申込み\n\n窓口で申し込みます。\n\n### 審査\n\n3日かかります。\n"


@pytest.mark.parametrize(
    "html",
    [
        "<p>~~~ お知らせ ~~~</p>",
        "<p>~~~~~~~~</p>",
        "<ul><li><code>```</code></ul>",
        "<table><tr><td>~~~~</td><td></td></tr><tr><td>a</td><td></td></tr></table>",
    ],
)
def test_a_line_that_looks_like_the_begin_of_code_costs_no_heading(html: str) -> None:
    lines = load_html(f"<h1>a</h1>{html}<h2>b</h2>", "a.html").pages[0].lines()
    assert [heading for _, _, heading in lines if heading] == ["a", "b"]


@pytest.mark.parametrize(
    "html",
    [
        "<ul><li><input type=checkbox disabled checked> a</li><li><input type=checkbox disabled> b</li></ul>",
        "<ul class=inline-task-list><li class=checked><span>a</span></li><li>b</li></ul>",
        "<ul class=to-do-list><li><div class='checkbox checkbox-on'></div> <span>a</span></li></ul>"
        "<ul class=to-do-list><li><div class='checkbox checkbox-off'></div> <span>b</span></li></ul>",
    ],
    ids=["GitHub", "Confluence", "Notion"],
)
def test_a_task_that_is_done_is_told_from_one_that_is_open(html: str) -> None:
    assert markdown(html).replace("\n\n", "\n") == "- ☑ a\n- ☐ b\n"


def test_a_box_to_tick_in_a_form_is_left_out() -> None:
    assert markdown("<ul><li><input type=checkbox checked> a</li></ul>") == "- a\n"


def test_names_of_tabs_beside_each_other_are_words_of_their_own() -> None:
    tabs = "<div class=tabbed-labels><label for=1>Linux</label><label for=2><a href=#2>macOS</a></label></div>"
    assert markdown(f"{tabs}<p>x</p>") == "Linux macOS\n\nx\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<time>2026.10.01</time><a href=a>12月の休診日</a>", "2026.10.01 12月の休診日"),
        ("<span class=y>2010</span><span class=m>5月</span><span>上場</span>", "2010 5月上場"),
        ("<span>2026/10/01</span> <b>12時</b>", "2026/10/01 12時"),
        ("<b>20</b><b>26年</b><span>2026</span><span>00円</span>", "2026年202600円"),
        ("<pre><b>2026-10-01</b><b>12</b></pre>", "```\n2026-10-0112\n```"),
    ],
)
def test_a_date_before_a_text_that_begins_with_a_number_is_a_word_of_its_own(html: str, expected: str) -> None:
    assert markdown(f"<div>{html}</div>") == expected + "\n"


@pytest.mark.parametrize("style", ["white-space: pre-wrap", "color:red;WHITE-SPACE:pre-line;", "white-space:pre"])
def test_lines_that_a_style_keeps_stay_lines(style: str) -> None:
    html = f"<div style='{style}'>Dear all,\nthe office\n\n<b>opens</b>\nat 9.<p>Bye</p>\n</div><p>One\nline</p>"
    assert markdown(html) == "Dear all,\nthe office\n\nopens\nat 9.\n\nBye\n\nOne line\n"
    assert markdown(f"<h2 style='{style}'>Our\nprices</h2><pre style='{style}'>a\nb</pre>") == (
        "## Our prices\n\n```\na\nb\n```\n"
    )
    assert markdown("<p style='white-space: nowrap; line-break: after-white-space'>a\nb</p>") == "a b\n"


def test_a_box_in_which_nobody_writes_is_text() -> None:
    html = "<p>Terms</p><form><textarea readonly name=t>Article 1\n\nYou pay.</textarea><input type=submit></form>"
    html += "<textarea cols=9>let a</textarea><textarea name=q readonly></textarea><textarea name=r>Write</textarea>"
    assert markdown(html) == "Terms\n\nArticle 1\n\nYou pay.\n\nlet a\n"


def test_a_page_that_is_one_form_or_one_footer_is_kept() -> None:
    assert "Give your name" in markdown("<form>Give your name at the desk.<input></form>")
    assert "At the station" in markdown("<div class='footer'>At the station, every day.</div>")


def test_a_formula_a_note_mark_and_line_numbers_do_not_double_the_text() -> None:
    html = (
        "<p>Ducks fly<sup class=reference>[1]</sup> at <math><mi>x</mi><annotation>{\\x}</annotation></math>.</p>"
        "<table><tr><td class=linenos><pre>1\n2</pre></td><td><pre>make\ntest</pre></td></tr></table>"
    )
    assert markdown(html) == "Ducks fly at x.\n\n```\nmake\ntest\n```\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<pre class='line-numbers language-bash'><code>make run 2</code></pre>", "```bash\nmake run 2\n```"),
        ("<div class=line-numbers><pre>make run</pre></div>", "```\nmake run\n```"),
        ("<pre>make<span class=line-numbers-rows>1</span></pre>", "```\nmake\n```"),
        ("<div class='row gutter'><h2>Prices</h2><p>980 yen</p></div>", "## Prices\n\n980 yen"),
        (
            "<table><tr><td class=gutter><pre>1\n2</pre></td><td class=code><pre>a\nb</pre></td></tr></table>",
            "```\na\nb\n```",
        ),
    ],
)
def test_code_and_text_in_a_block_that_is_named_for_its_line_numbers_are_read(html: str, expected: str) -> None:
    assert markdown(html) == expected + "\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("1.5×10<sup>6</sup> 個", "1.5×10^6 個"),
        ("10<sup>−<b>6</b></sup>", "10^−6"),
        ("1,200<sup><a href=#note>1</a></sup> 円", "1,200^1 円"),
        ("<i>(a+b)</i><sup>2</sup>", "(a+b)^2"),
        ("25 m<sup>2</sup>, 1<sup>st</sup>, text<sup>1</sup>", "25 m2, 1st, text1"),
        ("1,200<sup class=reference>[1]</sup> 円", "1,200 円"),
        ("<table><tr><td>A<td>10<sup>3</sup><tr><td>B<td>2</table>", "| A | 10^3 |\n| --- | --- |\n| B | 2 |"),
        ("<pre>10<sup>3</sup></pre>", "```\n10^3\n```"),
        ("1,200<sup>1</sup><sup>2</sup> 円", "1,200^1^2 円"),
        ("10<sup>−</sup><sup>12</sup>", "10^−12"),
    ],
)
def test_a_raised_figure_is_not_read_as_more_digits_of_the_number_before_it(html: str, expected: str) -> None:
    assert markdown(f"<div>{html}</div>") == expected + "\n"


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("<msup><mn>10</mn><mn>6</mn></msup>", "10^6"),
        ("<msup>\n <mrow>\n <mn>10</mn>\n </mrow>\n <mrow>\n <mo>−</mo><mn>6</mn>\n </mrow>\n</msup>", "10^−6"),
        ("<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mn>2</mn></msup>", "(a)^2"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x1^2"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<mn>1</mn><mfrac><mrow><mn>1</mn></mrow><mn>2</mn></mfrac>", "1 1/2"),
        ("<mfrac>\n <mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow>\n <mi>c</mi>\n</mfrac>", "(a+b)/c"),
        ("<mfrac><mfrac><mn>1</mn><mn>2</mn></mfrac><mtext>x y</mtext></mfrac>", "(1/2)/(x y)"),
        ("<msup><mn>10</mn></msup><mfrac><mn>2</mn></mfrac>", "10 2"),
    ],
)
def test_a_formula_stands_on_one_line(formula: str, expected: str) -> None:
    assert markdown(f"<p>割合は<math>{formula}</math>とする</p>") == f"割合は{expected}とする\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2><img src=a.gif alt='Our  prices'></h2>", "## Our prices"),
        (
            "<table><tr><th><img alt=Plan><th>Free<tr><td>Share<td><img alt=no><img alt=yet></table>",
            "| Plan | Free |\n| --- | --- |\n| Share | no yet |",
        ),
        ("<ul><li><a href=a.pdf><img alt='Form 1'></a><li>x</ul>", "- Form 1\n- x"),
        ("<p>E = <img class=mwe-math-fallback-image-inline alt='{\\displaystyle mc^{2}}'></p>", "E = mc^{2}"),
        ("<p>担当は<img class='gaiji' alt='髙'>橋です。</p>", "担当は髙橋です。"),
        ("<p>text <img alt='a flower'></p><h1><a href=/><img alt=Acme></a></h1>", "text"),
        ("<table><tr><td rowspan=2><img alt='[Note]'></td><td>Note<tr><td>text</table>", "Note\n\ntext"),
        ("<ul><li>x<li><a href=https://sns.example/me><img alt=Follow></a></ul>", "- x"),
        ("<h2>Prices <img alt=icon></h2><ul><li>Form<a href=a><img alt=PDF></a></ul>", "## Prices\n\n- Form"),
    ],
)
def test_a_picture_that_stands_for_words_is_read_by_its_words(html: str, expected: str) -> None:
    assert markdown(f"<div>{html}</div>") == expected + "\n"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("<i class=check></i><span class=sr-only>Yes</span>", "Yes"),
        ("<span class=cell><span class='icon visually-hidden'>Not yet</span></span>", "Not yet"),
        ("<i class='fa fa-check' aria-label='Yes'></i>", "Yes"),
        ("<svg role=img aria-label='No'><path/></svg>", "No"),
        ("<span class=sr-only>Price</span>500 yen", "500 yen"),
        ("<button aria-label=Sort></button>1", "1"),
    ],
)
def test_an_icon_that_is_alone_in_a_cell_is_read_as_a_screen_reader_says_it(cell: str, expected: str) -> None:
    table = f"<table><tr><th>Plan<th>Free<tr><td>Search<td>{cell}</table>"
    assert markdown(table) == f"| Plan | Free |\n| --- | --- |\n| Search | {expected} |\n"


def test_what_only_a_screen_reader_says_outside_of_cells_is_left_out() -> None:
    assert markdown("<h2><i aria-label=Menu></i>A<span class=sr-only>(opens)</span></h2><p>x</p>") == "## A\n\nx\n"


def test_a_menu_of_pictures_is_left_out() -> None:
    menu = "".join(f"<li><a href={n}><img alt='Menu item {n}'></a></li>" for n in range(6))
    assert markdown(f"<ul>{menu}</ul>{TEXT}") == markdown(TEXT)


def test_a_formula_and_its_picture_are_read_once() -> None:
    picture = "<img class=mwe-math-fallback-image-inline alt='m^{2}'>"
    for style, read in (("display: none;", "m^{2}"), ("", "m2")):
        formula = f"<span style='{style}'><math><mi>m</mi><mn>2</mn></math></span>"
        assert markdown(f"<p>E = <span class=mwe-math-element>{formula}{picture}</span></p>") == f"E = {read}\n"


_MATH = "<math><mi>E</mi><mo>=</mo><mi>m</mi></math>"


@pytest.mark.parametrize(
    "formula",
    [
        f"<span class=katex><span>{_MATH}</span><span class=katex-html aria-hidden=true>E=m</span></span>",
        "<span class=katex><span class=katex-html aria-hidden=true>E=m</span></span>",
        "<span class=MathJax_Preview>E=m</span><script type='math/tex'>E=m</script>",
        f"<span class=MathJax_Preview>E=m</span> <span class=MathJax><nobr aria-hidden=true>E=m</nobr>"
        f"<span class=MJX_Assistive_MathML>{_MATH}</span></span>",
    ],
    ids=["katex", "katex without mathml", "a preview alone", "mathjax"],
)
def test_a_formula_that_a_script_has_drawn_is_read_once(formula: str) -> None:
    assert markdown(f"<p>その値は{formula}である</p>").replace(" ", "") == "その値はE=mである\n"


def test_a_table_that_only_draws_a_box_is_read_as_text() -> None:
    html = "<table><tr><td rowspan=2><img src=a></td><th>Note</th></tr><tr><td>Mind the gap.</td></tr></table>"
    assert markdown(html) == "Note\n\nMind the gap.\n"


def test_a_table_with_a_menu_beside_the_text_of_an_old_page_keeps_its_lines() -> None:
    text = "旅費規程<br>申請書を出す。<p>精算は７日以内に行う。<ul><li>日当 2,000円<li>宿泊 10,000円</ul>"
    html = f"<tr><td colspan=2>総務部<tr><td>トップ<br>様式<td>{text}<tr><td colspan=2>更新 4月1日"
    assert markdown(f"<table>{html}</table>") == (
        "総務部\n\nトップ\n様式\n\n旅費規程\n申請書を出す。\n\n精算は７日以内に行う。\n\n"
        "- 日当 2,000円\n- 宿泊 10,000円\n\n更新 4月1日\n"
    )
    values = "<tr><td rowspan=2>担当<td>佐藤<br>鈴木<br>田中<tr><td>内線 12"
    assert markdown(f"<table>{values}</table>").startswith("| 担当 | 佐藤 鈴木 田中 |")


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<div>" * 30_000 + "deep text", marks=pytest.mark.soak),
        "<b><i>" * 15_000 + "deep text",
        pytest.param("<ul><li>" * 10_000 + "deep text", marks=pytest.mark.soak),
        "<table><tr><td>" * 10_000 + "deep text",
        "<math><mfrac><mrow>" * 3_000 + "deep text",
        "<header><h1>a</h1>" * 5_000 + "deep text",
        "<p>before<plaintext><b>deep text",
        "<p>deep text<!-- never closed",
    ],
    ids=["div", "inline", "list", "table", "formula", "header", "plaintext", "comment"],
)
@pytest.mark.timeout(60)  # seconds; it takes one or two
def test_tags_that_never_close_cost_no_text_and_no_time(html: str) -> None:
    assert "deep text" in markdown(html)


@pytest.mark.timeout(60)  # seconds; it takes one or two
@pytest.mark.parametrize("rows", [3_000, pytest.param(10_000, marks=pytest.mark.soak)])
def test_a_page_of_one_huge_table_takes_time_in_proportion(rows: int) -> None:
    row = "<tr><td>A-1</td><td>100</td><td>in stock</td></tr>"
    assert markdown(f"<table>{row * rows}</table>").count("A-1") == rows


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<tr><th>Name<th>Example<tr><td>retries<td><pre>retries = 5</pre>",
            "| Name | Example |\n| --- | --- |\n| retries | retries = 5 |",
        ),
        (
            "<tr><th><h3>Plan</h3><th><h3>Price</h3><tr><td>A<td>980",
            "| Plan | Price |\n| --- | --- |\n| A | 980 |",
        ),
        (
            "<tr><th>Plan<td>A<tr><th>Price<td><table><tr><td>Base<td>800</table>",
            "| Plan | A |\n| --- | --- |\n| Price | Base 800 |",
        ),
    ],
)
def test_a_table_of_data_stays_one_whatever_a_cell_holds(html: str, expected: str) -> None:
    assert markdown(f"<table>{html}</table>") == expected + "\n"


def test_a_form_or_a_counted_list_in_a_table_has_no_header() -> None:
    form = "<tr><th>氏名<td>佐藤<th>電話<td>03-1234-5678<tr><th>所属<td>営業|一課<th>内線<td>55"
    assert markdown(f"<table>{form}</table>") == "氏名 佐藤 電話 03-1234-5678\n所属 営業|一課 内線 55\n"
    steps = "<tr><td>1<td>記入<td>申請者<tr><td>2<td>押印<td>上長<tr><td>3<td>提出<td>総務"
    assert markdown(f"<table>{steps}</table>") == "1 記入 申請者\n2 押印 上長\n3 提出 総務\n"


def test_the_name_of_a_group_that_is_written_once_stands_in_each_row() -> None:
    cells = [
        ("Area", "Risk", "Owner"),
        ("IT", "Outage", "Lee"),
        ("", "Theft", "Kim"),
        ("Finance", "Fraud", "Roy"),
        ("", "Debt", "Ito"),
    ]
    table = "".join(f"<tr>{''.join(f'<td>{text}</td>' for text in row)}</tr>" for row in cells)
    found = markdown(f"<table>{table}</table>")
    assert "| IT | Theft | Kim |" in found
    assert "| Finance | Debt | Ito |" in found


def test_the_foot_of_a_table_comes_last_wherever_it_is_written() -> None:
    html = """<table><thead><tr><th>月<th>売上</thead><tfoot><tr><td>合計<td>300</tfoot>
    <tbody><tr><td>4月<td>100<tr><td>5月<td>200</tbody></table>"""
    assert markdown(html) == "| 月 | 売上 |\n| --- | --- |\n| 4月 | 100 |\n| 5月 | 200 |\n| 合計 | 300 |\n"


@pytest.mark.parametrize(
    ("table", "cell", "header", "row"),
    [("table", "cell", "columnheader", "rowgroup"), ("grid", "gridcell", "columnheader", "presentation")],
)
def test_a_table_whose_parts_are_named_by_roles_is_a_table(table: str, cell: str, header: str, row: str) -> None:
    html = f"""<div role="{table}" aria-label="料金"><div role="{row}"><div role="row">
    <span role="{header}">種別</span><span role="{header}">月額</span></div></div>
    <div role="{row}"><div role="row"><span role="rowheader">A</span><span role="{cell}">1,000円</span></div>
    <div role="row"><span role="rowheader">B</span><span role="{cell}"><div>2,000円</div></span></div></div></div>"""
    assert markdown(html) == "| 種別 | 月額 |\n| --- | --- |\n| A | 1,000円 |\n| B | 2,000円 |\n"


def test_a_title_in_the_first_row_of_a_table_stands_above_its_header() -> None:
    html = "<tr><td colspan=2>別表|1<tr><td>役職<td>日当<tr><td>部長<td>3,000円<tr><td>課長<td>2,500円"
    assert markdown(f"<table>{html}<tr><td colspan=2>※税込</table>") == (
        "別表|1\n\n| 役職 | 日当 |\n| --- | --- |\n| 部長 | 3,000円 |\n| 課長 | 2,500円 |\n| ※税込 |  |\n"
    )


@pytest.mark.parametrize("tag", ["td", "th"])
def test_a_title_that_is_marked_as_a_header_stands_above_the_header_too(tag: str) -> None:
    head = f"<thead><tr><th colspan=2>日当一覧</th></tr></thead><tr><{tag}>役職</{tag}><{tag}>日当</{tag}></tr>"
    table = f"<table>{head}<tr><td>部長<td>3,000円</tr><tr><td>課長<td>2,000円</table>"
    expected = "日当一覧\n\n| 役職 | 日当 |\n| --- | --- |\n| 部長 | 3,000円 |\n| 課長 | 2,000円 |\n"
    assert load_html(table, "a.html").pages[0].markdown == expected


def test_a_table_of_excel_is_read_as_its_sheet_is() -> None:
    """As Excel saves it as a web page, or Outlook pastes it into a mail."""
    rows = (
        ("2026年度 旅費一覧", "", ""), ("", "", "単位：円"), ("役職", "日当", "宿泊"), ("部長", "3,000", "12,000"),
        ("課長", "2,500", "10,000"), ("", "", ""), ("", "", ""), ("", "", ""), ("問い合わせ先", "総務部", ""),
    )  # fmt: skip
    cells = "".join("<tr>" + "".join(f"<td class=xl65>{text}</td>" for text in row) + "</tr>" for row in rows)
    assert markdown(f"<table border=0>{cells}</table>") == (
        "2026年度 旅費一覧\n単位：円\n\n| 役職 | 日当 | 宿泊 |\n| --- | --- | --- |\n| 部長 | 3,000 | 12,000 |\n"
        "| 課長 | 2,500 | 10,000 |\n\n問い合わせ先 総務部\n"
    )


def test_lists_inside_others_are_indented_where_google_docs_writes_them_beside_each_other() -> None:
    def listed(tag: str, level: int, *items: str) -> str:
        return f'<{tag} class="c7 lst-kix_ab9x-{level} start">' + "".join(f"<li>{item}" for item in items) + f"</{tag}>"

    html = listed("ul", 0, "新幹線") + listed("ol", 1, "普通車", "グリーン車") + listed("ul", 2, "部長以上")
    assert markdown(html + listed("ul", 0, "飛行機")) == (
        "- 新幹線\n\n   1. 普通車\n   2. グリーン車\n\n      - 部長以上\n\n- 飛行機\n"
    )


def test_a_sheet_of_google_is_read_without_its_letters_and_row_numbers() -> None:
    rows = (
        "<td colspan=3>価格表<td>", "<td><td><td>", "<td>品名<td>国内<td>海外", "<td>机|台<td>12000<td>13000",
        "<td>椅子<td colspan=2>8000",
        "<td>棚<td>9000<td>9500",
    )  # fmt: skip
    lines = [f"<tr><th><div>{number}</div>{row}" for number, row in enumerate(rows, 1)]
    lines.insert(3, "<tr><th class=freezebar-cell><td><td><td>")
    lines += [f"<tr><th>{number}<td><td><td>" for number in range(7, 99)]
    assert markdown(f"<table class=waffle><tr><th><th>A<th>B<th>C{''.join(lines)}</table>") == (
        "価格表\n\n| 品名 | 国内 | 海外 |\n| --- | --- | --- |\n"
        "| 机\\|台 | 12000 | 13000 |\n| 椅子 | 8000 | 8000 |\n| 棚 | 9000 | 9500 |\n"
    )


def test_a_cell_over_several_named_columns_stands_in_each() -> None:
    html = "<tr><th><th>月<th>火<tr><td>午前<td colspan=2 rowspan=2>休業<tr><td>午後<tr><td colspan=2>合計<td>2"
    assert markdown(f"<table>{html}</table>").splitlines()[2:] == [
        "| 午前 | 休業 | 休業 |",
        "| 午後 | 休業 | 休業 |",
        "| 合計 |  | 2 |",
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<tr><th>Menu<th>Text<tr><td>x<td><h2>Prices</h2>" + "The price is 980 yen. " * 40,
        "<tr><td>x<td><h2>Prices</h2><p>980 yen</p>",
        "<tr><th>File<th>Code<tr><td>a.py<td><pre>import a\nimport b</pre>",
        "<tr><th colspan=2>a.py<tr><td class=linenos><pre>1</pre><td><pre>import a\nimport b</pre>",
    ],
)
def test_a_table_that_arranges_texts_or_code_keeps_their_lines(html: str) -> None:
    assert {"## Prices", "import b"} & set(markdown(f"<table>{html}</table>").split("\n"))


@pytest.mark.parametrize("rows", [60, pytest.param(500, marks=pytest.mark.soak)])
def test_spans_that_claim_millions_of_cells_are_bounded(rows: int) -> None:
    row = "<tr><td colspan=9999 rowspan=9999>" + "long " * 100 + "</td><td>x</td></tr>"
    assert len(markdown(f"<table>{row * rows}</table>")) < 10_000 * rows
