"""The page that a browser gets before its scripts run."""

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from streamlit import file_util
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_handler

from pages.server.page_shell import PageShell, style_sheet
from tests.conftest import ROOT

NAVIGATION = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
STREAMLITS = Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")
OTHER = STREAMLITS.replace("Streamlit", "streamliT")
"""a page of the same length"""


@pytest.fixture(scope="module")
def browser() -> TestClient:
    async def other(_):
        return HTMLResponse(OTHER)

    static = create_streamlit_static_handler(file_util.get_static_dir(), None)
    app = Starlette(routes=[Route("/style.css", style_sheet), Route("/other", other), Mount("/", static)])
    return TestClient(PageShell(app), headers=NAVIGATION)


@pytest.mark.parametrize("path", ["/", "/documents", "/?c=1"])
def test_at_each_address_the_page_has_our_style_sheet_before_anything_is_drawn(browser, path):
    page = browser.get(path)
    assert page.headers["Content-Type"].startswith("text/html")
    link = re.search(r'<link rel="stylesheet" href="\./(style\.css\?v=\w+)" />\s*<noscript>', page.text)
    style = browser.get(f"/{link[1]}")
    assert style.text == (ROOT / "pages" / "assets" / "style.css").read_text(encoding="utf-8")
    assert style.headers["Content-Type"].startswith("text/css")
    assert "immutable" in style.headers["Cache-Control"]


@pytest.mark.parametrize(
    ("path", "preferred", "language"),
    [("/", "ja,en;q=0.8", "ja"), ("/", "fr", "en"), ("/runs?lang=ja", "en", "ja"), ("/?lang=xx", "ja", "ja")],
)
def test_it_is_in_the_readers_language_and_has_our_name(browser, path, preferred, language):
    page = browser.get(path, headers={"Accept-Language": preferred}).text
    assert f'<html lang="{language}">' in page
    assert "<title>Glassbox RAG</title>" in page


def test_a_browser_never_keeps_an_old_one(browser):
    headers = browser.get("/", headers={"If-None-Match": "*", "Accept-Encoding": "gzip"}).headers
    assert headers["Cache-Control"] == "no-cache"
    assert not {"ETag", "Last-Modified", "Content-Encoding"} & {*headers}


def test_scripts_and_other_pages_stay_as_they_are(browser):
    assert browser.get("/other").text == OTHER
    [script] = re.findall(r'src="\.(/static/js/[^"]+)"', browser.get("/").text)
    answer = browser.get(script, headers={"Accept": "*/*"})
    assert answer.content == Path(file_util.get_static_dir(), script[1:]).read_bytes()
    assert "ETag" in answer.headers


def test_a_program_that_asks_for_no_page_gets_that_of_streamlit(browser):
    assert browser.get("/", headers={"Accept": "*/*"}).text == STREAMLITS
