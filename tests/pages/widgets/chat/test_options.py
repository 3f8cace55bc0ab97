"""Options for retrieval in the chat: what a person picks replaces the settings of the pipeline."""

import pytest

from pages.texts import texts
from rag.trace.passages import Retrieval
from tests.pages.tabs.chat_page import ChatPage

QUESTION = "Who approves the green car?"


@pytest.fixture
def page(handbook) -> ChatPage:
    page = ChatPage()
    page.picker("pipeline.label").set_value("naive")  # counts from the next redraw on
    return page


def retrieval(engine, run) -> Retrieval | None:
    return engine.history.events(run.id)[0].retrieval


@pytest.mark.soak  # that it was left to the pipeline again is tested below
def test_unless_something_is_picked_the_pipeline_searches_as_it_has_it(engine, page):
    assert retrieval(engine, page.ask(QUESTION)) is None
    assert page.picked("options.mode") == ""


@pytest.mark.parametrize(
    ("name", "value", "picked"),
    [
        # Mode and number are also picked below.
        pytest.param("options.mode", "hybrid", Retrieval(mode="hybrid"), marks=pytest.mark.soak),
        ("options.unit", "section", Retrieval(unit="section")),
        pytest.param("options.k", "2", Retrieval(k=2), marks=pytest.mark.soak),
    ],
)
def test_what_is_picked_replaces_that_part_and_the_rest_is_as_the_pipeline_has_it(engine, page, name, value, picked):
    page.pick(name, value)
    run = page.ask(QUESTION)
    assert (retrieval(engine, run), run.status) == (picked, "finished")


def test_what_is_picked_is_told_below_and_in_the_line_of_its_run(page):
    page.pick("options.mode", "keyword")
    told = "Keyword · Chunks · 4"
    assert page.words["options.picked"].format(retrieval=told) in [each.value for each in page.app.caption]
    page.ask(QUESTION)
    assert f"{page.words['pipeline.naive']} ({told})" in page.traces[0]


def test_what_is_picked_outlives_reruns_another_pipeline_and_a_switch_of_language(engine, page):
    page.pick("options.mode", "keyword")
    page.pick("options.k", "7")
    page.look()
    page.pick("pipeline.label", "hybrid")
    page.app.button_group(key="chosen_language").set_value("ja")
    page.look()
    page.words = texts("ja")
    page.look()
    assert (page.picked("options.mode"), page.picked("options.k")) == ("keyword", "7")
    assert retrieval(engine, page.ask(QUESTION)) == Retrieval(mode="keyword", k=7)


def test_what_is_picked_counts_also_if_the_language_is_switched_before_the_page_is_drawn_again(page):
    page.picker("options.mode").set_value("keyword")
    page.number("options.temperature").set_value(0.7)
    page.app.button_group(key="chosen_language").set_value("ja")
    page.look()
    page.words = texts("ja")
    assert (page.picked("options.mode"), page.number("options.temperature").value) == ("keyword", 0.7)


@pytest.mark.soak
def test_it_can_be_left_to_the_pipeline_again(engine, page):
    page.pick("options.unit", "section")
    page.pick("options.unit", "")
    assert retrieval(engine, page.ask(QUESTION)) is None


@pytest.mark.parametrize("again", ["chat.again", pytest.param("pipeline.multivector", marks=pytest.mark.soak)])
def test_a_question_asked_again_is_searched_in_the_same_way(engine, page, again):
    page.pick("options.mode", "hybrid")
    first = page.ask(QUESTION)
    page.pick("options.mode", "")
    page.press(page.words[again])
    second = page.wait()
    assert second.id != first.id
    assert retrieval(engine, second) == retrieval(engine, first) == Retrieval(mode="hybrid")
