"""Sentences of errors on the pages: the names in them are escaped before Markdown reads them."""

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from index_store.base.errors import UnknownIndex
from pages.widgets.controls.errors import show_error, show_warning
from pages.words.names import plain
from tests.pages.reader import for_reader
from tests.pages.tabs.app_page import shown

ROOT = Path(__file__).parents[4]
HOSTILE = [
    "![x](http://127.0.0.1:9/pixel.png)",
    "[x](y)",
    "<b>",
    "$x$",
    ":red[x]",
    "a -- b",
    "`x`",
    "www.a.example",
]


def drawn(page: AppTest) -> list[str]:
    return [each.value for each in (*page.error, *page.warning)]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("show", [show_error, show_warning])
def test_what_an_error_names_is_escaped_and_reads_as_written(show, name):
    error = UnknownIndex(index=name, known="none")
    for each in (error, error.as_failure()):
        _, page = for_reader("en", lambda each=each: show(each))
        [told] = drawn(page)
        assert name not in told
        assert shown(told) == error.sentence("en")


@pytest.mark.parametrize("text", ["python -m index_store check --index a->b", "a--b.md", "12 <= 13", "x@y"])
def test_commands_and_file_names_are_read_as_written(text):
    assert shown(plain(text)) == text


def test_a_command_in_a_sentence_can_be_copied():
    """It contains no invisible characters."""
    assert plain("python -m index_store --index a").replace("\\", "") == "python -m index_store --index a"


def test_no_page_gives_a_sentence_to_streamlit_as_it_is():
    """Except to `st.html`, whose texts are escaped as HTML."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "pages").rglob("*.py"))}
    bare = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, source in sources.items()
        if ".sentence(" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).startswith("st.")
        and ast.unparse(node.func) != "st.html"
        for argument in (*node.args, *(each.value for each in node.keywords))
        if ".sentence(" in ast.unparse(argument) and not ast.unparse(argument).startswith("plain(")
    ]
    assert bare == []
