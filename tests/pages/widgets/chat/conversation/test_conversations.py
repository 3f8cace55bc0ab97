"""The list of conversations in the sidebar: the latest ones, more on request, and a search by words."""

import time
from datetime import UTC, datetime

import pytest

from index_store.access.principal import LOCAL
from rag.runs.history.conversations.conversations import Conversation
from tests.helpers.back_doors import process_of
from tests.helpers.looks import one_language
from tests.pages.tabs.chat_page import ChatPage


@pytest.fixture
def many(engine) -> list[Conversation]:
    """The earliest first."""
    return [
        process_of(engine).history.conversations.new(f"Question {number}", principal=LOCAL) for number in range(1, 201)
    ]


def listed(page: ChatPage) -> list[str]:
    return [each for each in page.buttons if each.startswith("Question ")]


@one_language("ja")
def test_the_latest_are_listed_and_more_when_they_are_asked_for(many, language):
    page = ChatPage(language)
    assert listed(page) == [f"Question {number}" for number in range(200, 170, -1)]
    page.press(page.words["sidebar.more"].format(count=170))
    assert len(listed(page)) == 130
    page.press(page.words["sidebar.more"].format(count=70))
    assert listed(page)[-1] == "Question 1"
    assert page.words["sidebar.more"].partition("{")[0] not in "".join(page.buttons)


@one_language("en")
def test_words_find_a_conversation_however_old_it_is(many, language):
    page = ChatPage(language)
    page.app.text_input(key="conversation words").set_value("question 17")
    page.look()
    assert listed(page) == [f"Question {number}" for number in (*range(179, 169, -1), 117, 17)]
    page.app.text_input(key="conversation words").set_value("nothing of this")
    page.look()
    assert listed(page) == []
    assert page.words["sidebar.none_found"] in [each.value for each in page.app.caption]


def test_one_that_is_open_is_listed_however_old_it_is(many):
    page = ChatPage(conversation=many[0].id)
    assert listed(page)[-1] == "Question 1"
    assert len(listed(page)) == 31
    page.press(page.words["sidebar.delete_really"])
    assert "Question 1" not in listed(page)


def test_a_few_conversations_need_no_search(engine):
    process_of(engine).history.conversations.new("Question 1", principal=LOCAL)
    page = ChatPage()
    assert listed(page) == ["Question 1"]
    assert not page.app.text_input


@pytest.mark.parametrize(("hour", "group"), [(0, "sidebar.earlier"), (12, "sidebar.today")])
def test_today_begins_at_midnight_of_the_reader(engine, hour, group):
    """`hour`: what the reader's clock shows now."""
    history = process_of(engine).history
    history.conversations.new("Question 1", principal=LOCAL)
    two_hours_ago = time.time() - 2 * 60 * 60
    with history.database.begin() as connection:
        connection.exec_driver_sql("update conversations set updated_at = ?", (two_hours_ago,))
    page = ChatPage()
    ahead = (hour - datetime.now(UTC).hour + 12) % 24 - 12
    page.app.context["timezone"] = f"Etc/GMT{-ahead:+d}"  # the sign in such a name is that of POSIX
    page.look()
    groups = {page.words["sidebar.today"], page.words["sidebar.earlier"]}
    assert [each.value for each in page.app.caption if each.value in groups] == [page.words[group]]


def test_one_from_before_the_clock_was_set_back_is_of_today(engine):
    history = process_of(engine).history
    history.conversations.new("Question 1", principal=LOCAL)
    with history.database.begin() as connection:
        connection.exec_driver_sql("update conversations set updated_at = updated_at + 3 * 24 * 60 * 60")
    page = ChatPage()
    captions = [each.value for each in page.app.caption]
    assert page.words["sidebar.today"] in captions
    assert page.words["sidebar.earlier"] not in captions
