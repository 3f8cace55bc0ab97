from collections.abc import Callable

import pytest

from index_store.parsing.loaders.document import Page, RawFile
from index_store.parsing.loaders.text.md import load

SIGNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""of the direction in which the text after them is shown"""


@pytest.fixture
def page(raw: Callable[..., RawFile]) -> Callable[[str], Page]:
    return lambda text: load(raw(text.encode(), "a.md")).pages[0]


def headings(page: Page) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in page.headings or ()]


def test_underlined_headings_are_headings_and_rules_and_tables_are_none(page) -> None:
    found = page("規程\n====\n日当\n----\ntext\n\n---\n\n- item\n---\n\na | b\n--|--\n1 | 2\n")
    assert headings(found) == [(1, "規程"), (2, "日当")]
    assert found.markdown.startswith("# 規程\n## 日当\ntext\n\n---\n")


def test_what_looks_like_a_heading_in_code_or_a_comment_is_none(page) -> None:
    found = page("# A\n\n```sh\n# no\n<!--\n```\n\n    # no\n\n<!-- # no\n# no\n--> rest\n\n## B\n")
    assert headings(found) == [(1, "A"), (2, "B")]
    assert found.markdown == "# A\n\n```sh\n# no\n<!--\n```\n\n    # no\n\nrest\n\n## B\n"


@pytest.mark.parametrize("code", ["- ```sh\n  # no\n  ```", "10. ```\n    # no\n    ```", "```npm``` を実行"])
def test_headings_below_code_in_a_list_or_on_one_line_are_headings(code: str, page) -> None:
    assert headings(page(f"## A\n\n{code}\n\n## B\n")) == [(2, "A"), (2, "B")]


def test_pictures_that_are_inside_the_file_are_left_out_but_for_their_words(page) -> None:
    data = f"data:image/png;base64,{'iVBORw0KGgo+/9' * 300}=="
    text = f"# 手順\n\n申請 ![図]({data}) は![]({data} 'a')総務へ。\n\n[image1]: <{data}>\n"
    assert page(text).markdown == "# 手順\n\n申請 図 は総務へ。\n\n"
    assert page(f"```\n![図]({data})\n```\n").markdown == f"```\n![図]({data})\n```\n"
    assert page("![図](a.png)\n\n[1]: https://a.example\n").markdown == "![図](a.png)\n\n[1]: https://a.example\n"


def test_a_comment_that_never_ends_costs_no_text(page) -> None:
    assert page("<!-- note\n\n## B\n\ntext").markdown == "<!-- note\n\n## B\n\ntext"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("## 設定 `config` と **[手順](how_to.md)** ##", "設定 config と 手順"),
        ("## 表 {#table}", "表"),
        ("## 一覧 <a id='list'></a>", "一覧"),
        ("## a < b > c", "a < b > c"),
        (r"## **1\. user\_name の Q\&A** {#1.-q&a}", "1. user_name の Q&A"),
        (r"## `C:\.conf` の場所", r"C:\.conf の場所"),
        ("## `<div>` in {braces} here", "<div> in {braces} here"),
    ],
)
def test_a_heading_is_named_by_its_words(page, line: str, text: str) -> None:
    found = page(line)
    assert headings(found) == [(2, text)]
    assert found.markdown == line


def test_the_title_is_that_of_the_front_matter_or_the_first_heading_or_the_name_of_the_file(raw) -> None:
    assert load(raw(b"---\ntitle: 'Rules'\n---\n# One\n", "a.md")).title == "Rules"
    assert load(raw(b"# **One** `x`\n\n# Two\n", "a.md")).title == "One x"
    assert load(raw(b"## Two\n", "a.md")).title == "a"


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("---\ntitle: >-\n  Travel rules\ndate: 2026-01-01\n---\n", "Travel rules"),
        ("---\ntitle: |\n  Travel rules\n---\n", "Travel rules"),
        ('---\ntitle: ""\ndraft: true\n---\n', "One"),
        ("---\ntitle:\ndraft: true\n---\n", "One"),
        ("---\ntitle: \"'A' rules\"\n---\n", "'A' rules"),
        ('+++\ntitle = "Travel rules"\ndate = 2026-01-01\n+++\n', "Travel rules"),
    ],
)
def test_front_matter_is_read_in_each_form_that_programs_write(front: str, title: str, raw) -> None:
    loaded = load(raw(f"{front}# One\n".encode(), "a.md"))
    assert (loaded.title, loaded.pages[0].markdown) == (title, "# One\n")
    assert load(raw(b"---\n\ntext\n\n---\n", "a.md")).pages[0].markdown.startswith("---\n\ntext")


def test_signs_that_turn_what_follows_them_are_left_out(page) -> None:
    found = page(f"# 規程{SIGNS}\n\n## 日当 \u202e005\u202c\n\n日当は{SIGNS}2,500円です。\n")
    assert found.markdown == "# 規程\n\n## 日当 005\n\n日当は2,500円です。\n"
    assert headings(found) == [(1, "規程"), (2, "日当 005")]


def test_signs_that_command_a_terminal_are_left_out(page) -> None:
    assert page("It is \x1b[31m5\x1b[0m.").markdown == "It is [31m5[0m."


def test_plain_lines_that_are_headings_in_a_text_are_headings_in_markdown_without_others(page) -> None:
    text = "この要領は、社内の文書の作成、区分、保存および廃棄について定める。"
    marked = "".join(f"■ {name}\n{text}\n\n" for name in ("目的", "対象者", "期間"))
    expected = ["■ 目的", "■ 対象者", "■ 期間"]
    assert headings(page(marked)) == [(1, name) for name in expected]
    titled = headings(page(f"# [要領](a.md)\n\n{marked}"))
    assert titled == [(1, "要領"), *((2, name) for name in expected)]
    assert headings(page(f"# 要領\n\n{marked}## 参考\n\nなし\n")) == [(1, "要領"), (2, "参考")]
    assert headings(page(f"```\n{marked}```\n")) == []
