"""Pages that are drawn while another tab deletes what they show: they say so, or show nothing of it."""

from collections.abc import Callable

import pytest

from pages.server import process
from rag.runs.engine import UserEngine
from rag.runs.history.for_people.user_history import UserHistory
from rag.runs.history.history import History
from rag.runs.run.run import Run
from tests.pages.documents import add
from tests.pages.tabs.app_page import AppPage
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.compare_page import ComparePage
from tests.pages.tabs.runs_page import RunsPage


@pytest.fixture
def run(engine, tmp_path) -> Run:
    """A run that has ended."""
    add(engine, tmp_path, "travel.md")
    run = engine.ask("Who approves the green car?", index="handbook", pipeline_name="naive")
    run.result()
    return run


@pytest.fixture
def deleted_before(run, monkeypatch) -> Callable[[type, str], None]:
    """Lets another tab delete the conversation when a page next calls this method, and just before."""

    def deleted_before(owner: type, name: str) -> None:
        method = getattr(owner, name)

        def after_deletion(*asked: object, **options: object) -> object:
            monkeypatch.setattr(owner, name, method)
            process.engine().delete_conversation(run.conversation_id)
            return method(*asked, **options)

        monkeypatch.setattr(owner, name, after_deletion)

    return deleted_before


def test_the_chat_shows_nothing_of_it(run, deleted_before):
    deleted_before(History, "outlines_of")
    page = ChatPage(conversation=run.conversation_id)
    assert page.questions == page.answers == []
    assert [each.value for each in page.look().app.warning] == [page.words["chat.not_here"]]


def test_a_follow_up_to_it_is_not_asked_alone_and_stays_in_the_field(run):
    engine = process.engine()
    page = ChatPage(conversation=run.conversation_id)
    engine.delete_conversation(run.conversation_id)
    page.app.chat_input[0].set_value("And for managers?")
    page.look()
    assert engine.history.runs() == []
    assert page.app.chat_input[0].proto.value == "And for managers?"
    assert [each.value for each in page.app.warning] == [page.words["chat.not_here"]]
    assert not page.errors
    page.ask("And for managers?")
    assert [each.question for each in engine.history.runs()] == ["And for managers?"]


@pytest.mark.soak
def test_a_file_with_such_a_follow_up_is_added(run):
    engine = process.engine()
    page = ChatPage(conversation=run.conversation_id)
    engine.delete_conversation(run.conversation_id)
    page.app.chat_input[0].set_value("And for managers?").upload("hotels.md", b"# Hotels", "text/markdown")
    page.look()
    assert engine.history.runs() == []
    [ingestion] = engine.store.ingestions
    assert [each.source for each in ingestion.wait()] == ["hotels.md"]


# Also in test_runs.py::test_a_run_that_is_deleted_in_another_tab_while_it_is_open_is_said_to_be_gone.
@pytest.mark.soak
def test_its_run_is_said_to_be_gone(run, deleted_before):
    deleted_before(UserHistory, "events")
    page = RunsPage(run=run.id)
    assert page.words["runs.gone"] in page.text


@pytest.mark.soak
def test_the_form_beside_its_run_is_not_shown(run, deleted_before):
    deleted_before(UserEngine, "events")
    page = ComparePage(runs=run.id)
    assert page.words["compare.runs_gone"] in page.text
    assert page.answers == []


def test_what_a_link_shared_of_it_is_no_longer_shown(run, deleted_before):
    made = process.engine().shares.add(run.conversation_id)
    deleted_before(History, "outlines_of")
    page = AppPage("personal/shared", share=made.token)
    assert run.result().answer not in page.html
    assert page.look().app.error
