"""Branches of a conversation: an edited question starts one, links lead to the others, and questions continue it."""

import threading

import pytest

from index_store.base.errors import EmptyQuestion
from pages.widgets.chat.conversation.shown import DRAWN
from tests.helpers.looks import one_language
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.runs_page import RunsPage
from tests.servers import Answer

FIRST, SECOND, EDITED, LAST = "Who approves trains?", "Who pays for them?", "Who books them?", "And when?"


@pytest.fixture
def page(handbook, engine):
    """Opens the chat page in a conversation of two questions, which were asked without a page."""

    def page(language: str = "en") -> ChatPage:
        conversation = None
        for question in (FIRST, SECOND):
            run = engine.ask(question, index="handbook", conversation_id=conversation, pipeline_name="naive")
            assert run.result().status == "finished"
            conversation = run.conversation_id
        page = ChatPage(language, conversation)
        page.picker("pipeline.label").set_value("naive")  # counts from the next redraw on
        return page

    return page


def asked(page: ChatPage) -> list[str]:
    return [each.partition(">")[2].partition("<")[0] for each in page.questions]


def edit(page: ChatPage, place: int, text: str) -> None:
    """Opens the editor of the question at this position, and asks `text`."""
    [each for each in page.app.button if str(each.key).startswith("sign-edit-")][place].click()
    page.look()
    page.app.text_area[0].set_value(text)
    [submit] = [each for each in page.app.button if each.label == page.words["chat.ask"]]
    submit.click()
    page.look()


@one_language("ja")
def test_an_edited_question_is_shown_in_a_branch_and_the_earlier_one_is_a_press_away(page, language):
    page = page(language)
    edit(page, 1, EDITED)
    page.wait()
    assert asked(page) == [FIRST, EDITED]
    assert "2/2" in [each.value for each in page.app.caption]
    page.press(page.words["chat.wording_before"])
    assert asked(page) == [FIRST, SECOND]
    assert "1/2" in [each.value for each in page.app.caption]
    page.press(page.words["chat.wording_after"])
    assert asked(page) == [FIRST, EDITED]


def test_a_reload_keeps_the_branch_and_another_conversation_begins_with_its_latest(page):
    page = page()
    edit(page, 1, EDITED)
    page.wait()
    page.press(page.words["chat.wording_before"])
    again = ChatPage(conversation=page.conversation, branch=page.branch)
    assert asked(again) == [FIRST, SECOND]
    again.press(again.words["sidebar.new_chat"])
    assert again.branch is None
    again.press(FIRST)
    assert asked(again) == [FIRST, EDITED]


def test_what_is_asked_next_goes_on_with_the_branch_that_is_shown(page):
    page = page()
    edit(page, 1, EDITED)
    page.wait()
    page.press(page.words["chat.wording_before"])
    run = page.ask(LAST)
    assert asked(page) == [FIRST, SECOND, LAST]
    assert page.branch == page.in_view == run.id
    next(each for each in page.app.button if page.words["chat.again"] in each.label).click()
    page.look()
    assert page.branch == page.in_view == page.wait().id
    assert asked(page) == [FIRST, SECOND, LAST, FIRST]
    page.press(page.words["chat.wording_after"])
    assert asked(page) == [FIRST, EDITED]


@pytest.mark.soak
def test_what_two_tabs_ask_in_one_conversation_is_all_there_in_the_order_in_which_it_was_asked(page):
    page = page()
    other = ChatPage(conversation=page.conversation)
    page.ask(EDITED)
    other.ask(LAST)
    assert asked(other) == [FIRST, SECOND, EDITED, LAST]
    assert asked(page.look()) == [FIRST, SECOND, EDITED, LAST]


@pytest.mark.soak
def test_a_question_goes_on_with_what_is_on_the_page_after_an_edit_in_another_tab(page):
    page = page()
    other = ChatPage(conversation=page.conversation)
    edit(other, 1, EDITED)
    other.wait()
    page.ask(LAST)
    assert asked(page) == [FIRST, SECOND, LAST]
    assert asked(other) == [FIRST, EDITED]
    assert asked(ChatPage(conversation=page.conversation)) == [FIRST, SECOND, LAST]


@pytest.mark.soak  # a branch that was not chosen is tested above
def test_a_question_goes_on_with_the_chosen_branch_on_the_page_after_a_later_edit_in_another_tab(page):
    page = page()
    page.ask(LAST)
    edit(page, 1, EDITED)
    page.wait()
    page.press(page.words["chat.wording_before"])
    other = ChatPage(conversation=page.conversation, branch=page.branch)
    edit(other, 2, "And where?")
    other.wait()
    page.ask("Why?")
    assert asked(page) == [FIRST, SECOND, LAST, "Why?"]


def test_the_first_question_can_be_edited_and_is_asked_as_it_was(page, engine):
    page = page()
    edit(page, 0, EDITED)
    run = page.wait()
    assert (run.question, run.index, run.pipeline, run.follows) == (EDITED, "handbook", "naive", None)
    assert asked(page) == [EDITED]


@pytest.mark.soak
def test_an_edit_stops_the_answer_to_the_wording_before(page, engine, server):
    page = page()
    server.answer_when(lambda request: LAST in request.prompt, Answer("A word. " * 100, until=threading.Event()))
    page.app.chat_input[0].set_value(LAST)
    page.look()
    replaced = engine.run(engine.history.runs()[-1].id)
    edit(page, 2, EDITED)
    assert replaced.wait(60)
    assert replaced.result().status == "stopped"
    assert page.wait().status == "finished"
    assert asked(page) == [FIRST, SECOND, EDITED]


def test_editing_can_be_left_and_nothing_blank_is_asked(page, engine):
    page = page()
    edit(page, 1, " ")
    assert page.errors == [EmptyQuestion().sentence("en")]
    page.press(page.words["chat.cancel_edit"])
    assert asked(page) == [FIRST, SECOND]
    assert len(engine.history.runs()) == 2


def test_an_address_of_a_branch_that_is_not_there_shows_the_latest(page):
    page = page()
    again = ChatPage(conversation=page.conversation, branch="gone")
    assert asked(again) == [FIRST, SECOND]
    assert again.branch is None


@pytest.mark.soak  # also tested by what is asked next, above
def test_the_run_in_the_address_is_the_one_that_was_asked_last(page):
    page = page()
    edit(page, 1, EDITED)
    page.wait()
    run = page.ask(LAST)
    assert page.branch == page.in_view == run.id
    next(each for each in page.app.button if page.words["chat.again"] in each.label).click()
    page.look()
    assert page.branch == page.in_view == page.wait().id


@pytest.mark.soak
def test_a_run_of_another_branch_that_is_asked_again_in_runs_goes_on_in_its_own(page, engine):
    page = page()
    second = engine.history.runs()[-1]
    edit(page, 1, EDITED)
    page.wait()
    chat, runs = ChatPage(conversation=page.conversation), RunsPage(run=second.id)
    assert asked(chat) == [FIRST, EDITED]
    for name in ("conversation", "branch", DRAWN):
        runs.app.session_state[name] = chat.app.session_state[name]
    runs.press("chat.again")
    latest = engine.history.runs()[-1]
    assert (latest.question, latest.follows) == (SECOND, second.id)
    assert [each.text_content() for each in runs.page.find_class("question")] == [FIRST, SECOND, SECOND]
