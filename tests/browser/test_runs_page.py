"""The Runs page in a real browser: a run found again, looked at as it was, played back, and met while it goes on."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Answered
from tests.browser.looks import each_language, each_look
from tests.browser.test_run import ENDLESS, ask, script
from tests.browser.visitor import LOADED, Visitor
from tests.servers import Answer

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


@each_look
def test_a_run_is_found_opened_as_it_was_and_kept_by_its_address(asked, visit, language, width, scheme):
    visitor = visit(language, path="/runs", width=width)
    visitor.page.emulate_media(color_scheme=scheme)
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    assert visitor.width <= width
    open_first(visitor)
    assert "run" in parse_qs(urlsplit(visitor.page.url).query)
    for _ in range(2):
        expect(visitor.questions).to_have_text([QUESTION], timeout=LOADED)
        expect(visitor.answers).to_contain_text("It is said so")
        expect(visitor.page.locator(".run-graph .drawing")).to_be_visible()
        expect(visitor.step("retrieve")).to_be_visible()
        expect(visitor.page.get_by_text(visitor.words["cause.none_note"])).to_be_visible()
        visitor.settle()
        assert visitor.width <= width
        visitor.page.reload()
    visitor.page.get_by_role("link", name=visitor.words["runs.back"]).click()
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)


@each_language
def test_a_thumb_down_says_at_once_that_the_answer_was_misread(asked, visit, language):
    visitor = visit(language, path="/runs")
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    open_first(visitor)
    expect(visitor.text("cause.none_note")).to_be_visible(timeout=LOADED)
    visitor.page.get_by_test_id("stFeedback").get_by_role("radio").last.click()
    expect(visitor.text("cause.misread_note")).to_be_visible(timeout=LOADED)


def test_a_playback_types_the_answer_pauses_hurries_and_ends_as_the_run_did(loaded, visit, server):
    script(server, QUESTION, Answer(ANSWER, token_seconds=0.1))  # long enough to be paused in its midst
    loaded.ask(QUESTION)
    loaded.wait_for_the_end()
    for language in ("ja", "en"):
        visitor = visit(language, path="/runs")
        expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
        open_first(visitor)
        running = visitor.page.locator("summary").filter(has_text=visitor.words["status.running"])
        visitor.button("playback.play").click()
        expect(visitor.answers).to_contain_text("A director", timeout=LOADED)
        expect(running.first).to_be_visible(timeout=LOADED)
        visitor.button("playback.pause").click()
        expect(visitor.button("playback.go_on")).to_be_visible(timeout=LOADED)
        position = visitor.page.get_by_text(re.compile(r"\d+\.\d (of|/) \d+\.\d"))
        stands = position.inner_text()
        visitor.page.wait_for_timeout(1500)
        assert position.inner_text() == stands
        visitor.page.get_by_role("radio", name="20×").click()
        visitor.button("playback.go_on").click()
        expect(running).to_have_count(0, timeout=LOADED)
        expect(visitor.answers).to_have_text(loaded.answers.inner_text())
        expect(visitor.button("playback.play")).to_be_visible(timeout=LOADED)


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


def test_a_run_deleted_in_another_tab_while_it_is_open_is_said_to_be_gone(asked, visit):
    visitor, other = visit(path="/runs"), visit(path=asked.path)
    expect(visitor.rows.nth(1)).to_contain_text(QUESTION, timeout=LOADED)
    open_first(visitor)
    other.sidebar.get_by_role("button", name="×").click()
    expect(other.questions).to_have_count(0)
    visitor.page.reload()
    expect(visitor.text("runs.gone")).to_be_visible(timeout=LOADED)
    show_runs(visitor)
    expect(visitor.text("runs.empty")).to_be_visible(timeout=LOADED)
