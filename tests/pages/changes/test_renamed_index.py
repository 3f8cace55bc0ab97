"""Pages about a run whose index was renamed, deleted or replaced since: they keep to the index that it asked."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from index_store.base.errors import EmptyIndex, UnknownIndex
from rag.errors import IndexGone
from rag.runs.engine import UserEngine
from rag.runs.run.run import Run
from rag.trace.passages import Retrieval
from tests.helpers.looks import one_language
from tests.pages.documents import add
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.compare_page import ComparePage
from tests.pages.tabs.documents_page import DocumentsPage
from tests.pages.tabs.fork_form import Form, trace_of
from tests.pages.tabs.runs_page import RunsPage

QUESTION = "Who approves the green car?"


@pytest.fixture
def run(engine, server, tmp_path) -> Run:
    """A run on “handbook” that has ended. There is also an index that comes first by name."""
    server.default = "A director [1]."
    add(engine, tmp_path, "travel.md", "parking.md")
    add(engine, tmp_path, "elsewhere.md", index="archive")
    run = engine.ask(QUESTION, index="handbook", pipeline_name="naive", retrieval=Retrieval(k=1))
    run.result()
    return run


def replace(engine: UserEngine) -> None:
    """Deletes the index and makes another one with its name."""
    engine.store.delete_index("handbook")
    engine.store.create_index("handbook")


def searches(page: ChatPage) -> list[str]:
    """The indexes in the links of a trace to the Search page."""
    addresses = re.findall(r'href="(search\?[^"]*)"', page.html)
    return [parse_qs(urlsplit(unescape(each)).query)["index"][0] for each in addresses]


def test_a_question_is_asked_again_of_the_renamed_index(engine, run):
    engine.store.rename_index("handbook", "rules")
    RunsPage(run=run.id).press("chat.again")
    _, again = engine.history.runs(run.conversation_id)
    engine.run(again.id).result()
    assert (again.index, engine.history.run(again.id).status) == ("rules", "finished")


@one_language("en")
def test_a_question_to_an_index_that_was_replaced_is_not_asked_of_the_new_one(engine, run, language):
    replace(engine)
    page = RunsPage(language, run=run.id)
    page.press("chat.again")
    assert IndexGone(index="handbook").sentence(language) in page.text
    assert len(engine.history.runs()) == 1


def test_the_next_question_of_a_conversation_goes_to_the_renamed_index(engine, run):
    engine.store.rename_index("handbook", "rules")
    page = ChatPage(conversation=run.conversation_id)
    assert page.picked("index.label") == "rules"


@one_language("ja")
def test_a_question_to_an_index_that_another_tab_has_deleted_is_kept_and_asked_of_no_other(engine, run, language):
    page = ChatPage(language)
    page.pick("index.label", "handbook")
    engine.store.delete_index("handbook")
    page.app.chat_input[0].set_value("And of parking?")
    page.look()
    assert page.errors == [UnknownIndex(index="handbook", known="archive").sentence(language)]
    assert page.app.chat_input[0].proto.value == "And of parking?"
    assert len(engine.history.runs()) == 1


@pytest.mark.soak
@one_language("ja")
def test_a_question_to_the_only_index_that_another_tab_has_deleted_is_kept_and_asked_of_none(engine, run, language):
    engine.store.delete_index("archive")
    page = ChatPage(language, conversation=run.conversation_id)
    engine.store.delete_index("handbook")
    page.app.chat_input[0].set_value("And of parking?")
    page.look()
    assert page.errors == [EmptyIndex(index="handbook").sentence(language)]
    assert page.app.chat_input[0].proto.value == "And of parking?"
    assert [each.id for each in engine.history.runs()] == [run.id]


@pytest.mark.parametrize("page_of", [ChatPage, pytest.param(DocumentsPage, marks=pytest.mark.soak)])
def test_a_file_for_the_only_index_that_another_tab_has_deleted_makes_no_other(engine, run, page_of):
    engine.store.delete_index("archive")
    page = page_of()
    engine.store.delete_index("handbook")
    page.app.get("file_uploader")[0].upload("parking.md", b"# Parking", "text/markdown")
    page.look()
    assert EmptyIndex(index="handbook").sentence("en") in page.text
    assert (engine.store.ingestions, engine.store.indexes()) == ((), [])


@pytest.mark.soak
def test_the_next_question_of_an_open_conversation_goes_to_the_index_that_another_tab_has_renamed(engine, run):
    page = ChatPage(conversation=run.conversation_id)
    engine.store.rename_index("handbook", "rules")
    assert page.ask("And of parking?").index == "rules"


@pytest.mark.soak
@one_language("en")
def test_a_comparison_of_an_index_that_another_tab_has_renamed_is_asked_of_no_other(engine, run, language):
    page = ComparePage(language)
    page.choose("index.label", "handbook")
    engine.store.rename_index("handbook", "rules")
    page.compare("And of parking?")
    assert page.comparison is None
    assert len(engine.history.runs()) == 1
    assert UnknownIndex(index="handbook", known="archive, rules").sentence(language) in page.text
    assert page.app.text_area[0].value == "And of parking?"
    page.choose("index.label", "rules").press(page.words["compare.begin"]).wait()
    assert {each.index for each in engine.history.runs()[1:]} == {"rules"}


# Also in test_compare.py::test_an_index_whose_documents_are_not_ready_stays_picked_after_a_look_at_compare.
@pytest.mark.soak
def test_compare_does_not_call_an_index_without_documents_gone(engine, run):
    engine.store.create_index("empty")
    page = ComparePage()
    page.app.session_state.picked_index = "empty"
    page.look()
    assert not page.app.warning


@pytest.mark.soak
def test_other_columns_beside_an_answer_ask_the_renamed_index(engine, run):
    engine.store.rename_index("handbook", "rules")
    page = ComparePage(runs=run.id)
    page.press(page.words["compare.begin"]).wait()
    comparison = engine.comparisons.get(page.comparison)
    assert [engine.history.run(each).index for each in comparison.run_ids] == ["handbook", "rules"]


def test_beside_an_answer_of_an_index_that_was_replaced_nothing_is_asked(engine, run, tmp_path):
    replace(engine)
    add(engine, tmp_path, "new.md")
    page = ComparePage(runs=run.id)
    assert page.words["compare.index_gone"].format(name="handbook") in page.text
    assert f"⇄ {page.words['compare.begin']}" not in page.buttons


@pytest.mark.soak
def test_a_trace_leads_to_the_search_of_the_renamed_index(engine, run):
    engine.store.rename_index("handbook", "rules")
    assert searches(trace_of(run)) == ["rules"]


@pytest.mark.soak
def test_a_trace_leads_to_no_search_of_an_index_that_was_replaced(engine, run):
    replace(engine)
    assert searches(trace_of(run)) == []


@pytest.mark.soak
def test_a_passage_to_add_is_looked_for_in_the_renamed_index(engine, run):
    engine.store.rename_index("handbook", "rules")
    form = Form(run, "retrieve")
    form.choose("found")
    form.set("text_input", "look", "green car")
    assert form.page.errors == []
    assert [each for each in form.page.app.checkbox if "Trains" in each.label]
