"""Forks on the pages: a form below each step that can be changed, and the fork beside its origin."""

import json

import pytest

from index_store.access.principal import LOCAL
from pages.server import process
from pages.widgets.trace.fork.origin import origin_html
from rag.errors import RunTimeLimit
from rag.models.service.en import EN
from rag.runs.fork.edits import EDITS, EditPrompt, LeaveOut, TurnOver
from rag.runs.run.run import Run
from rag.trace.events import RunFinished, RunStarted, StepFinished, Totals
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import process_of
from tests.helpers.handbook import YES
from tests.helpers.looks import one_language
from tests.helpers.waiting import eventually
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.compare_page import ComparePage
from tests.pages.tabs.fork_form import Form, trace_of
from tests.pages.trace_examples import HOSTILE
from tests.rag.verdicts import verdict
from tests.servers import Refusal

HANDBOOK = (
    "# Travel\n\n## Trains\n\nThe green car needs the approval of a director.\n\n"
    "## Hotels\n\nA night costs 12,000 yen at most.\n\n## Flights\n\nFlights are booked by the travel desk.\n"
)
QUESTION = "Who approves the green car?"
NO = json.dumps({"reason": "It does not.", "verdict": "no", "score": 0.1})


@pytest.fixture
def handbook(engine, server, tmp_path) -> None:
    file = tmp_path / "travel.md"
    file.write_text(HANDBOOK, encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    server.default = "A director approves it [1]."
    server.answer_when(lambda request: request.schema is not None, YES)


def asked(pipeline: str, retrieval: Retrieval | None = None) -> Run:
    """A run that has ended."""
    engine = process.engine()
    run = engine.ask(QUESTION, index="handbook", pipeline_name=pipeline, retrieval=retrieval)
    run.result()
    return run


def changes(fork: RunStarted) -> list[tuple[str, str, str]]:
    return [(each.what, each.before, each.after) for each in fork.origin.changes]


@one_language("ja")
def test_each_step_that_can_be_changed_has_a_form_and_no_other(handbook, engine, language):
    run = asked("self_rag")
    page = trace_of(run, language)
    folds = [each for each in page.app.expander if page.words["change.fold"] in each.label]
    steps = {each.step for each in engine.history.events(run.id) if isinstance(each, StepFinished)}
    assert len(folds) == len(steps & EDITS.keys()) == 5


@one_language("en")
def test_a_verdict_is_reversed_and_the_fork_opens_at_that_step_beside_its_origin(handbook, language):
    form = Form(asked("self_rag"), "check_grounding", language)
    assert form.words["change.check_grounding_no"] in form.told
    form.run_on()
    fork = form.fork
    assert (fork.origin.run_id, fork.origin.step, fork.origin.attempt) == (form.origin.id, "check_grounding", 1)
    assert changes(fork) == [("grounding", "yes", "no")]
    assert form.page.app.query_params["runs"] == f"{form.origin.id},{fork.run_id}"
    assert form.page.app.query_params["step"] == "check_grounding-1"


@pytest.mark.soak
def test_where_documents_were_searched_in_doubt_the_fork_goes_on_without_them(handbook, server):
    server.answer_when(lambda request: EN.retrieval_need in request.prompt, verdict("no", 0.3))
    form = Form(asked("self_rag_candidates"), "decide_retrieval")
    assert form.words["change.decide_retrieval_no"] in form.told


def test_a_passage_that_is_unticked_is_left_out(handbook, server):
    form = Form(asked("naive"), "generate")
    first, *others = form.ticks
    assert form.ticks == {first: True} | dict.fromkeys(others, True)
    form.set("checkbox", "passage-1", False)
    server.default = "Nobody knows [2]."
    form.run_on()
    assert changes(form.fork) == [("left_out", "Travel > Trains", "")]
    assert process.engine().history.events(form.fork.run_id)[-1].answer == "Nobody knows [2]."


def test_a_grade_that_is_unticked_counts_as_not_relevant(handbook):
    form = Form(asked("self_rag"), "grade_documents")
    form.set("checkbox", "grade-2", False)
    form.run_on()
    assert changes(form.fork) == [("grade", "yes", "no")]


def test_a_query_is_edited_and_searched_with_another_k(handbook):
    form = Form(asked("naive"), "retrieve")
    form.set("text_area", "query", "How much is a night in a hotel?")
    form.set("number_input", "k", 1)
    form.run_on()
    assert changes(form.fork) == [("query", QUESTION, "How much is a night in a hotel?"), ("k", "4", "1")]
    [found] = [
        each for each in process.engine().history.events(form.fork.run_id)
        if isinstance(each, StepFinished) and each.step == "retrieve"
    ]  # fmt: skip
    assert [each.headings for each in found.detail.passages] == [("Hotels",)]


@pytest.mark.soak  # two passages are taken in below
def test_a_passage_of_the_index_that_was_not_found_is_looked_for_and_taken_in(handbook, engine, tmp_path):
    file = tmp_path / "parking.md"
    file.write_text("# Parking\n\nThe garage closes at nine.\n", encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    form = Form(asked("naive", Retrieval(k=1)), "retrieve")
    form.choose("found")
    assert "Parking" not in str(form.ticks)
    form.set("text_input", "look", "garage")
    [other] = [each for each in form.page.app.checkbox if "Parking" in each.label]
    other.set_value(True)
    form.run_on()
    assert changes(form.fork) == [("taken_in", "", "Parking")]


@pytest.mark.parametrize("unit", ["chunk", pytest.param("section", marks=pytest.mark.soak)])
def test_a_passage_that_is_ticked_stays_so_while_others_are_looked_for(handbook, engine, tmp_path, unit):
    for name, text in (("parking", "The garage closes at nine."), ("lunch", "The canteen opens at noon.")):
        file = tmp_path / f"{name}.md"
        file.write_text(f"# {name.title()}\n\n{text}\n", encoding="utf-8")
        assert engine.store.add("handbook", file, file.name).error is None
    form = Form(asked("naive", Retrieval(unit=unit, k=1)), "retrieve")
    form.choose("found")
    for words, title in (("garage", "Parking"), ("canteen", "Lunch")):
        form.set("text_input", "look", words)
        [box] = [each for each in form.page.app.checkbox if title in each.label]
        box.set_value(True)
        form.page.look()
    form.set("text_input", "look", "")
    assert [label for label, ticked in form.ticks.items() if ticked and "+" in label] == ["+ Parking", "+ Lunch"]
    form.run_on()
    assert changes(form.fork) == [("taken_in", "", "Parking"), ("taken_in", "", "Lunch")]


@pytest.mark.soak
def test_a_section_that_was_not_found_is_offered_once_where_the_run_reads_whole_sections(handbook, engine, tmp_path):
    file = tmp_path / "parking.md"
    floors = "".join(f"The garage on floor {n} closes {n * 7} minutes after the shop.\n\n" for n in range(30))
    file.write_text(f"# Parking\n\n{floors}", encoding="utf-8")
    added = engine.store.add("handbook", file, file.name)
    assert added.sections == 1 < added.chunks
    form = Form(asked("naive", Retrieval(unit="section", k=1)), "retrieve")
    form.choose("found")
    form.set("text_input", "look", "garage")
    offered = [each for each in form.page.app.checkbox if "Parking" in each.label]
    assert len(offered) == 1
    offered[0].set_value(True)
    form.run_on()
    assert changes(form.fork) == [("taken_in", "", "Parking")]


def test_a_passage_of_an_earlier_search_is_offered_once(handbook, server):
    server.answer_when(lambda request: request.schema is not None and "<passage" in request.prompt, NO, times=1)
    server.answer_when(lambda request: EN.rewrite[:60] in request.prompt, "How much is a night in a hotel?")
    run = asked("self_rag", Retrieval(k=1))
    form = Form(run, "retrieve", attempt=2)
    form.choose("found")
    form.set("text_input", "look", "Who approves the green car in trains?")
    assert [label for label in form.ticks if "Trains" in label] == ["[1] Travel › Trains"]


@pytest.mark.soak
def test_what_was_entered_is_still_there_after_a_look_at_the_other_half_of_the_form(handbook):
    form = Form(asked("naive"), "retrieve")
    form.set("text_area", "query", "How much is a night in a hotel?")
    form.choose("found")
    form.set("checkbox", "passage-1", False)
    form.choose("search")
    assert form.widget("text_area", "query").value == "How much is a night in a hotel?"
    form.choose("found")
    assert list(form.ticks.values()) == [False, True, True]
    form.run_on()
    assert [what for what, *_ in changes(form.fork)] == ["left_out"]


@pytest.mark.parametrize("pipeline", [pytest.param("naive", marks=pytest.mark.soak), "self_rag"])
def test_an_edited_prompt_is_sent_unchanged_also_for_a_speculative_answer(handbook, server, pipeline):
    form = Form(asked(pipeline), "generate")
    form.choose("prompt")
    form.set("text_area", "message-0", "You are a parrot.")
    form.run_on()
    assert form.fork is not None
    assert [each for each in server.prompts if "You are a parrot." in each]


@pytest.mark.parametrize("pipeline", ["naive", pytest.param("self_rag", marks=pytest.mark.soak)])
def test_where_the_model_found_no_answer_its_passages_and_its_prompt_can_be_changed(handbook, server, pipeline):
    server.default = "NOT_IN_PASSAGES The handbook does not say."
    origin = asked(pipeline)
    form = Form(origin, "generate")
    assert list(form.ticks.values()) == [True] * 3
    form.set("checkbox", "passage-2", False)
    form.run_on()
    assert changes(form.fork) == [("left_out", "Travel > Flights", "")]
    form = Form(origin, "generate")
    form.choose("prompt")
    form.set("text_area", "message-0", "You are a parrot.")
    assert form.words["change.no_prompt"] not in form.told


@pytest.mark.soak
def test_a_passage_can_be_taken_back_where_all_were_left_out_and_there_is_no_prompt(handbook, engine):
    origin = asked("self_rag")
    fork = engine.forks.begin(origin.id, "generate", 1, [LeaveOut(passage=number) for number in (1, 2, 3)])
    fork.result()
    page = ComparePage("en", runs=f"{origin.id},{fork.id}")
    key = f"change-column-1-{fork.id}-generate-1"
    page.app.session_state[key] = True
    page.look()
    ticks = [each for each in page.app.checkbox if each.key.endswith(key)]
    assert [each.value for each in ticks] == [False] * 3
    assert not [each for each in page.app.segmented_control if each.key.endswith(key)]
    ticks[0].set_value(True)
    page.press(page.words["change.run_on"])
    assert [each.value for each in page.app.error] == []


@one_language("ja")
def test_nothing_changed_and_a_removed_document_are_told_in_a_sentence(handbook, engine, language):
    form = Form(asked("naive"), "generate", language)
    form.run_on()
    assert {"ja": "何も変わっていません", "en": "Nothing was changed"}[language] in form.told
    [document] = engine.store.documents("handbook")
    engine.store.remove("handbook", document.source)
    form.page.look()
    assert form.words["change.gone"].partition("{")[0] + "Travel" in form.told
    form.set("checkbox", "passage-1", False)
    form.run_on()
    assert form.fork is None
    assert form.page.app.error


@one_language("en")
def test_a_newer_version_of_a_document_that_the_run_has_read_is_told(handbook, engine, tmp_path, language):
    form = Form(asked("naive"), "generate", language)
    told = form.words["change.newer"].partition("{")[0]
    assert told not in form.told
    file = tmp_path / "travel.md"
    file.write_text(f"{HANDBOOK}\nThe rest is new.\n", encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    form.page.look()
    assert told + "Travel" in form.told


def test_a_prompt_that_is_not_kept_can_not_be_edited(handbook, engine, server):
    form = Form(asked("naive"), "generate")
    with process_of(engine).history.database.begin() as connection:
        connection.exec_driver_sql("DELETE FROM calls")
    form.choose("prompt")
    assert form.words["change.no_prompt"] in form.told


def test_a_run_that_failed_offers_no_change_of_the_step_that_did(handbook, server):
    server.answer_when(lambda request: request.schema is None, Refusal(500, "server_error"))
    run = asked("naive")
    page = trace_of(run)
    folds = [each.key for each in page.app.expander if page.words["change.fold"] in each.label]
    assert folds == [f"change-past-{run.id}-retrieve-1"]


def test_a_step_that_the_time_limit_cut_off_offers_its_prompt_but_no_outcome(engine):
    history = process_of(engine).history
    conversation = history.conversations.new(QUESTION, principal=LOCAL).id
    run = {"run_id": "cut", "conversation_id": conversation, "question": QUESTION, "index": "handbook", "at": 1.0}
    limit = RunTimeLimit(seconds=600).as_failure()
    history.save("cut", RunStarted(pipeline="self_rag", model="m", **run))
    for step in ("grade_documents", "check_grounding", "generate"):
        took = {"start": 0, "milliseconds": 1, "model_calls": 1, "tokens_in": 1, "tokens_out": 0}
        history.save("cut", StepFinished(step=step, attempt=1, verdict="stopped", **took))
    ended = {"outcome": None, "citations": (), "totals": Totals(seconds=600)}
    history.save("cut", RunFinished(status="limited", answer="", error=limit, **ended))
    page = ChatPage("en", conversation=conversation, unfolded=["trace-cut"])
    folds = [each.key for each in page.app.expander if page.words["change.fold"] in each.label]
    assert folds == ["change-past-cut-generate-1"]


@one_language("ja")
def test_the_compare_page_tells_what_a_fork_has_from_its_origin_and_what_was_changed(handbook, engine, language):
    origin = asked("self_rag")
    fork = engine.forks.begin(origin.id, "check_usefulness", 1, [TurnOver()])
    fork.result()
    compared = ComparePage(language, runs=f"{origin.id},{fork.id}", step="check_usefulness-1")
    [told] = [each.text_content() for each in compared.page.find_class("origin")]
    assert compared.words["step.check_usefulness"] in told
    assert compared.words["detail.yes"] in told
    assert compared.words["detail.no"] in told
    reused = [each.label for each in compared.app.expander if compared.words["step.reused"] in each.label]
    assert len(reused) >= 4
    assert compared.words["detail.by_hand"].partition("{verdict}")[2] in compared.page.text_content()
    _, was, now = compared.rows("costs")
    assert "(" not in was[3]
    assert "(" in now[3]
    assert compared.words["total.reused"].partition("{count}")[2] in compared.headlines[1]


@one_language("en")
def test_an_edited_prompt_that_quoted_a_removed_document_says_so(handbook, engine, language):
    origin = asked("naive")
    [call] = engine.history.calls.of_step(origin.id, "generate", 1)
    edited = tuple(each.model_copy(update={"text": f"{each.text} Be brief."}) for each in call.messages)
    fork = engine.forks.begin(origin.id, "generate", 1, [EditPrompt(messages=edited)])
    fork.result()
    assert "approval of a director" in trace_of(fork).page.find_class("origin")[0].text_content()
    [document] = engine.store.documents("handbook")
    engine.store.remove("handbook", document.source)
    assert eventually(lambda: process_of(engine).store.removed() == [])
    page = trace_of(fork, language)
    assert page.words["chat.removed"] in page.page.find_class("origin")[0].text_content()
    assert "approval of a director" not in page.page.text_content()


def test_what_documents_and_people_wrote_is_escaped_in_what_a_fork_tells(handbook, engine):
    origin = asked("naive")
    fork = engine.forks.begin(origin.id, "retrieve", 1, [LeaveOut(passage=1)])
    fork.result()
    started = fork.events[0]
    change = started.origin.changes[0].model_copy(update={"before": HOSTILE})
    for what in ("left_out", "query", "prompt"):
        hostile = started.origin.model_copy(
            update={"changes": (change.model_copy(update={"what": what, "after": HOSTILE}),)}
        )
        assert "<script" not in origin_html(started.model_copy(update={"origin": hostile}))
        assert "<img" not in origin_html(started.model_copy(update={"origin": hostile}))
