"""The Runs page in a real browser: runs are found, opened, played back, asked again, and shown while they run."""

import re

import pytest
from playwright.sync_api import Locator, expect

from index_store.base.text.words import LONGEST_WORDS
from tests.browser.asking import ENDLESS, ask, script
from tests.browser.conftest import Answered
from tests.browser.visitor import LOADED, Visitor
from tests.helpers.looks import one_language, one_look

QUESTION = "Who approves the green car?"
ANSWER = "A director approves the green car [1]. " + "It is said so more than once. " * 8


@pytest.fixture
def asked(answered) -> Answered:
    return answered(QUESTION, ANSWER)


def show_runs(visitor: Visitor) -> None:
    visitor.sidebar.get_by_role("link", name=visitor.words["app.runs"]).click()
    expect(visitor.page.get_by_role("heading", name=visitor.words["app.runs"])).to_be_visible(timeout=LOADED)
    visitor.settle()


def open_first(visitor: Visitor) -> None:
    visitor.row(1, 70)
    expect(visitor.questions).to_be_visible(timeout=LOADED)
    visitor.settle()


def trace(visitor: Visitor) -> Locator:
    return visitor.page.get_by_test_id("stExpander").filter(has_text=visitor.words["pipeline.naive"]).first


@pytest.mark.soak  # without a browser: tests/pages/test_runs.py
@one_look("en", 390, "light")
def test_a_run_is_found_and_opened_by_address_and_a_thumb_down_marks_it_misread(asked, visit, language, width, scheme):
    visitor = visit(language, path="/runs", width=width, scheme=scheme)
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    assert visitor.width <= width
    open_first(visitor)
    expect(visitor.page).to_have_url(re.compile(r"[?&]run="))
    for _ in range(2):
        expect(visitor.questions).to_have_text([QUESTION], timeout=LOADED)
        expect(visitor.answers).to_contain_text("It is said so")
        expect(visitor.page.locator(".run-graph .drawing")).to_be_visible()
        expect(visitor.step("retrieve")).to_be_visible()
        expect(visitor.page.get_by_text(visitor.words["cause.none_note"])).to_be_visible()
        visitor.settle()
        assert visitor.width <= width
        visitor.page.reload()
    expect(visitor.text("cause.none_note")).to_be_visible(timeout=LOADED)
    visitor.settle()
    visitor.page.get_by_test_id("stFeedback").get_by_role("radio").last.click()
    expect(visitor.text("cause.misread_note")).to_be_visible(timeout=LOADED)
    visitor.settle()
    visitor.page.get_by_role("link", name=visitor.words["runs.back"]).click()
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)


@pytest.mark.soak  # without a browser: tests/pages/test_runs.py
def test_the_reason_in_the_trace_is_told_in_the_language_of_the_page_and_is_not_stored_as_that_of_a_person(
    asked, visit
):
    visitor = visit("en", path="/runs")
    open_first(visitor)
    for language in ("ja", "en"):
        visitor.choose_language(language)
        why = visitor.page.get_by_role("combobox", name=visitor.words["runs.why_label"])
        expect(why).to_have_value(visitor.words["runs.by_trace"].format(cause=visitor.words["cause.none"]))
    for thumb, cause in (("down", "misread"), ("up", "none")):
        name = visitor.words[f"label.thumbs_{thumb}"]
        visitor.page.get_by_test_id("stFeedback").get_by_role("radio", name=name, exact=True).click()
        expect(why).to_have_value(visitor.words["runs.by_trace"].format(cause=visitor.words[f"cause.{cause}"]))
        visitor.settle()
    show_runs(visitor)
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)


@pytest.mark.soak  # without a browser: tests/pages/test_runs.py, tests/rag/trace/derived/test_playback.py
@one_language("ja")
def test_a_playback_types_the_answer_pauses_hurries_and_ends_as_the_run_did(answered, visit, language):
    answered(QUESTION, ANSWER, "naive", seconds=20)  # a busy machine may need seconds for each press
    visitor = visit(language, path="/runs")
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    open_first(visitor)
    whole = visitor.answers.inner_text()
    running = visitor.page.locator("summary").filter(has_text=visitor.words["status.running"])
    visitor.button("playback.play").click()
    expect(visitor.answers).to_contain_text("A director", timeout=LOADED)
    expect(running.first).to_be_visible(timeout=LOADED)
    visitor.press_as_a_read_is_due(visitor.button("playback.pause"))
    expect(visitor.button("playback.go_on")).to_be_visible(timeout=LOADED)
    position = visitor.page.get_by_text(re.compile(r"\d+\.\d (of|/) \d+\.\d"))
    visitor.settle()  # the position is drawn after the button
    stands = position.inner_text()
    visitor.page.wait_for_timeout(1500)
    assert position.inner_text() == stands
    visitor.page.get_by_role("radio", name="20×").click()
    visitor.settle()
    visitor.button("playback.go_on").click()
    expect(running).to_have_count(0, timeout=LOADED)
    expect(visitor.answers).to_have_text(whole)
    expect(visitor.button("playback.play")).to_be_visible(timeout=LOADED)


def test_the_focus_stays_where_a_button_was_that_is_gone_once_it_was_pressed(answered, visit):
    answered(QUESTION, ANSWER, "naive", seconds=600)
    visitor = visit(path="/runs")
    open_first(visitor)
    for pressed, at in (("play", "end"), ("end", "play")):
        button = visitor.button(f"playback.{pressed}")
        button.focus()
        button.press("Enter")
        expect(visitor.button(f"playback.{at}")).to_be_focused(timeout=LOADED)


@pytest.mark.soak  # without a browser: tests/pages/test_runs.py, tests/pages/changes/test_replicas.py
def test_a_run_that_goes_on_is_listed_so_shown_live_and_can_be_stopped(loaded, visit, server):
    ask(loaded, server, ENDLESS)
    visitor = visit(path="/runs")
    expect(visitor.rows.nth(1)).to_contain_text("running", timeout=LOADED)
    open_first(visitor)
    expect(visitor.stop).to_be_visible(timeout=LOADED)
    expect(visitor.answers).to_contain_text("One")
    visitor.stop.click()
    expect(visitor.text("chat.stopped")).to_be_visible(timeout=LOADED)
    expect(visitor.button("playback.play")).to_be_visible()


@pytest.mark.soak  # its menus are tested below
@one_language("ja")
def test_the_buttons_of_the_table_are_read_in_the_readers_language(asked, visit, language):
    visitor = visit(language, path="/runs")
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    name = f"{visitor.words['label.csv']}: {visitor.words['app.runs']}"
    toolbar = visitor.page.get_by_test_id("stElementToolbar")
    expect(toolbar.get_by_label(name, exact=True)).to_have_count(1)
    labels = toolbar.locator("[aria-label]").evaluate_all("all => all.map(each => each.ariaLabel)")
    assert [each for each in labels if each[0].isascii() is (language == "ja") and not each.startswith("CSV")] == []


def test_the_menus_and_the_search_bar_of_the_table_have_no_english_words_on_a_japanese_page(asked, visit):
    visitor = visit("ja", path="/runs")
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    column = {"x": 421, "y": 18}
    visitor.table.hover(position=column)  # then the sign that opens the menu can be pressed
    visitor.table.click(position=column)
    menu = visitor.page.get_by_test_id("stDataFrameColumnMenu")
    ours = [visitor.words[f"label.{each}"] for each in ("ascending", "descending", "fit", "pin", "hide")]
    expect(menu.get_by_role("menuitem")).to_have_count(len(ours))
    shown = menu.get_by_role("menuitem").evaluate_all("all => all.map(each => each.lastChild.data)")
    assert shown == ours
    menu.get_by_role("menuitem").last.click()
    visitor.page.get_by_test_id("stElementToolbar").get_by_label(visitor.words["label.columns"]).dispatch_event("click")
    columns = visitor.page.get_by_test_id("stDataFrameColumnVisibilityMenu")
    expect(columns.get_by_text(visitor.words["label.select_all"], exact=True)).to_be_visible()
    expect(columns.get_by_text(visitor.words["label.row_number"], exact=True)).to_be_visible()
    columns.press("Escape")
    visitor.page.get_by_test_id("stElementToolbar").get_by_label(visitor.words["label.search"]).dispatch_event("click")
    expect(visitor.page.get_by_label(visitor.words["label.close_search"], exact=True)).to_be_visible()
    expect(visitor.table.get_by_role("textbox", name=visitor.words["label.search"], exact=True)).to_be_focused()
    visitor.page.keyboard.type(QUESTION)
    matches = visitor.page.get_by_test_id("search-result-area")
    expect(matches).to_have_text(re.compile("result"))
    expect(matches).to_be_hidden()


@pytest.mark.soak
@one_look("ja", 390, "light")
def test_a_run_is_shown_from_its_top_however_far_the_list_was_scrolled(answered, visit, language, width, scheme):
    asked = answered(QUESTION, ANSWER * 5, "naive")
    visitor = visit(language, path="/runs", width=width, scheme=scheme)
    expect(visitor.rows.nth(1)).to_contain_text(asked.question, timeout=LOADED)
    visitor.page.set_viewport_size({"width": width, "height": 400})
    visitor.page.get_by_test_id("stMain").evaluate("page => page.scrollTo(0, page.scrollHeight)")
    open_first(visitor)
    expect(visitor.page.get_by_role("link", name=visitor.words["runs.back"])).to_be_in_viewport()


@pytest.mark.soak  # without a browser: tests/pages/test_runs.py
def test_the_list_is_shown_after_a_reload_if_it_was_left_for_a_run_and_returned_to(asked, visit):
    visitor = visit(path="/runs")
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    open_first(visitor)
    show_runs(visitor)
    expect(visitor.page).not_to_have_url(re.compile("run="), timeout=LOADED)
    visitor.page.reload()
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    visitor.page.go_back()
    expect(visitor.questions).to_be_visible(timeout=LOADED)


@pytest.mark.soak  # without a browser: tests/pages/test_runs.py
def test_a_run_deleted_in_another_tab_while_it_is_open_is_said_to_be_gone(asked, visit):
    visitor, other = visit(path="/runs"), visit(path=asked.path)
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    open_first(visitor)
    other.delete_conversation()
    expect(other.questions).to_have_count(0)
    visitor.page.reload()
    expect(visitor.text("runs.gone")).to_be_visible(timeout=LOADED)
    show_runs(visitor)
    expect(visitor.text("runs.empty")).to_be_visible(timeout=LOADED)


@one_look("ja", 1280, "light")
def test_runs_are_searched_filtered_sorted_asked_again_and_laid_side_by_side(
    asked, visit, server, language, width, scheme
):
    script(server, QUESTION, ANSWER)
    visitor = visit(language, path="/runs", width=width, scheme=scheme)
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)

    open_first(visitor)
    visitor.button("chat.again").last.click()
    expect(visitor.questions).to_have_count(2, timeout=LOADED)
    visitor.wait_for_the_end()

    visitor.page.goto(f"{visitor.page.evaluate('location.origin')}/runs")
    expect(visitor.rows).to_have_count(3, timeout=LOADED)
    visitor.settle()
    field = visitor.page.get_by_placeholder(visitor.words["runs.search"])
    field.fill("hovercraft")
    field.press("Enter")
    expect(visitor.text("runs.none_found")).to_be_visible(timeout=LOADED)
    visitor.settle()
    field.fill("green car")
    field.press("Enter")
    expect(visitor.rows).to_have_count(3, timeout=LOADED)
    pick(visitor, "runs.order", "order.slowest")
    pick(visitor, "runs.state_any", "runs.voted")
    expect(visitor.text("runs.none_found")).to_be_visible(timeout=LOADED)
    visitor.page.reload()
    expect(visitor.text("runs.none_found")).to_be_visible(timeout=LOADED)
    visitor.settle()
    expect(field).to_have_value("green car")
    visitor.page.go_back()
    expect(visitor.rows).to_have_count(3, timeout=LOADED)
    visitor.settle()
    order = visitor.page.get_by_role("combobox", name=visitor.words["runs.order"])
    expect(order).to_have_value(visitor.words["order.slowest"])
    for row in (1, 2):
        visitor.select_row(row)
    assert visitor.width <= width
    toolbar = visitor.page.get_by_test_id("stElementToolbar").bounding_box()
    above = visitor.page.locator(".st-key-runs-bar").bounding_box()
    assert above["y"] + above["height"] <= toolbar["y"]  # it would take the presses of the buttons there
    visitor.page.get_by_role("link", name=visitor.words["runs.side_by_side"].format(count=2)).click()
    expect(visitor.page.get_by_role("heading", name=visitor.words["compare.differences"])).to_be_visible(timeout=LOADED)
    expect(visitor.answers).to_have_count(2)


@pytest.mark.soak  # without a browser: tests/pages/test_runs.py
def test_a_question_longer_than_the_search_reads_is_taken_when_it_is_pasted_and_found(answered, visit):
    question = "Who approves the green car of a trip " + "that goes on for another day and " * 3 + "ends late?"
    assert len(question) > LONGEST_WORDS
    answered(question, ANSWER)
    visitor = visit(path="/runs")
    field = visitor.page.get_by_placeholder(visitor.words["runs.search"])
    field.fill("hovercraft")
    field.press("Enter")
    expect(visitor.text("runs.none_found")).to_be_visible(timeout=LOADED)
    visitor.settle()
    field.fill(question)
    field.press("Enter")
    expect(visitor.rows.nth(1)).to_contain_text(question, timeout=LOADED)
    visitor.show_documents()
    visitor.find("travel " * LONGEST_WORDS, 1)


def pick(visitor: Visitor, title: str, option: str) -> None:
    visitor.settle()  # a picker that is drawn again is closed
    visitor.page.get_by_role("combobox", name=visitor.words[title]).click()
    visitor.page.get_by_role("option", name=visitor.words[option], exact=True).click()
    visitor.settle()
