"""The list of many conversations in a real browser, and a question that is too long."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from index_store.access.principal import LOCAL
from index_store.search.searcher import LONGEST_QUESTION
from rag.runs.history.history import History
from tests.browser.asking import script
from tests.browser.visitor import LOADED, boxes
from tests.helpers.looks import one_width


@pytest.mark.soak  # without a browser: tests/pages/widgets/chat/conversation/test_conversations.py
@one_width("ja", 390)
def test_the_latest_of_many_are_listed_and_words_find_the_others(app, visit, tmp_path: Path, language, width):
    history = History(tmp_path / "many")
    for number in range(1, 101):
        history.conversations.new(f"Question {number}?", principal=LOCAL)
    history.close()
    app.renew(DATA_DIR=str(tmp_path / "many"))
    visitor = visit(language, width=width)
    if width < 600:
        visitor.page.get_by_test_id("stExpandSidebarButton").click()
    listed = visitor.sidebar.get_by_role("button", name=re.compile(r"^Question \d+"))
    expect(listed).to_have_count(30, timeout=LOADED)
    visitor.button("sidebar.more", count=70).click()
    expect(listed).to_have_count(100, timeout=LOADED)
    visitor.settle()
    assert len({box["x"] for box in boxes(listed.locator("p"))}) == 1
    words = visitor.page.get_by_placeholder(visitor.words["sidebar.search"])
    words.fill("question 7")
    words.press("Enter")
    expect(listed).to_have_count(19, timeout=LOADED)
    visitor.settle()
    listed.last.click()
    visitor.settle()
    assert visitor.width <= width


def test_going_back_in_the_browser_opens_the_chat_before_and_a_question_goes_to_the_one_that_is_shown(
    answered, visit, server
):
    first, second, third = "Who approves the green car?", "Who approves a hotel?", "Who approves a taxi?"
    visitor = visit("en", path=answered(first, "A director [1].").path)
    visitor.button("sidebar.new_chat").click()
    expect(visitor.text("empty.ask")).to_be_visible()
    script(server, second, "A manager [1].")
    visitor.ask(second)
    visitor.wait_for_the_end()
    visitor.page.go_back()
    expect(visitor.text("empty.ask")).to_be_visible()
    visitor.page.go_back()
    expect(visitor.questions).to_have_text([first])
    visitor.page.go_forward()
    visitor.page.go_forward()
    expect(visitor.questions).to_have_text([second])
    visitor.page.go_back()
    visitor.page.go_back()
    expect(visitor.questions).to_have_text([first])
    visitor.settle()
    script(server, third, "Nobody [1].")
    visitor.ask(third)
    visitor.wait_for_the_end()
    expect(visitor.questions).to_have_text([first, third])
    visitor.sidebar.get_by_role("button", name=second).click()
    expect(visitor.questions).to_have_text([second])


@one_width("en", 1280)
def test_a_question_that_is_too_long_is_refused_in_a_sentence_and_stays_in_the_field(app, visit, language, width):
    visitor = visit(language, width=width)
    visitor.composer.fill("x" * (LONGEST_QUESTION + 1))
    visitor.composer.press("Enter")
    expect(visitor.page.get_by_test_id("stAlert")).to_contain_text("4,001", timeout=LOADED)
    visitor.settle()
    expect(visitor.composer).to_have_value("x" * (LONGEST_QUESTION + 1))
    expect(visitor.questions).to_have_count(0)
    visitor.composer.fill("Is it shorter now?")
    visitor.composer.press("Enter")
    expect(visitor.questions).to_have_count(1, timeout=LOADED)
    expect(visitor.page.get_by_text("4,001")).to_have_count(0)


@pytest.mark.soak  # with a half-typed question: the test below
def test_another_page_is_one_step_in_the_browser_and_back_shows_the_conversation_again(answered, visit):
    answer = answered("Where is the office?", "In Sakae [1].")
    visitor = visit(path=answer.path)
    left = visitor.page.url
    for link in ("compare.with", "app.documents"):
        visitor.page.get_by_role("link", name=visitor.words[link]).click()
        expect(visitor.composer).to_have_count(0, timeout=LOADED)
        visitor.settle()
        visitor.page.go_back()
        expect(visitor.composer).to_be_visible(timeout=LOADED)
        visitor.settle()
        assert visitor.page.url == left
        expect(visitor.questions).to_have_text([answer.question])


def test_a_half_typed_question_is_there_after_a_look_at_another_page_and_one_that_was_sent_is_not(answered, visit):
    answer = answered("Where is the office?", "In Sakae [1].")
    visitor = visit(path=answer.path)
    visitor.composer.fill("And who may")
    for back in (visitor.page.go_back, visitor.sidebar.get_by_role("link", name=visitor.words["app.chat"]).click):
        visitor.sidebar.get_by_role("link", name=visitor.words["app.documents"]).click()
        expect(visitor.composer).to_have_count(0, timeout=LOADED)
        visitor.settle()
        back()
        expect(visitor.composer).to_have_value("And who may")
        visitor.settle()
    visitor.composer.press_sequentially(" use it?")
    visitor.composer.press("Enter")
    visitor.wait_for_the_end()
    expect(visitor.questions).to_have_text([answer.question, "And who may use it?"])
    visitor.sidebar.get_by_role("link", name=visitor.words["app.documents"]).click()
    expect(visitor.composer).to_have_count(0, timeout=LOADED)
    visitor.settle()  # the address is that of the new page only some moments after the old page is gone
    visitor.page.go_back()
    expect(visitor.answers).to_have_count(2, timeout=LOADED)
    visitor.settle()
    expect(visitor.composer).to_have_value("")
