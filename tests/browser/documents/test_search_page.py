"""The Search page in a real browser: three lists at once or one at a time, and where its links lead."""

import re
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Locator, expect

from index_store.search.searcher import MODES
from tests.browser.seen import look
from tests.browser.visitor import LOADED, Visitor, boxes
from tests.helpers.looks import one_language, one_width

WORD = "kettle"
KETTLE = f"# やかん\n\n## 容量\n\nやかん {WORD} holds 1.7 litres.\n\n## 手入れ\n\n毎月 {WORD} を洗います。\n"


@pytest.fixture
def searching(app_with, visit):
    """Opens the Search page of an index that contains the word."""

    def searching(language: str = "en", width: int = 1280) -> Visitor:
        app_with("yakan.md", KETTLE)
        visitor = visit(language, path="/search", width=width)
        expect(question(visitor)).to_be_visible(timeout=LOADED)
        return visitor

    return searching


def question(visitor: Visitor) -> Locator:
    return visitor.page.get_by_placeholder(visitor.words["search.question"])


def ask(visitor: Visitor, words: str) -> None:
    question(visitor).fill(words)
    question(visitor).press("Enter")
    expect(visitor.page.locator(".results")).to_be_attached(timeout=LOADED)
    expect(visitor.page).to_have_url(re.compile(rf"[?&]q={quote(words)}"), timeout=LOADED)
    visitor.settle()


def hits(visitor: Visitor, mode: str) -> Locator:
    return visitor.page.locator(f".mode-results.{mode} .hit")


@one_language("ja")
def test_a_search_shows_three_lists_with_a_colour_for_what_they_share_and_its_address_shows_it_to_a_colleague(
    searching, visit, language
):
    visitor = searching(language)
    ask(visitor, WORD)
    first, second, third = boxes(visitor.page.locator(".mode-results"))
    assert first["y"] == second["y"] == third["y"]
    assert first["x"] < second["x"] < third["x"]
    expect(hits(visitor, "keyword")).to_have_count(2)
    colours = []
    for mode in MODES:
        found = hits(visitor, mode).filter(has_text="1.7 litres").filter(has_text=WORD)
        expect(found).to_have_class("hit shared")
        colours.append(found.evaluate("each => getComputedStyle(each).borderLeftColor"))
    assert len(set(colours)) == 1
    address = urlsplit(visitor.page.url)
    assert parse_qs(address.query)["q"] == [WORD]
    colleague = visit(language, path=f"{address.path}?{address.query}")
    expect(hits(colleague, "keyword")).to_have_count(2, timeout=LOADED)
    expect(question(colleague)).to_have_value(WORD)


@one_language("ja")
@pytest.mark.parametrize("page", ["search", pytest.param("compare", marks=pytest.mark.soak)])
def test_labels_of_fields_beside_each_other_are_on_one_line(searching, language, page):
    visitor = searching(language)
    visitor.page.goto(urlsplit(visitor.page.url)._replace(path=page, query="").geturl())
    named = {"search": ("search.unit", "search.k"), "compare": ("index.label", "compare.columns")}[page]
    labels = visitor.page.get_by_test_id("stMain").get_by_test_id("stWidgetLabel")
    tops = []
    for name in named:
        label = labels.filter(has_text=visitor.words[name]).filter(visible=True)
        expect(label).to_have_count(1, timeout=LOADED)
        visitor.settle()
        tops += [label.locator("p").bounding_box()["y"]]
    assert max(tops) - min(tops) < 1


@one_width("en", 390)
def test_a_hit_opens_to_its_section_and_leads_to_its_document(searching, language, width):
    visitor = searching(language, width)
    ask(visitor, WORD)
    assert visitor.width <= width
    visitor.page.locator(".hit:visible").first.get_by_role("button", name=visitor.words["search.open"]).click()
    card = visitor.page.locator(".passage-card:popover-open")
    expect(card.locator(".cited mark").first).to_have_text(re.compile(WORD))
    box = card.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert look(visitor, width) == []
    with visitor.page.expect_popup() as opened:
        card.get_by_role("link", name=visitor.words["chat.open_document"]).click()
    expect(opened.value.locator(".section")).to_contain_text(WORD, timeout=LOADED)


def test_a_narrow_screen_shows_one_list_at_a_time(searching):
    visitor = searching("ja", 390)
    ask(visitor, WORD)
    for mode in MODES:
        visitor.page.locator(".results .tab").get_by_text(visitor.words[f"search.{mode}"]).click()
        for each in MODES:
            expect(visitor.page.locator(f".mode-results.{each}")).to_be_visible(visible=each == mode)
    assert visitor.width <= 390


@pytest.mark.soak  # without a browser: tests/pages/test_search.py
def test_a_switch_of_language_keeps_the_search_and_going_back_in_the_browser_goes_back_to_the_one_before(searching):
    visitor = searching("en")
    ask(visitor, "litres")
    ask(visitor, WORD)
    visitor.choose_language("ja")
    expect(question(visitor)).to_have_value(WORD)
    expect(hits(visitor, "keyword")).to_have_count(2)
    expect(visitor.page.locator(".mode-results.keyword")).to_contain_text(visitor.words["search.keyword_help"])
    visitor.page.goto(visitor.page.url.replace(quote(WORD), "yakan"))
    expect(question(visitor)).to_have_value("yakan", timeout=LOADED)
    visitor.page.go_back()
    expect(hits(visitor, "keyword")).to_have_count(2, timeout=LOADED)
    visitor.settle()
    expect(question(visitor)).to_have_value(WORD)


@pytest.mark.soak
def test_the_index_of_a_search_is_named_in_the_language_of_the_page_and_stays_the_same(searching):
    visitor = searching("en")
    ask(visitor, WORD)
    for language in ("ja", "en"):
        visitor.choose_language(language)
        documents = visitor.words["index.documents_one" if language == "en" else "index.documents"].format(count=1)
        label = visitor.words["index.option"].format(name="handbook", documents=documents)
        picker = visitor.page.get_by_role("combobox", name=visitor.words["search.index"], exact=True)
        expect(picker).to_have_value(label)
        assert parse_qs(urlsplit(visitor.page.url).query).get("index", ["handbook"]) == ["handbook"]


@pytest.mark.soak  # other words of Streamlit: tests/browser/chat/test_page.py
def test_a_number_out_of_range_is_refused_in_the_language_of_the_page(searching):
    visitor = searching("ja")
    hits = visitor.page.locator(".st-key-search-k")
    for language in ("en", "ja"):
        visitor.choose_language(language)
        hits.locator("input").fill("99")
        hits.locator("input").press("Tab")
        error = visitor.words["label.error"]
        told = visitor.words["label.range"].format(error=error, least=1, most=30)
        expect(hits.get_by_role("alert")).to_have_text(told)
        hits.get_by_test_id("stTooltipErrorHoverTarget").hover()
        expect(visitor.page.get_by_test_id("stTooltipErrorContent")).to_have_text(told)


@pytest.mark.soak  # without a browser: tests/pages/test_search.py
def test_a_press_on_search_in_the_sidebar_begins_a_search_that_keeps_nothing_of_the_one_before(searching):
    visitor = searching()
    ask(visitor, "litres")
    visitor.page.get_by_role("radio", name=visitor.words["search.section"]).click()
    expect(visitor.page).to_have_url(re.compile(r"[?&]unit=section"), timeout=LOADED)
    visitor.settle()
    visitor.sidebar.get_by_role("link", name=visitor.words["app.search"]).click()
    expect(visitor.text("search.hint")).to_be_visible(timeout=LOADED)
    visitor.settle()
    ask(visitor, WORD)
    assert "unit" not in parse_qs(urlsplit(visitor.page.url).query)
    for words, shown in (("", visitor.text("search.hint")), ("litres", visitor.page.locator(".results"))):
        visitor.page.go_back()
        expect(shown).to_be_visible(timeout=LOADED)
        visitor.settle()  # while the page is drawn, the field of before can stand beside the new one
        expect(question(visitor)).to_have_value(words)


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/test_detail.py
def test_a_retrieval_of_the_trace_leads_to_its_search(answered, visit):
    asked = "Who approves the green car?"
    visitor = visit("ja", path=answered(asked, "A director approves it [1].").path)
    visitor.open(visitor.traces)
    visitor.open(visitor.step("retrieve"))
    with visitor.page.expect_popup() as opened:
        # With the keyboard: the steps are still moving, and a click would hit another one.
        visitor.page.get_by_role("link", name=visitor.words["detail.look_at_search"]).press("Enter")
    field = opened.value.get_by_placeholder(visitor.words["search.question"])
    expect(field).to_have_value(asked, timeout=LOADED)
    expect(opened.value.locator(".mode-results.keyword .hit").first).to_contain_text("green car", timeout=LOADED)


@pytest.mark.soak  # without a browser: tests/pages/test_search.py
def test_nothing_of_a_document_runs(app_with, visit):
    hostile = f"{WORD} <script>document.title = 'RAN'</script><img src=x onerror=\"document.title = 'RAN'\">"
    app_with("hostile.txt", f"{hostile}\n\n{hostile}\n")
    visitor = visit(path=f"/search?q={quote(hostile)}")
    expect(hits(visitor, "keyword").first).to_contain_text("onerror=", timeout=LOADED)
    visitor.page.locator(".hit:visible button").first.click()
    expect(visitor.page.locator(".passage-card:popover-open")).to_contain_text("onerror=")
    assert visitor.page.title() != "RAN"
    assert not [each for each in visitor.addresses if each.endswith("/x")]
