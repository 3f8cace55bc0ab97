"""Forks in a real browser: from the form below a step to the fork beside its origin."""

import re
from threading import Event
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.asking import requests_for, script
from tests.browser.runs.forking import open_form
from tests.browser.seen import expect_open
from tests.browser.visitor import LOADED, Visitor
from tests.helpers.looks import one_look
from tests.servers import Answer

QUESTION = "Who approves the green car?"
ANSWER = "A director approves the green car [1]."
OTHER = "The handbook says nothing of it, and nobody else does."


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/fork/test_fork.py
@one_look("ja", 1280, "dark")
def test_a_grade_is_turned_over_and_the_fork_stands_beside_its_origin_on_that_step_until_someone_goes_back(
    answered, visit, server, language, width, scheme
):
    visitor = visit(language, path=answered(QUESTION, ANSWER).path, width=width, scheme=scheme)
    begun_at, steps = visitor.page.url, visitor.page.evaluate("history.length")
    run_on = open_form(visitor, "check_usefulness")
    assert visitor.width <= width
    answer = Answer(OTHER, until=Event())
    script(server, QUESTION, answer)
    run_on.click()
    changed = visitor.page.locator("details").filter(has=visitor.page.get_by_text(visitor.words["step.changed"])).last
    expect(changed).to_have_attribute("open", "", timeout=LOADED)
    expect_open(changed.locator("summary").first)
    answer.until.set()
    expect(visitor.page.get_by_role("heading", name=visitor.words["compare.differences"])).to_be_visible(timeout=LOADED)
    visitor.settle()
    expect(changed).to_have_attribute("open", "")
    expect(visitor.answers).to_have_count(2)
    told = visitor.page.locator("[data-testid=stMain] .origin")
    expect(told).to_contain_text(visitor.words["step.check_usefulness"])
    assert visitor.width <= width
    assert visitor.page.evaluate("history.length") == steps + 1
    assert parse_qs(urlsplit(visitor.page.url).query).keys() == {"runs", "step", "lang"}
    visitor.page.reload()
    expect(visitor.answers).to_have_count(2, timeout=LOADED)
    assert visitor.complaints == []
    visitor.page.go_back()
    expect(visitor.composer).to_be_visible(timeout=LOADED)
    visitor.settle()
    assert visitor.page.url == begun_at
    expect(visitor.questions).to_have_text([QUESTION])


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/fork/test_fork.py
def test_a_change_that_can_not_be_made_is_told_and_nothing_begins(answered, visit):
    visitor = visit(path=answered(QUESTION, ANSWER).path)
    open_form(visitor, "retrieve").click()
    expect(visitor.page.get_by_text("Nothing was changed")).to_be_visible()
    expect(visitor.page).not_to_have_url(re.compile("compare"))


def run_on_and_see(visitor: Visitor, run_on: Locator, *told: str) -> None:
    """Starts the fork, checks that its changes are shown beside its origin, and goes back to the origin."""
    origin = visitor.page.url
    run_on.click()
    expect(visitor.page.get_by_role("heading", name=visitor.words["compare.differences"])).to_be_visible(timeout=LOADED)
    for each in told:
        expect(visitor.page.locator("[data-testid=stMain] .origin").last).to_contain_text(each)
    visitor.page.goto(origin)
    visitor.settle()


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/fork/test_fork.py
@one_look("en", 1280, "light")
def test_queries_prompts_passages_and_how_many_are_changed_each_in_a_fork(
    answered, visit, server, language, width, scheme
):
    visitor = visit(language, path=answered(QUESTION, ANSWER).path, width=width, scheme=scheme)
    script(server, QUESTION, OTHER)
    main = visitor.page.get_by_test_id("stMain")

    run_on = open_form(visitor, "retrieve")
    main.locator('[class*="st-key-query-"] textarea').fill("Who drives the green car?")
    main.locator('[class*="st-key-k-"] input').fill("1")
    main.locator('[class*="st-key-k-"] input').press("Enter")
    visitor.settle()
    run_on_and_see(visitor, run_on, "Who drives the green car?", visitor.words["change.k"].partition("{")[0])

    run_on = open_form(visitor, "generate")
    main.locator('[class*="st-key-passage-1-"] label').click()
    visitor.settle()
    run_on_and_see(visitor, run_on, visitor.words["change.left_out"].partition("{")[0])

    run_on = open_form(visitor, "generate")
    visitor.page.get_by_role("radio", name=visitor.words["change.prompt"], exact=True).click()
    field = main.locator('[class*="st-key-message-0-"] textarea')
    field.fill("You are a parrot.")
    field.press("Control+Enter")
    visitor.settle()
    run_on_and_see(visitor, run_on)
    assert [each for each in requests_for(server, QUESTION) if "You are a parrot." in each.prompt]
