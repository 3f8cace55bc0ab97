"""The page around a run in a real browser: languages, a narrow screen, a failing service, a restarted server."""

import shutil
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from index_store.base.errors import KeyRefused, PlainError, ServiceFailed
from index_store.base.services.service_address import host_of
from pages.texts import texts
from pages.words.reader import LANGUAGES
from tests.browser.app_process import App
from tests.browser.asking import script
from tests.browser.conftest import KEY, LOCALES
from tests.browser.visitor import Visitor, boxes
from tests.helpers.handbook import HANDBOOK
from tests.helpers.looks import one_language
from tests.servers import Refusal
from tests.servers.openai_server import CHAT


@one_language("ja")
def test_the_first_language_is_the_browsers_and_the_one_that_is_chosen_stays_after_a_reload(visit, language):
    visitor = visit(language)
    expect(visitor.text("empty.title")).to_be_visible()
    assert "lang=" not in visitor.page.url
    visitor.choose_language("en" if language == "ja" else "ja")
    expect(visitor.text("empty.title")).to_be_visible()
    visitor.page.reload()
    expect(visitor.text("empty.title")).to_be_visible()
    expect(visitor.button("sidebar.new_chat")).to_be_visible()


@one_language("ja")
def test_the_browser_knows_the_language_and_the_title_of_the_page_also_after_a_switch_and_going_back(visit, language):
    visitor = visit(language)
    html = visitor.page.locator("html")
    expect(html).to_have_attribute("lang", language)
    for _ in range(2):  # after going back, the switch works again
        visitor.choose_language("en" if language == "ja" else "ja")
        expect(html).to_have_attribute("lang", visitor.language)
        expect(visitor.page).to_have_title(f"{visitor.words['app.chat']} · {visitor.words['app.name']}")
        visitor.page.go_back()
        expect(html).to_have_attribute("lang", language)
        expect(visitor.sidebar.get_by_role("radio", checked=True)).to_have_text([LANGUAGES[language]])


def test_the_first_line_that_a_japanese_visitor_reads_is_not_broken_before_its_last_word(visit):
    title = visit("ja").page.get_by_role("heading", name=texts("ja")["empty.title"])
    height, line = title.evaluate("each => [each.clientHeight, parseFloat(getComputedStyle(each).lineHeight)]")
    assert height < 2 * line


@pytest.mark.soak
@one_language("ja")
def test_links_to_pages_stand_apart_from_each_other(visit, language):
    links = boxes(visit(language).sidebar.locator(".st-key-pages a"))
    assert all(above["bottom"] <= below["top"] for above, below in pairwise(links))


def test_a_list_that_was_emptied_to_type_into_it_says_in_the_language_of_the_page_what_to_do(visit):
    visitor = visit("ja")
    for each in ("en", "ja"):
        visitor.choose_language(each)
        visitor.pipeline_picker.fill("")
        expect(visitor.page.get_by_placeholder(visitor.words["label.choose"], exact=True)).to_be_focused()
        visitor.page.keyboard.press("Escape")


@one_language("ja")
def test_a_screen_reader_reads_no_english_words_of_streamlit_on_a_japanese_page(visit, language):
    visitor = visit(language)
    for each in ("en", "ja"):
        visitor.choose_language(each)
        expect(visitor.page.get_by_test_id("stChatInputSubmitButton")).to_have_accessible_name(
            visitor.words["label.send"]
        )
        expect(visitor.page.get_by_test_id("stSkipToContent")).to_have_text(visitor.words["label.skip"])
    uploader = visitor.sidebar.get_by_test_id("stFileUploader").aria_snapshot()
    assert not [english for english in ("Help", "Upload", "upload", "per file") if english in uploader]
    visitor.button("options.title").click()
    expect(visitor.page.get_by_label(visitor.words["label.increment"], exact=True)).to_be_visible()


@pytest.mark.soak  # other words of Streamlit are tested above
@one_language("ja")
def test_a_picker_in_which_nothing_matches_says_so_in_the_readers_language(loaded_app, visit, language):
    visitor = visit(language, path="/search")
    documents = visitor.page.get_by_test_id("stMultiSelect")
    field, option = documents.get_by_role("combobox"), visitor.page.get_by_role("option")
    field.fill("hovercraft")
    expect(option).to_have_text(visitor.words["label.no_results"])
    field.fill("")
    expect(option).not_to_have_text(visitor.words["label.no_results"])
    title = option.inner_text()
    option.click()
    visitor.settle()
    field.press("Escape")
    expect(visitor.button("label.clear_all")).to_be_visible()
    # By its label: only the mouse reaches it, so it has no role.
    expect(visitor.page.get_by_label(visitor.words["label.remove"].format(label=title), exact=True)).to_be_visible()


@pytest.mark.soak  # without a browser: tests/pages/widgets/chat/test_options.py
def test_options_stay_open_while_picking_and_options_and_pipeline_survive_a_change_of_language(visit):
    visitor = visit("en", width=390)
    visitor.pick_pipeline("naive")
    expect(visitor.text("pipeline.naive_help")).to_be_visible()
    visitor.button("options.title").click()
    for title, option in (("options.mode", "search.hybrid"), ("options.unit", "search.section")):
        visitor.page.get_by_role("combobox", name=visitor.words[title]).click()
        visitor.page.get_by_role("option", name=visitor.words[option], exact=True).click()
        visitor.settle()
    expect(visitor.text("options.picked", retrieval="Hybrid · Sections · 4")).to_be_visible()
    assert visitor.width <= 390
    visitor.page.set_viewport_size({"width": 1280, "height": 900})
    visitor.page.keyboard.press("Escape")
    visitor.choose_language("ja")
    expect(visitor.text("options.picked", retrieval="ハイブリッド · セクション · 4")).to_be_visible()
    expect(visitor.pipeline_picker).to_have_value(visitor.words["pipeline.naive"])


@pytest.mark.soak  # without a browser: tests/pages/test_chat.py
def test_a_service_that_refuses_is_told_in_one_sentence_in_the_readers_language(loaded, server):
    host = host_of(server.base_url)
    loaded.pick_pipeline("naive")

    def ask_and_read(error: PlainError) -> None:
        loaded.button("sidebar.new_chat").click()
        expect(loaded.questions).to_have_count(0)
        loaded.ask("Who approves the green car?")
        loaded.wait_for_the_end()
        for language in (loaded.language, "en" if loaded.language == "ja" else "ja"):
            if language != loaded.language:
                loaded.choose_language(language)
            expect(loaded.page.get_by_role("alert")).to_have_text(error.sentence(language))
            expect(loaded.page.get_by_text("Traceback")).to_have_count(0)
            expect(loaded.page.get_by_text(KEY)).to_have_count(0)

    server.key = "sk-another"
    ask_and_read(KeyRefused(host=host, model="test-embedding"))
    server.key = None
    server.fails(Refusal(500, "Traceback (most recent call last)"), on=CHAT)
    ask_and_read(ServiceFailed(host=host, status=500))


def test_nothing_is_wider_than_a_telephone(answered, visit):
    wide = f"| {'wide | ' * 12}\n|{'---|' * 12}\n| {'cell | ' * 12}\n\n{'long' * 60} [1]"
    narrow = visit(path=answered("Is there something wide?", wide).path, width=390)
    expect(narrow.answers).to_be_visible()
    assert narrow.width <= 390
    narrow.open(narrow.traces)
    expect(narrow.step("retrieve")).to_be_visible()
    assert narrow.width <= 390


@pytest.mark.soak  # without a browser: tests/pages/test_chat.py
def test_conversations_are_back_after_a_restart_of_the_server(visit, server, data_with, tmp_path):
    question = "Who approves the green car before the restart?"
    script(server, question, "A director [1].")
    data = shutil.copytree(data_with("travel.md", HANDBOOK), tmp_path / "restarted")
    settings = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY, "EMBEDDING_MODEL": "test-embedding"}
    with App(tmp_path, DATA_DIR=str(data), **settings) as app:
        visitor = visit(app=app)
        visitor.ask(question)
        visitor.wait_for_the_end()
        address = visitor.page.url
        visitor.page.close()
        app.stop()
        app.start()
        back = visit(app=app, path=f"/?{address.partition('?')[2]}")
        expect(back.questions).to_have_text([question])
        expect(back.answers).to_contain_text("A director")
        back.page.locator(".answer .cite").click()
        expect(back.page.locator(".passage-card:popover-open")).to_contain_text("travel.md")
        expect(back.sidebar.get_by_role("button", name=question[:30])).to_be_visible()
        back.page.close()


@pytest.mark.soak  # about the tests themselves
def test_a_test_finds_nothing_of_the_one_before(visit, app, handbook, contexts):
    """All tests of this folder rely on this: nothing is left on the server, and in the browser only its cache."""
    with contexts.lent(LOCALES["en"], 1280) as left:
        first = Visitor(left, app.url, "en")
        first.upload(handbook)
        expect(first.page.locator(".job")).to_have_count(1)
        first.page.evaluate("localStorage.setItem('left', 'behind'); document.cookie = 'left=behind'")
    app.renew(DATA_DIR=str(handbook.parent / "another"))
    second = visit()
    expect(second.text("empty.no_documents")).to_be_visible()
    expect(second.page.locator(".job")).to_have_count(0)
    assert second.page.context is left
    assert second.page.evaluate("localStorage.getItem('left')") is None
    assert "left" not in second.page.evaluate("document.cookie")
