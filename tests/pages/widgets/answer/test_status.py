"""The status of an answer on the page: a draft during its checks, then confirmed, or replaced by another."""

import json
from functools import partial

import pytest

from pages.server import process
from pages.texts import texts
from pages.widgets.answer.status import show_answer_status, show_unconfirmed
from pages.widgets.chat.turn.turn import show_end
from rag.models.service.no_answer import TOKEN
from rag.trace.events import Event, StepFinished, StepStarted, Token
from rag.trace.passages import Citation
from tests.helpers.handbook import YES
from tests.helpers.looks import one_language
from tests.pages.reader import for_reader
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.trace_examples import PASSAGE
from tests.rag.some_pipelines import some_of
from tests.rag.trace.derived.checked_answers import (
    FOUND,
    PASSED,
    SEARCHED,
    SENT_BACK,
    finished,
    generate,
    started,
)
from tests.servers import Answer

QUESTION = "Who approves the green car?"
NO = json.dumps({"reason": "Not there.", "unsupported": ["The mayor approves it."], "support": "no"})

each_language = pytest.mark.parametrize("language", ["ja", "en"])


def notes(events: list[Event], language: str = "en") -> list[str]:
    _, page = for_reader(language, lambda: show_answer_status(events))
    return [each.value for each in page.html]


@each_language
def test_while_its_checks_go_on_an_answer_is_a_draft(language):
    [note] = notes([started(), *SEARCHED, FOUND, *generate()], language)
    assert texts(language)["chat.draft"] in note
    assert 'class="answer-status draft"' in note


def test_where_a_pipeline_checks_nothing_no_answer_is_a_draft():
    assert notes([started("naive"), *SEARCHED, StepStarted(step="generate", attempt=1, start=0)]) == []


@each_language
def test_a_draft_that_passes_is_confirmed(language):
    [note] = notes([started(), *SEARCHED, FOUND, *generate(), PASSED, finished()], language)
    assert texts(language)["outcome.confirmed_note"] in note


@each_language
def test_a_draft_that_is_sent_back_is_dropped_with_the_reason(language):
    [note] = notes([started(), *SEARCHED, FOUND, *generate(), SENT_BACK], language)
    why = texts(language)["decision.not_grounded"]
    assert texts(language)["chat.draft_dropped"].format(why=why) in note
    assert "dropped" in note


@pytest.mark.parametrize(("language", "between"), [("ja", ""), ("en", " ")])
def test_the_one_that_is_written_instead_says_that_it_replaces_it(language, between):
    words = texts(language)
    replaces = between + words["chat.draft_replaces"].format(why=words["decision.not_grounded"])
    writing = [*SEARCHED, FOUND, *generate(), SENT_BACK, StepStarted(step="generate", attempt=2, start=0)]
    [note] = notes([started(), *writing, Token(step="generate", attempt=2, text="An")], language)
    assert words["chat.draft"] + replaces in note
    [note] = notes([started(), *writing, *generate(2)[1:], PASSED, finished()], language)
    assert words["outcome.confirmed_note"] + replaces in note


def test_claims_that_could_not_be_confirmed_are_listed_as_text():
    end = finished("unconfirmed", ("<b>3,000</b> yen", "on Mondays"))
    _, page = for_reader("en", lambda: show_unconfirmed(end))
    [listed] = [each.value for each in page.html]
    assert texts("en")["chat.unconfirmed"] in listed
    assert listed.count("<li>") == 2
    assert "<b>" not in listed


@each_language
def test_below_an_answer_stands_how_many_documents_it_may_lack(language):
    def told(pending: int) -> list[str]:
        last = finished().model_copy(update={"answer": "", "pending": pending})
        _, page = for_reader(language, partial(show_end, last, [last], "end"))
        return [each.value for each in page.info]

    words = texts(language)
    assert told(0) == []
    assert told(1) == [words["chat.pending_one"]]
    assert told(12) == [words["chat.pending"].format(count=12)]


@each_language
def test_below_a_no_answer_the_nearest_passages_are_named_only_if_there_are_some(language):
    nothing_near = finished("not_in_documents")
    cited = Citation.model_validate(PASSAGE.model_dump(include=set(Citation.model_fields)))
    near = nothing_near.model_copy(update={"citations": (cited,)})
    for last, key in ((nothing_near, "outcome.nothing_near_note"), (near, "outcome.not_in_documents_note")):
        _, page = for_reader(language, partial(show_end, last, [last], "end"))
        assert [each.value for each in page.info] == [texts(language)[key]]


# On the whole page


@pytest.fixture
def handbook(handbook, server) -> None:
    server.answer_when(lambda request: request.schema is not None, YES)


@one_language("ja")
def test_no_answer_shows_the_nearest_passages_as_citations_that_open(handbook, server, language):
    server.answer_when(lambda request: request.streams, f"{TOKEN} It does not say.")
    page = ChatPage(language)
    page.picker("pipeline.label").set_value("naive")
    assert page.ask(QUESTION).status == "finished"
    [answer] = page.answers
    assert "It does not say." in answer
    assert TOKEN not in answer
    assert 'class="cite"' in answer
    assert "passage-card" in answer
    assert page.words["outcome.not_in_documents"] in page.traces[0]
    assert page.words["outcome.not_in_documents_note"] in [each.value for each in page.app.info]


@one_language("ja")
@pytest.mark.parametrize("pipeline", some_of(("naive", "self_rag", "self_rag_candidates"), ["self_rag_candidates"]))
def test_an_answer_that_reached_its_limit_is_said_to_lack_its_end(monkeypatch, server, tmp_path, language, pipeline):
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("ANSWER_TOKENS", "100")
    file = tmp_path / "travel.md"
    file.write_text("# Travel\n\nThe green car needs the approval of a director.\n", encoding="utf-8")
    server.answer_when(lambda request: request.schema is not None, YES)
    server.answer_when(lambda request: '"rating"' in json.dumps(request.schema), '{"rating": 5}')
    server.answer_when(lambda request: '"support"' in json.dumps(request.schema), '{"support": "fully"}')
    try:
        assert process.engine().store.add("handbook", file, file.name).error is None
        for tokens in (100, 101):
            server.default = Answer("A director approves it [1]. " * 20, tokens=tokens)
            page = ChatPage(language)
            page.picker("pipeline.label").set_value(pipeline)
            assert page.ask(QUESTION).status == "finished"
            assert (page.words["cut.length"] in [each.value for each in page.app.info]) is (tokens > 100)
    finally:
        process.close_engine()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("RUN_CALL_LIMIT", "1"),
        # Also in tests/rag/runs/test_engine.py, without a page.
        pytest.param("RUN_TOKEN_LIMIT", "1000", marks=pytest.mark.soak),
    ],
)
@one_language("en")
def test_a_run_whose_budget_is_spent_is_told_in_one_sentence(monkeypatch, server, tmp_path, language, setting, value):
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("MODEL_RETRIES", "0")
    monkeypatch.setenv(setting, value)
    file = tmp_path / "travel.md"
    file.write_text("# Travel\n\nThe green car needs the approval of a director.\n", encoding="utf-8")
    try:
        assert process.engine().store.add("handbook", file, file.name).error is None
        server.default = Answer(YES, tokens=2000)
        page = ChatPage(language)
        assert page.ask(QUESTION).status == "limited"
        [error] = page.errors
        assert setting in error
        assert page.words["status.limited"] in page.traces[0]
    finally:
        process.close_engine()


def test_a_follow_up_is_shown_as_it_was_asked_and_its_step_as_it_was_understood(handbook, server, engine):
    whole = "Who approves the green car of the director?"
    server.answer_when(lambda request: "<turn>" in request.prompt, whole)
    page = ChatPage()
    page.picker("pipeline.label").set_value("naive")
    page.ask(QUESTION)
    run = page.ask("And for directors?")
    assert "And for directors?" in page.questions[-1]
    [step] = [
        each for each in engine.history.events(run.id)
        if isinstance(each, StepFinished) and each.step == "standalone_question"
    ]  # fmt: skip
    assert step.detail.after == whole


@pytest.mark.soak
def test_a_style_that_is_picked_is_told_below_and_goes_with_the_question_and_its_repetition(handbook, engine):
    page = ChatPage()
    for title, value in (("pipeline.label", "naive"), ("options.length", "short"), ("options.tone", "plain")):
        page.picker(title).set_value(value)
    page.number("options.temperature").set_value(0.7)
    page.look()
    label = f"{page.words['manner.short']} · {page.words['manner.plain']} · {page.words['options.temperature']} 0.7"
    assert page.words["options.style_picked"].format(style=label) in [each.value for each in page.app.caption]
    first = page.ask(QUESTION)
    assert label in page.traces[0]
    page.picker("options.length").set_value("long")
    page.number("options.temperature").set_value(None)
    page.look()
    page.press(page.words["chat.again"])
    second = page.wait()
    styles = [engine.history.events(run.id)[0].style for run in (first, second)]
    assert [(style.length, style.tone, style.temperature) for style in styles] == [("short", "plain", 0.7)] * 2
