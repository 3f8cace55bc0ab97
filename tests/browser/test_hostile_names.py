"""Names, titles and questions that Markdown would read as pictures or links, on every page that shows them."""

from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from pages.words.names import WORD_JOINER
from tests.browser.asking import script
from tests.browser.visitor import LOADED, Visitor

PICTURE = "![picture](pixel.png)"
"""for the name of an index and of a file, which can't contain slashes"""
LINK = "[link](elsewhere)"
FAR = "![far](http://127.0.0.1:9/pixel.png) [link](http://127.0.0.1:9/link) http://127.0.0.1:9/bare www.evil.example"
"""for a title and a question"""


def assert_nothing_became_of_it(visitor: Visitor) -> None:
    """There is no picture and no link, and the browser has not requested the picture."""
    page = visitor.page
    became = page.locator(
        "img[src*=pixel], a[href*='//127.0.0.1:9/'], a[href*='//www.evil'], a[href^=mailto], a[href$=elsewhere]"
    )
    assert became.evaluate_all("all => all.map(each => each.outerHTML)") == []
    assert [each for each in visitor.addresses if urlsplit(each).path.endswith("pixel.png")] == []


def told(visitor: Visitor) -> str:
    return visitor.page.get_by_test_id("stApp").inner_text().replace(WORD_JOINER, "")


@pytest.mark.soak  # a title is tested below
@pytest.mark.parametrize("name", [f"{PICTURE} {LINK}", "www.evil.example me@evil.example a -> b :smile: :red[x]"])
def test_the_name_of_an_index_is_shown_as_written_in_what_went_wrong(visit, server, name):
    visitor = visit(path="/documents?lang=en")
    visitor.button("index.new").click()
    visitor.page.get_by_label(visitor.words["index.name"]).fill(name)
    visitor.button("index.create").click()
    expect(visitor.page.get_by_test_id("stMain").get_by_role("combobox").first).to_have_value(f"{name} (0 documents)")
    visitor.settle()
    visitor.sidebar.get_by_role("link", name=visitor.words["app.chat"]).click()
    visitor.ask("Is there anything?")
    visitor.wait_for_the_end()
    alert = visitor.page.get_by_role("alert")
    expect(alert).to_have_count(1)
    assert name in alert.inner_text().replace(WORD_JOINER, "")
    visitor.open(visitor.traces)
    visitor.open(visitor.step("retrieve"))
    expect(visitor.page.get_by_role("alert").filter(visible=True)).to_have_count(2)
    assert_nothing_became_of_it(visitor)


@pytest.fixture
def hostile(app_with):
    """The app with an HTML file that has exactly this text as title and heading."""
    text = "<p>The green car needs the approval of a director.</p>"
    return app_with(f"{PICTURE}.html", f"<title>{FAR}</title><h1>{FAR}</h1>{text}")


def test_a_title_and_a_question_are_shown_as_written_on_every_page(hostile, visit, server):
    script(server, FAR, f"{FAR} [1]")
    visitor = visit()
    visitor.ask(FAR)
    visitor.wait_for_the_end()
    expect(visitor.questions).to_have_text(FAR)
    expect(visitor.page.locator(".sources")).to_contain_text(FAR)
    assert FAR[:40] in visitor.sidebar.inner_text().replace(WORD_JOINER, "")
    visitor.open(visitor.traces)
    for step in ("retrieve", "grade_documents"):
        visitor.open(visitor.step(step))
    expect(visitor.page.locator(".detail").first).to_be_visible()
    assert_nothing_became_of_it(visitor)

    visitor.show_documents()
    visitor.select_row(1)
    visitor.page.get_by_role("button", name=visitor.words["table.remove"].format(count=1)).click()
    expect(visitor.page.get_by_test_id("stText")).to_contain_text("![far]")
    assert_nothing_became_of_it(visitor)
    visitor.page.keyboard.press("Escape")
    visitor.open_row(1)
    assert FAR in told(visitor)
    assert f"{PICTURE}.html" in told(visitor)
    assert_nothing_became_of_it(visitor)

    visitor.page.goto(f"{hostile.url}/search?lang=en&q={quote(FAR)}")
    expect(visitor.page.locator(".hit").first).to_be_visible(timeout=LOADED)
    assert_nothing_became_of_it(visitor)


@pytest.mark.soak  # a title is tested above
def test_a_file_that_cannot_be_loaded_is_named_as_written(visit, tmp_path):
    file = tmp_path / f"{PICTURE} a -> b :smile: www.evil.example.xyz"
    file.write_bytes(b"\x00\x01\x02 not a document")
    visitor = visit()
    visitor.upload(file)
    visitor.show_documents()
    visitor.open_row(1)
    assert file.name in visitor.page.get_by_role("alert").inner_text().replace(WORD_JOINER, "")
    assert_nothing_became_of_it(visitor)
