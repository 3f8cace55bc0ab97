"""A conversation of many turns: the page draws the last ones, and reads no more than it draws."""

import uuid

import pytest

from index_store.access.principal import LOCAL
from rag.runs.history import history
from rag.trace.details import RetrievalDetail
from rag.trace.events import Event, RunFinished, RunStarted, StepFinished, StepStarted, Totals, from_json
from tests.helpers.back_doors import process_of
from tests.helpers.looks import one_language
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.trace_examples import PASSAGE, finished


def steps() -> list[Event]:
    retrieval = RetrievalDetail(query="?", mode="vector", unit="chunk", passages=(PASSAGE,) * 8)
    return [StepStarted(step="retrieve", attempt=1, start=0), finished(retrieval)]


@pytest.fixture
def save(engine):
    """Saves a finished run of a conversation; returns its id. `follows`: the run before it; by default the latest."""

    def save(conversation_id: str, question: str, at: float, follows: str | None = None) -> str:
        run_id = uuid.uuid4().hex
        started = RunStarted(
            run_id=run_id, conversation_id=conversation_id, question=question, index="handbook", pipeline="naive",
            model="m", at=at, follows=follows,
        )  # fmt: skip
        end = RunFinished(status="finished", answer="Answer.", outcome="answered", citations=(), totals=Totals())
        with process_of(engine).history.together() as connection:
            for event in (started, *steps(), end):
                process_of(engine).history.save(run_id, event, within=connection)
        return run_id

    return save


@pytest.fixture
def conversation(engine, save):
    """Makes a conversation with this number of turns; returns its id."""

    def conversation(turns: int) -> str:
        conversation_id = process_of(engine).history.conversations.new("Many turns", principal=LOCAL).id
        for number in range(1, turns + 1):
            save(conversation_id, f"Question {number}?", number)
        return conversation_id

    return conversation


@pytest.fixture
def read(monkeypatch) -> list[Event]:
    """The events that were read from the history."""
    events: list[Event] = []

    def noting(text: str) -> Event:
        events.append(from_json(text))
        return events[-1]

    monkeypatch.setattr(history, "from_json", noting)
    return events


@one_language("ja")
def test_the_last_turns_are_drawn_and_earlier_ones_when_they_are_asked_for(conversation, language):
    page = ChatPage(language, conversation(25))
    assert ["Question 21?" in page.questions[0], len(page.questions), len(page.answers)] == [True, 5, 5]
    page.press(page.words["chat.earlier"].format(count=20))
    assert ["Question 11?" in page.questions[0], len(page.questions), len(page.answers)] == [True, 15, 15]
    page.press(page.words["chat.earlier"].format(count=10))
    assert ["Question 1?" in page.questions[0], len(page.questions), len(page.answers)] == [True, 25, 25]
    assert page.words["chat.earlier"].partition("(")[0] not in "".join(page.buttons)


def test_a_short_conversation_is_drawn_whole(conversation):
    page = ChatPage(conversation=conversation(5))
    assert len(page.questions) == 5
    assert page.words["chat.earlier"].partition("(")[0] not in "".join(page.buttons)


def test_an_early_run_that_is_opened_is_drawn_with_the_turns_around_it_and_brought_into_view(conversation, engine):
    conversation_id = conversation(25)
    early = engine.history.runs(conversation_id)[3]
    page = ChatPage(conversation=conversation_id, branch=early.id)
    assert ["Question 3?" in page.questions[0], len(page.questions)] == [True, 23]
    assert page.in_view == early.id
    page.press(page.words["sidebar.new_chat"])
    page.press("Many turns")
    assert page.in_view is None


@pytest.mark.soak
def test_another_wording_of_an_early_question_is_drawn_and_brought_into_view(conversation, save, engine):
    conversation_id = conversation(25)
    runs = engine.history.runs(conversation_id)
    edited = save(conversation_id, "Edited?", 26, follows=runs[2].id)
    page = ChatPage(conversation=conversation_id)
    assert ["Edited?" in page.questions[-1], len(page.questions)] == [True, 4]
    page.press(page.words["chat.wording_before"])
    assert ["Question 3?" in page.questions[0], len(page.questions)] == [True, 23]
    assert page.in_view == runs[3].id
    page.press(page.words["chat.wording_after"])
    assert ["Edited?" in page.questions[-1], page.in_view] == [True, edited]


def test_a_redraw_reads_as_much_of_a_hundred_turns_as_of_five_and_no_passages(conversation, read):
    counts = {}
    for turns in (5, 100):
        page = ChatPage(conversation=conversation(turns))
        read.clear()
        page.look()
        counts[turns] = len(read)
    assert counts[100] == counts[5]
    assert not [each for each in read if isinstance(each, StepFinished) and isinstance(each.detail, RetrievalDetail)]


def test_a_trace_that_is_opened_reads_the_passages_of_its_run_alone(conversation, read, engine):
    conversation_id = conversation(10)
    run = engine.history.runs(conversation_id)[-1]
    page = ChatPage(conversation=conversation_id)
    read.clear()
    page.app.session_state[f"trace-{run.id}"] = True
    page.look()
    assert sum(isinstance(each, StepFinished) and isinstance(each.detail, RetrievalDetail) for each in read) == 1
    assert any(page.words["step.retrieve"] in each.label for each in page.app.expander)
