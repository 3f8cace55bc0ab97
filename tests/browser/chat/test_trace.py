"""The trace in a real browser: grades, prompts and replies, and the changes of a rewrite."""

import json
from threading import Event

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.visitor import LOADED, Visitor
from tests.helpers.handbook import YES
from tests.helpers.looks import one_look, one_width
from tests.servers import Answer

FIRST = "国内出張の日当は、いくらですか？"
ANSWER = "日当は1日2,500円です[1]。"
FOLLOW_UP = "それはいつ払われますか？"
STANDALONE = "国内出張の日当はいつ払われますか？"

BROKEN = """all => all.flatMap(each => [...each.innerText.matchAll(/[^\\s-]+/g)].filter(word => {
    const range = document.createRange();
    range.setStart(each.firstChild, word.index);
    range.setEnd(each.firstChild, word.index + word[0].length);
    return range.getClientRects().length > 1;
}).map(word => word[0]))"""
"""the words of each element that are broken over two lines"""


@pytest.fixture
def quick(server) -> None:
    server.token_seconds = server.delay = 0
    server.default = ANSWER
    server.answer_when(lambda request: FOLLOW_UP in request.prompt and FIRST in request.prompt, STANDALONE, times=1)


def ask(visitor: Visitor, question: str) -> Visitor:
    """Asks the question, and opens its trace."""
    visitor.ask(question)
    visitor.wait_for_the_end()
    visitor.settle()
    visitor.open(visitor.traces.last)
    expect(visitor.step("retrieve")).to_be_visible(timeout=LOADED)
    return visitor


def row(visitor: Visitor, step: str) -> Locator:
    """Opens the row of a step, and returns all of it."""
    summary = visitor.step(step)
    visitor.settle()
    visitor.open(summary)
    opened = summary.locator("xpath=ancestor::*[@data-testid='stExpander'][1]")
    expect(opened.locator(".detail footer")).to_be_visible()
    return opened


def unfold(visitor: Visitor, opened: Locator) -> Locator:
    """Opens the prompts and replies in an open row."""
    visitor.open(opened.get_by_test_id("stExpander").locator("summary").first)
    calls = opened.locator(".calls")
    expect(calls).to_be_visible(timeout=LOADED)
    return calls


@one_look("ja", 1280, "dark")
def test_a_grade_says_verdict_and_score_and_opens_to_how_it_came_about_and_to_prompt_and_reply(
    loaded_app, quick, visit, server, language, width, scheme
):
    visitor = visit(language, width=width, scheme=scheme)
    ask(visitor, FIRST)
    opened = row(visitor, "grade_documents")
    graded = visitor.words["detail.graded"].format(verdict=visitor.words["detail.relevant_yes"], score="0.90")
    expect(opened.locator(".verdict.yes").first).to_have_text(graded)
    expect(visitor.step("check_grounding")).to_be_visible()
    reason = opened.locator(".reason").first
    expect(reason).to_be_hidden()
    opened.locator(".passage > summary").first.click()
    expect(reason).to_be_hidden()
    opened.locator(".how > summary").first.click()
    expect(reason).to_have_text("It says so.")

    calls = unfold(visitor, opened)
    [request, *_] = [each for each in server.chats if each.schema is not None]
    call = calls.locator(".call").first
    if not call.get_attribute("open") and call.locator("pre").first.is_hidden():
        call.locator("> summary").click()
    shown = [each.inner_text().strip() for each in call.locator("pre").all()]
    asked_for = [message["content"].strip() for message in request.messages]
    assert shown[0] == asked_for[0]
    assert json.loads(shown[-1]) == json.loads(YES)
    expect(call.locator(".settings")).to_contain_text(visitor.words["call.json_schema"])
    assert visitor.width <= width


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/views/test_word_diff.py
@one_look("en", 390, "light")
def test_a_follow_up_shows_which_words_were_taken_out_and_put_in(answered, quick, visit, language, width, scheme):
    visitor = visit(language, path=answered(FIRST, ANSWER).path, width=width, scheme=scheme)
    ask(visitor, FOLLOW_UP)
    opened = row(visitor, "standalone_question")
    expect(opened.locator("del")).to_have_text("それ")
    expect(opened.locator("ins")).to_have_text("国内出張の日当")
    line = "each => getComputedStyle(each).textDecorationLine"
    assert opened.locator("del").evaluate(line) == "line-through"
    assert opened.locator("ins").evaluate(line) == "underline"
    calls = unfold(visitor, opened)
    expect(calls.locator("pre").last).to_have_text(STANDALONE)
    assert visitor.width <= width


@pytest.mark.soak  # prompts on a telephone: tests/browser/test_looks.py
@one_width("en", 390)
def test_no_word_about_a_call_is_broken_on_a_telephone(answered, visit, language, width):
    visitor = visit(language, path=answered(FIRST, ANSWER).path, width=width)
    visitor.open(visitor.traces.last)
    call = unfold(visitor, row(visitor, "grade_documents")).locator(".call").first
    call.locator("> summary").click()
    told = call.locator(".settings :is(dt, dd)")
    expect(told.first).to_be_visible()
    assert told.evaluate_all(BROKEN) == []


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/test_calls.py
def test_prompt_and_reply_can_be_read_while_the_answer_is_being_written(loaded_app, visit, server):
    answer = Answer("One word after another. " * 200, token_seconds=0.05, until=Event())
    server.default = answer
    visitor = visit()
    visitor.ask(FIRST)
    expect(visitor.answers).to_contain_text("One", timeout=LOADED)
    visitor.open(visitor.step("grade_documents"))
    live = visitor.step("grade_documents").locator("xpath=ancestor::*[@data-testid='stExpander'][1]")
    calls = unfold(visitor, live)
    calls.locator(".call > summary").first.click()
    expect(calls.locator("pre").last).to_be_attached()
    before = len(visitor.answers.inner_text())
    answer.until.set()  # half of it has waited till now, however long the page took
    visitor.page.wait_for_function("old => document.querySelector('.answer').innerText.length > old", arg=before)
    expect(calls).to_be_visible()
    expect(visitor.stop).to_be_visible()
    visitor.stop.click()
    expect(visitor.text("chat.stopped")).to_be_visible(timeout=LOADED)


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/test_calls.py
def test_an_open_step_stays_open_on_a_switch_of_language(answered, visit):
    visitor = visit("en", path=answered(FIRST, ANSWER).path)
    visitor.open(visitor.traces)
    visitor.open(visitor.step("retrieve"))
    visitor.choose_language("ja")
    expect(visitor.step("retrieve").locator("xpath=..")).to_have_attribute("open", "")
