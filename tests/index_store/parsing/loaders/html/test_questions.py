import pytest

from index_store.parsing.loaders.html.html import load_html


def markdown(html: str) -> str:
    return load_html(html, "faq.html").pages[0].markdown


@pytest.mark.parametrize(
    "entry",
    [
        "<details><summary>{q}<span class=icon>+</span></summary><p>{a}</p></details>",
        "<dl class=faq><dt>{q}</dt><dd>{a}</dd></dl>",
        "<ul><li><details><summary><b>{q}</b></summary>{a}</details></li></ul>",
        "<dl><div><dt><button aria-expanded=false aria-controls=a>{q}</button></dt><dd>{a}</dd></div></dl>",
        "<div><div class=c-faq__question><span>{q}</span></div><div class=c-faq__answer><p>{a}</p></div></div>",
        "<div><button class=accordion-button aria-expanded=false>{q}</button><div class=panel hidden>{a}</div></div>",
    ],
    ids=["unfolds", "list of terms", "in a list", "button", "class", "class of a button"],
)
def test_the_questions_of_a_page_are_headings_of_their_answers(entry: str) -> None:
    asked = ["送料はいくらですか？", "届け先は変更できますか", "海外への発送"]
    entries = "".join(entry.format(q=question, a=f"答え {at}。") for at, question in enumerate(asked))
    lines = markdown(f"<h1>よくある質問</h1><h2>配送</h2>{entries}<h2>連絡先</h2><p>総務課</p>").split("\n\n")
    assert [line.removesuffix("+") for line in lines] == [
        "# よくある質問", "## 配送", "### 送料はいくらですか？", "答え 0。", "### 届け先は変更できますか", "答え 1。",
        "### 海外への発送", "答え 2。", "## 連絡先", "総務課\n",
    ]  # fmt: skip


def test_marks_in_tags_of_their_own_stand_before_questions_and_answers_that_are_headings() -> None:
    entry = "<dt><span>Q</span>{}？</dt><dd><span>A</span><p>{}です。</p></dd>"
    html = "<dl>" + "".join(entry.format(*each) for each in (("転勤は", "なし"), ("残業は", "少し"), ("寮は", "あり")))
    assert markdown(f"<h1>採用</h1>{html}</dl>").startswith("# 採用\n\n## Q 転勤は？\n\nA なしです。\n\n## Q 残業は？")


def test_a_question_within_the_answer_of_another_stands_below_it() -> None:
    inner = "<details><summary>How long does it take?</summary><p>Two days.</p></details>"
    html = f"<details><summary>Do you ship?</summary><p>Yes.</p><h3>To islands</h3>{inner}</details>"
    html += "<details><summary>Where are you?</summary><p>In Osaka.</p></details>"
    headings = [line for line in markdown(f"<h1>FAQ</h1>{html}").splitlines() if line.startswith("#")]
    assert headings == [
        "# FAQ", "## Do you ship?", "### To islands", "### How long does it take?", "## Where are you?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "html",
    [
        "<dl><dt>送料はいくらですか？</dt><dd>無料。</dd><dt>電話はありますか？</dt><dd>はい。</dd></dl>",
        "<dl><dt>電話</dt><dd>03-1234-5678</dd><dt>住所</dt><dd>港区</dd><dt>定休日はありますか</dt><dd>水曜</dd></dl>",
        "<details><summary>Example</summary>a</details><details><summary>Output</summary>b</details>"
        "<details><summary>Is it slow?</summary>c</details>",
        "<div class=question><p>送料は？</p><p>無料です。</p></div>" * 3,
        "<div class=accordion-title>会社概要</div><p>港区</p>" * 3,
        "<table><tr><th>質問<th>答え" + "<tr><td><dl><dt>いつですか？<dd>月曜</dl><td>はい" * 3 + "</table>",
    ],
    ids=["two", "values", "details of a text", "with answers", "titles", "in a table"],
)
def test_other_titles_are_no_headings(html: str) -> None:
    assert "#" not in markdown(html)


def test_a_question_with_readings_above_its_kanji_is_a_heading_with_all_its_words() -> None:
    asked = ["転勤命令拒否可能性有無", "残業", "寮"]
    ruby = ["".join(f"<ruby>{kanji}<rt>よみ</rt></ruby>" for kanji in question) for question in asked]
    entry = "<details><summary><span>Q</span>{}はありますか</summary><p>あります。</p></details>"
    read = markdown("<h1>採用</h1>" + "".join(map(entry.format, ruby)))
    headings = [line for line in read.split("\n") if line.startswith("##")]
    assert headings == [f"## Q {each}はありますか" for each in asked]
