"""A conversation in a real browser: follow-ups, no answer, scrolling, the sidebar on a phone, the style of answers."""

from contextlib import suppress
from uuid import uuid4

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from playwright.sync_api import expect

from rag.models.service.no_answer import TOKEN
from tests.browser.asking import ask, held, script
from tests.browser.visitor import LOADED
from tests.helpers.looks import one_width

WHOLE = {"ja": "国内出張の日当は誰が決めますか？", "en": "Who approves the green car for managers?"}
FOLLOW_UP = {"ja": "それは誰が決めますか？", "en": "And for managers?"}
FIRST = {"ja": "国内出張の日当はいくらですか？", "en": "Who approves the green car?"}


@pytest.mark.soak  # without a browser: tests/pages/widgets/answer/test_status.py
@one_width("en", 390)
def test_a_follow_up_is_understood_in_a_step_that_opens(answered, visit, server, language, width):
    path = answered(FIRST[language], "2,500 [1].").path
    script(server, WHOLE[language], "A director [1].")
    server.answer_when(
        lambda request: "<turn>" in request.prompt and FIRST[language] in request.prompt, WHOLE[language]
    )
    visitor = visit(language, path=path, width=width)
    visitor.ask(FOLLOW_UP[language])
    expect(visitor.button("chat.again")).to_have_count(2, timeout=LOADED)
    expect(visitor.questions.last).to_have_text(FOLLOW_UP[language])
    visitor.open(visitor.traces.last)
    row = visitor.step("standalone_question")
    expect(row).to_contain_text(WHOLE[language][:20])
    row.click()
    detail = visitor.page.locator(".detail").first
    expect(detail).to_contain_text(FOLLOW_UP[language])
    expect(detail).to_contain_text(FIRST[language])
    expect(visitor.page.locator(".answer-status.confirmed")).to_have_count(2)
    assert visitor.width <= width


@pytest.mark.soak  # without a browser: tests/pages/widgets/answer/test_status.py
@one_width("ja", 1280)
def test_no_answer_shows_the_nearest_passages_which_open(loaded_app, visit, server, language, width):
    question = f"{FIRST[language]} {uuid4().hex[:6]}"
    script(server, question, f"{TOKEN}\nThe documents say nothing of it.")
    visitor = visit(language, width=width)
    visitor.pick_pipeline("naive")
    visitor.ask(question)
    visitor.wait_for_the_end()
    expect(visitor.answers).to_contain_text("The documents say nothing of it.")
    expect(visitor.answers).not_to_contain_text(TOKEN)
    expect(visitor.text("outcome.not_in_documents_note")).to_be_visible()
    visitor.answers.locator(".cite").first.click()
    expect(visitor.page.locator(".passage-card:popover-open")).to_be_visible()
    assert visitor.width <= width


@pytest.mark.soak
@one_width("ja", 390)
def test_below_the_end_of_a_long_question_its_answer_is_in_view(loaded_app, visit, server, language, width):
    mail = " ".join([FIRST[language]] * 60)
    script(server, FIRST[language], "A director [1].")
    visitor = visit(language, width=width)
    visitor.pick_pipeline("naive")
    visitor.ask(mail)
    visitor.wait_for_the_end()
    expect(visitor.questions).to_be_in_viewport()
    expect(visitor.answers).to_be_in_viewport()
    visitor.page.reload()
    expect(visitor.answers).to_be_in_viewport(timeout=LOADED)


def test_after_an_answer_the_next_question_can_be_typed_at_once_unless_something_else_has_the_focus(
    answered, visit, server
):
    visitor = visit("en", path=answered(FIRST["en"], "A director [1].").path)
    for number in range(2):
        question, answer = f"{WHOLE['en']} {number}", held()
        script(server, question, answer)
        visitor.ask(question)
        expect(visitor.stop).to_be_visible(timeout=LOADED)
        if number:
            visitor.traces.first.focus()
        answer.until.set()
        visitor.wait_for_the_end()
        expect(visitor.traces.first if number else visitor.composer).to_be_focused()


@pytest.mark.soak  # a question and its answer in view are tested above
def test_the_latest_question_is_in_view_unless_someone_takes_hold_of_the_page(answered, visit, server):
    visitor = visit("en", path=answered(FIRST["en"], "A director approves it [1].\n\n" * 30).path)
    expect(visitor.answers).to_be_visible()
    answer = held()
    ask(visitor, server, answer)
    expect(visitor.questions.last).to_be_in_viewport()
    visitor.settle()  # what is drawn above later moves the page
    visitor.page.mouse.move(350, 300)  # over the margin: Chromium forgets a turn over what is redrawn at that moment
    for _ in range(20):
        visitor.page.mouse.wheel(0, -200)
    expect(visitor.questions.first).to_be_in_viewport()
    answer.until.set()
    visitor.wait_for_the_end()
    expect(visitor.questions.first).to_be_in_viewport()
    visitor.page.reload()
    expect(visitor.questions.last).to_be_in_viewport(timeout=LOADED)
    visitor.settle()
    visitor.sidebar.get_by_role("button", name=visitor.words["sidebar.new_chat"]).click()
    expect(visitor.page.get_by_role("heading", name=visitor.words["empty.title"])).to_be_in_viewport(timeout=LOADED)


def test_on_a_telephone_the_sidebar_closes_once_something_was_chosen_in_it(answered, visit):
    visitor = visit("ja", path=answered(FIRST["ja"], "2,500 [1].").path, width=390)
    for chosen in (
        visitor.sidebar.get_by_role("button", name=FIRST["ja"]),
        visitor.sidebar.get_by_role("link", name=visitor.words["app.runs"]),
    ):
        visitor.page.get_by_test_id("stExpandSidebarButton").click()
        expect(visitor.sidebar).to_have_attribute("data-collapsed", "false")
        visitor.settle()
        chosen.click()
        expect(visitor.sidebar).to_have_attribute("data-collapsed", "true", timeout=LOADED)
        visitor.settle()


@pytest.mark.soak  # without a browser: tests/pages/widgets/answer/test_status.py
def test_how_answers_are_to_read_is_picked_among_the_options(loaded_app, visit):
    visitor = visit("ja", width=390)
    visitor.button("options.title").click()
    picked = (("options.length", "manner.short", "短く"), ("options.tone", "manner.polite", "短く · です・ます"))
    for title, option, style in picked:
        box = visitor.page.get_by_role("combobox", name=visitor.words[title])
        wanted = visitor.page.get_by_role("option", name=visitor.words[option], exact=True)
        while box.input_value() != visitor.words[option]:
            # With the keyboard: a click would scroll to the last box, and that closes the list. A redraw of the page
            # closes it too.
            box.press("ArrowDown")
            with suppress(PlaywrightTimeoutError):
                wanted.click(timeout=5000)
        # Waits until the page is drawn again: this closes an open list.
        expect(visitor.text("options.style_picked", style=style)).to_be_attached(timeout=LOADED)
        visitor.settle()
    for width in (390, 1280):
        visitor.page.set_viewport_size({"width": width, "height": 900})
        expect(visitor.text("options.style_picked", style="短く · です・ます")).to_be_visible()
        assert visitor.width <= width


def test_the_enter_that_ends_a_conversion_in_safari_sends_nothing(loaded):
    loaded.composer.fill("日当は")
    # Safari ends the conversion before this event, so nothing but its code is left of it.
    loaded.composer.evaluate(
        "field => field.dispatchEvent("
        "new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }))"
    )
    loaded.settle()
    expect(loaded.composer).to_have_value("日当は")
    expect(loaded.questions).to_have_count(0)


@pytest.mark.soak  # without a browser: tests/pages/server/test_streamlit_fixes.py
def test_a_double_click_asks_again_once(answered, visit, server):
    visitor = visit("en", path=answered(FIRST["en"], "A director approves it [1].").path)
    server.default = "A director [1]."
    visitor.button("chat.again").dblclick()
    expect(visitor.button("chat.again")).to_have_count(2, timeout=LOADED)
    visitor.settle()
    expect(visitor.questions).to_have_count(2)
    expect(visitor.stop).to_have_count(0)
