"""The Compare page: pipelines side by side, their differences, and the vote."""

import json
from urllib.parse import parse_qs

import pytest

from pages.server import process
from pages.widgets.compare import form
from pages.widgets.compare.differences import passages_html
from pages.words.reader import Reader, written_for
from rag.models.service.no_answer import TOKEN
from rag.runs.history.conversations.comparison import Comparison
from rag.runs.run.options import RunOptions
from rag.trace.details import RetrievalDetail
from rag.trace.events import RunFinished, Totals
from tests.helpers.back_doors import process_of
from tests.helpers.handbook import YES
from tests.helpers.looks import one_language
from tests.helpers.waiting import eventually
from tests.pages import trace_examples
from tests.pages.conftest import restart
from tests.pages.tabs.app_page import shown
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.compare_page import ComparePage
from tests.servers import Answer, Refusal

TRAVEL = (
    "# Travel\n\n## Trains\n\nThe green car needs the approval of a director.\n\n"
    "## Hotels\n\nA night costs 12,000 yen at most.\n\n## Flights\n\nFlights are booked by the travel desk.\n"
)
QUESTION = "Who approves the green car?"
ANSWER = "A director approves it [1]."
ENDLESS = Answer("One word after another. " * 100, token_seconds=0.5)
HOSTILE = "<img src=x onerror=alert(1)> [x](https://evil.example) **b** $x$"
TWO = (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid"))


@pytest.fixture
def handbook(engine, server, tmp_path) -> None:
    """An index with the handbook, and a model that finds everything relevant."""
    file = tmp_path / "travel.md"
    file.write_text(TRAVEL, encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    server.default = Answer(ANSWER)
    server.answer_when(lambda request: request.schema is not None, YES)


def compared(columns=TWO, question: str = QUESTION, **options) -> Comparison:
    """A comparison whose runs have ended."""
    comparison = process.engine().comparisons.begin(question, "handbook", columns, **options)
    for run_id in comparison.run_ids:
        if run := process.engine().run(run_id):
            run.result()
    return comparison


def asked(
    question: str = QUESTION, conversation: str | None = None, pipeline: str = "naive", index: str = "handbook"
) -> str:
    """Asks in the chat; returns the run's id."""
    engine = process.engine()
    run = engine.ask(question, index=index, pipeline_name=pipeline, conversation_id=conversation)
    run.result()
    return run.id


@pytest.mark.parametrize("language", ["ja", "en"])
def test_without_documents_it_says_what_to_do(engine, language):
    page = ComparePage(language)
    assert page.words["compare.nothing_loaded"] in page.text
    assert page.words["compare.begin"] not in " ".join(page.buttons)


def test_an_index_whose_documents_are_not_ready_stays_picked_after_a_look_at_compare(engine, handbook):
    engine.store.create_index("new")
    page = ComparePage().go("documents", lang="en").choose("index.index", "new").go("compare", lang="en")
    assert [each.value for each in page.app.selectbox if each.label == page.words["index.label"]] == ["new"]
    page.go("documents", lang="en")
    assert page.app.session_state.picked_index == "new"


@one_language("ja")
def test_a_question_is_answered_in_each_column_and_what_differs_stands_below(handbook, language):
    page = ComparePage(language)
    page.pick_pipeline(1, "self_rag")
    page.compare(QUESTION).wait()
    assert page.questions == [QUESTION]
    assert [head.split()[:2] for head in page.heads] == [
        ["A", page.words["pipeline.naive"]], ["B", page.words["pipeline.self_rag"]],
    ]  # fmt: skip
    assert page.answers == ["A director approves it [1]."] * 2
    assert [page.words["outcome.confirmed"] in each for each in page.headlines] == [False, True]
    _, naive, self_rag = page.rows("costs")
    assert naive[1] == page.words["outcome.answered"]
    assert naive[3] == "1"
    assert int(self_rag[3]) > 1
    head, *passages = page.rows("passages")
    assert head[0] == page.words["detail.passage"]
    best = next(row for row in passages if "#1" in row[1])
    assert page.words["compare.cited"] in best[1]
    assert page.words["detail.relevant_yes"] in best[2]
    assert len(page.page.find_class("chart")) == 3


def test_four_columns_of_the_same_pipeline_differ_in_how_they_search_and_how_freely_they_answer(handbook, server):
    page = ComparePage()
    page.app.segmented_control[0].set_value(4)
    page.look()
    for picker in [each for each in page.app.selectbox if each.label == page.words["pipeline.label"]]:
        picker.set_value("naive")
    page.look()
    [count] = [each for each in page.app.selectbox if each.label == page.words["options.k"]][3:]
    count.set_value("1")
    [temperature] = [each for each in page.app.number_input if each.label == page.words["options.temperature"]][2:3]
    temperature.set_value(0.7)
    page.look()
    page.compare(QUESTION).wait()
    assert len(page.heads) == 4
    assert "Vector · Chunks · 1" in page.heads[3]
    assert [f"{page.words['options.temperature']} 0.7" in head for head in page.heads] == [False, False, True, False]
    assert sorted(each.body["temperature"] for each in server.chats) == [0, 0, 0, 0.7]
    cells = [row[1:] for row in page.rows("passages")[1:]]
    assert sum(row[3] != page.words["compare.not_found"] for row in cells) == 1
    assert all(cell != page.words["compare.not_found"] for row in cells for cell in row[:3])


def test_while_it_goes_on_each_column_can_be_stopped_and_all(handbook, server):
    server.default = ENDLESS
    page = ComparePage()
    page.compare(QUESTION)
    stops = [label for label in page.buttons if page.words["chat.stop"] in label]
    assert len(stops) == 3  # one for each column, and one for all
    assert page.words["compare.differences"] not in [each.value for each in page.app.subheader]
    page.press(page.words["compare.stop_all"])
    page.wait()
    assert page.text.count(page.words["chat.stopped"]) == 2
    assert page.words["compare.differences"] in [each.value for each in page.app.subheader]


@pytest.mark.soak
def test_where_columns_take_turns_the_page_says_whose_it_is(handbook, server, monkeypatch):
    monkeypatch.setenv("RUNS_AT_ONCE", "1")
    restart()
    server.default = ENDLESS
    page = ComparePage()
    page.compare(QUESTION)
    runs = [process.engine().run(each) for each in process.engine().comparisons.get(page.comparison).run_ids]
    assert eventually(lambda: [run.before for run in runs] == [0, 1])
    page.look()
    assert page.words["chat.queue_one"] in page.text
    assert "Answering: A Naive. Waiting: B Hybrid." in page.text.replace("**", "")
    page.press(page.words["compare.stop_all"])


def test_a_reload_and_a_second_tab_find_it_as_it_goes_on_and_nothing_is_asked_twice(handbook, server):
    server.default = ENDLESS
    page = ComparePage()
    page.compare(QUESTION)
    tabs = [ComparePage(c=page.comparison) for _ in range(2)]
    assert [len(tab.heads) for tab in tabs] == [2, 2]
    assert len(process.engine().history.runs()) == 2
    tabs[0].press(page.words["compare.stop_all"])
    tabs[1].wait()
    assert tabs[1].text.count(page.words["chat.stopped"]) == 2


# Also in test_chat.py::test_a_run_that_the_end_of_the_app_stopped_is_there_afterwards.
@pytest.mark.soak
def test_after_a_restart_columns_that_were_cut_off_say_so_and_are_asked_again(handbook, server):
    comparison = compared()
    last = comparison.run_ids[1]
    with process_of(process.engine()).history.database.begin() as connection:
        connection.exec_driver_sql("delete from events where run_id = ? and position > 0", (last,))
        connection.exec_driver_sql("update runs set status = 'running' where id = ?", (last,))
    restart()
    page = ComparePage(c=comparison.id)
    assert "The app ended before this answer was finished" in page.text
    assert len(page.answers) == 1
    page.press(page.words["compare.again"])
    page.wait()
    assert len(page.answers) == 2
    assert page.words["compare.again"] not in " ".join(page.buttons)


@pytest.mark.soak
@one_language("en")
def test_a_column_that_was_stopped_before_it_searched_is_not_said_to_have_found_nothing(handbook, language):
    first, second = asked(), asked(pipeline="hybrid")
    history = process_of(process.engine()).history
    history.save("stopped", history.events(first)[0].model_copy(update={"run_id": "stopped"}))
    last = RunFinished(status="stopped", answer="", outcome=None, citations=(), totals=Totals())
    history.save("stopped", last)
    page = ComparePage(language, runs=f"stopped,{first},{second}")
    assert [head[0] for head in page.heads] == ["A", "B", "C"]
    head, *passages = page.rows("passages")
    assert [each[0] for each in head[1:]] == ["B", "C"]
    assert passages
    assert page.words["compare.not_found"] not in [cell for row in passages for cell in row]


def test_tokens_that_no_service_told_are_not_called_none(handbook):
    first = asked()
    history = process_of(process.engine()).history
    history.save("untold", history.events(first)[0].model_copy(update={"run_id": "untold"}))
    totals = Totals(seconds=1, model_calls=1, generations=1)
    last = RunFinished(status="finished", answer=ANSWER, outcome="answered", citations=(), totals=totals)
    history.save("untold", last)
    page = ComparePage(runs=f"untold,{first}")
    _, untold, _ = page.rows("costs")
    assert untold[3:] == ["1", "–", "–", "0", "1"]
    _, bar, _ = page.page.find_class("chart")[2]
    assert bar.text_content() == "A–"


@pytest.mark.soak
def test_where_the_first_column_has_no_answer_the_words_of_the_others_are_compared(handbook, server):
    server.answer_when(lambda request: request.schema is None, Refusal(500, "server_error"), times=1)
    page = ComparePage(runs=",".join([asked(), asked(), asked()]))
    assert len(page.answers) == 2
    [words] = page.page.find_class("answers")
    assert [each.text_content() for each in words.iter("h6")] == ["B", "C"]


def test_a_column_that_fails_tells_why_and_leaves_the_others_alone(handbook, server):
    server.answer_when(lambda request: "json_schema" in json.dumps(request.body), Refusal(401))
    page = ComparePage()
    page.pick_pipeline(1, "self_rag")
    page.compare(QUESTION).wait()
    assert len(page.answers) >= 1
    assert {each.value for each in page.app.error} == {page.app.error[0].value}
    assert page.rows("costs")[2][1] == page.words["status.failed"]


@one_language("ja")
def test_the_vote_is_kept_and_can_be_changed(handbook, language):
    page = ComparePage(language, c=compared().id)
    best, vote = f"★ {page.words['compare.best']}", f"☆ {page.words['compare.vote']}"

    def votes(page: ComparePage) -> list[str]:
        return [label for label in page.buttons if label in (best, vote)]

    assert votes(page) == [vote, vote]
    page.press(vote, 1)
    assert votes(page) == votes(ComparePage(language, c=page.comparison)) == [vote, best]
    page.press(vote)
    assert votes(page) == [best, vote]
    page.press(best)
    assert votes(page) == [vote, vote]


def test_stored_runs_of_anywhere_stand_side_by_side_and_a_vote_keeps_them(handbook):
    runs = [asked(), asked("What does a hotel cost?", pipeline="hybrid")]
    page = ComparePage(runs=",".join(runs))
    assert page.questions == [QUESTION, "What does a hotel cost?"]
    assert len(page.answers) == 2
    assert process.engine().comparisons.latest(5) == []
    page.press(page.words["compare.vote"], 1)
    [kept] = process.engine().comparisons.latest(5)
    assert (kept.run_ids, kept.best) == (tuple(runs), runs[1])
    assert f"★ {page.words['compare.best']}" in ComparePage(runs=",".join(runs)).buttons


@pytest.mark.soak
def test_runs_of_different_indexes_say_which_one_they_asked_by_its_present_name(handbook, engine, tmp_path):
    assert engine.store.add("handbook 2024", tmp_path / "travel.md", "travel.md").error is None
    first, second = asked(), asked(index="handbook 2024")
    page = ComparePage(runs=f"{first},{second}")
    assert ["handbook 2024" in head for head in page.heads] == [False, True]
    engine.store.rename_index("handbook", "handbook 2023")
    engine.store.rename_index("handbook 2024", "handbook")
    assert ["handbook 2023" in head for head in page.look().heads] == [True, False]
    assert ["handbook" in head for head in page.heads] == [True, True]
    page = ComparePage(runs=f"{second},{asked()}")
    assert ["handbook" in head for head in page.heads] == [False, False]


@pytest.mark.soak
@one_language("en")
def test_all_past_comparisons_can_be_listed(handbook, monkeypatch, language):
    monkeypatch.setattr(form, "LISTED", 1)
    runs = [asked(), asked("What does a hotel cost?")]
    older, newer = (process.engine().comparisons.keep(each).id for each in (runs, runs[::-1]))
    page = ComparePage(language)
    assert listed(page) == [newer]
    page.press(page.words["compare.earlier"])
    assert listed(page) == [newer, older]
    assert page.words["compare.earlier"] not in page.buttons


def listed(page: ComparePage) -> list[str]:
    """The past comparisons on the page."""
    queries = [each.proto.query_string for each in page.app.get("page_link")]
    return [parse_qs(query)["c"][0] for query in queries if "c=" in query]


@pytest.mark.soak
def test_two_tabs_that_vote_on_the_same_runs_vote_in_one_comparison(handbook):
    runs = ",".join([asked(), asked()])
    one, two = ComparePage(runs=runs), ComparePage(runs=runs)
    one.press(one.words["compare.vote"])
    two.press(two.words["compare.vote"], 1)
    [kept] = process.engine().comparisons.latest(5)
    assert (one.comparison, two.comparison, kept.best) == (kept.id, kept.id, kept.run_ids[1])


@pytest.mark.soak
def test_after_a_vote_on_stored_runs_the_one_that_failed_is_asked_again_in_its_place(handbook, server):
    first = asked()
    server.answer_when(
        lambda request: request.schema is None and "hotel" in request.prompt, Refusal(500, "server_error"), times=1
    )
    runs = [first, asked("What does a hotel cost?", pipeline="hybrid")]
    page = ComparePage(runs=",".join(runs))
    assert page.words["compare.again"] not in " ".join(page.buttons)
    page.press(page.words["compare.vote"])
    [kept] = process.engine().comparisons.latest(5)
    assert (page.comparison, page.parameter("runs")) == (kept.id, None)
    assert page.questions == [QUESTION, "What does a hotel cost?"]
    page.press(page.words["compare.again"]).wait()
    assert page.questions == [QUESTION, "What does a hotel cost?"]
    assert len(page.answers) == 2


@pytest.mark.soak
def test_in_an_address_of_runs_that_are_kept_a_column_is_asked_again(handbook, server):
    first = asked()
    server.answer_when(lambda request: request.schema is None, Refusal(500, "server_error"), times=1)
    runs = [first, asked()]
    kept = process.engine().comparisons.keep(runs)
    page = ComparePage(runs=",".join(runs))
    page.press(page.words["compare.again"])
    assert page.comparison == kept.id
    page.wait()
    assert len(page.answers) == 2


def test_a_chat_answer_becomes_the_first_column_and_only_other_columns_run(handbook, server):
    first = asked()
    chat = ChatPage(conversation=process.engine().history.run(first).conversation_id)
    assert [each for each in chat.app.get("page_link") if f"runs={first}" in each.proto.query_string]
    page = ComparePage(runs=first)
    assert page.questions == [QUESTION]
    assert page.answers == ["A director approves it [1]."]
    before = len(server.chats)
    page.press(page.words["compare.begin"]).wait()
    comparison = process.engine().comparisons.get(page.comparison)
    assert comparison.run_ids[0] == first
    assert [head[0] for head in page.heads] == ["A", "B"]
    assert len([each for each in server.chats[before:] if each.schema is None]) == 1


def test_a_typed_question_stays_after_a_look_at_another_page_and_goes_once_it_is_compared(handbook):
    page = ComparePage()
    page.write("compare.question", QUESTION)
    page.go("documents").go("compare")
    assert page.app.text_area[0].value == QUESTION
    page.press(page.words["compare.begin"]).wait()
    assert page.go("compare").app.text_area[0].value == ""


@pytest.mark.soak
def test_no_pipeline_is_offered_twice_after_a_look_at_the_other_form(handbook):
    run = asked(pipeline="self_rag")
    page = ComparePage(runs=run)
    assert offered(page) == ["naive"]
    assert offered(page.go("compare")) == ["naive", "hybrid"]
    page = ComparePage()
    page.app.segmented_control(key="columns of new").set_value(3)
    page.look()
    page.go("compare", runs=run)
    page.app.segmented_control(key=f"columns of {run}").set_value(2)
    assert offered(page.look()) == ["naive", "hybrid"]


def offered(page: ComparePage) -> list[str]:
    """The pipelines that the columns of the form have."""
    return [each.value for each in page.app.selectbox if each.label == page.words["pipeline.label"]]


def test_an_answer_that_was_not_found_names_no_sources_above_the_form_either(handbook, server):
    server.default = TOKEN
    page = ComparePage(runs=asked())
    assert page.words["detail.nearest"] in page.html
    assert page.words["chat.sources"] not in page.html
    assert page.words["outcome.not_in_documents_note"] in page.text


@pytest.mark.soak
def test_other_columns_get_the_standalone_question_of_a_follow_up(handbook, server):
    conversation = process.engine().history.run(asked()).conversation_id
    server.answer_when(lambda request: "And of hotels?" in request.prompt, "Who approves hotels?", times=1)
    follow_up = asked("And of hotels?", conversation)
    page = ComparePage(runs=follow_up)
    assert page.questions == ["Who approves hotels?"]
    page.press(page.words["compare.begin"]).wait()
    assert process.engine().comparisons.get(page.comparison).question == "Who approves hotels?"


@pytest.mark.soak
def test_a_vote_on_a_follow_up_leaves_its_standalone_question_as_the_heading(handbook, server):
    conversation = process.engine().history.run(asked()).conversation_id
    server.answer_when(lambda request: "And of hotels?" in request.prompt, "Who approves hotels?", times=1)
    follow_up = asked("And of hotels?", conversation)
    page = ComparePage(runs=f"{follow_up},{asked('Who approves hotels?')}")
    assert page.questions == ["Who approves hotels?"]
    page.press(page.words["compare.vote"])
    assert page.questions == ["Who approves hotels?"]


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ({"c": "nothing"}, "compare.unknown"),
        pytest.param({"runs": ""}, "compare.runs_gone", marks=pytest.mark.soak),
        ({"runs": "nothing,'; drop table runs;--"}, "compare.runs_gone"),
        pytest.param({"runs": "," * 50}, "compare.runs_gone", marks=pytest.mark.soak),
    ],
)
def test_an_address_of_nothing_leads_to_the_form(handbook, address, word):
    page = ComparePage(**address)
    assert page.words[word] in page.text
    assert f"⇄ {page.words['compare.begin']}" in page.buttons


def test_at_most_four_runs_are_shown_without_duplicates_and_deleted_ones(handbook):
    runs = [asked() for _ in range(5)]
    page = ComparePage(runs=",".join(runs))
    assert len(page.heads) == 4
    assert page.words["compare.too_many"].format(most=4) in page.text
    assert ComparePage(runs=f"{runs[0]},{runs[0]}").answers == page.answers[:1]  # one column, with the form beside it
    assert len(ComparePage(runs=f"{runs[0]},{runs[1]},{runs[0]}").heads) == 2
    gone = ComparePage(runs=f"{runs[0]},nothing,{runs[1]}")
    assert len(gone.heads) == 2
    assert page.words["compare.runs_gone"] in gone.text


def test_a_column_whose_run_was_deleted_with_its_conversation_says_so(handbook):
    first = asked()
    comparison = compared(beside=first)
    process.engine().delete_conversation(process.engine().history.run(first).conversation_id)
    page = ComparePage(c=comparison.id)
    assert page.words["compare.run_gone"] in page.text
    assert [head[0] for head in page.heads] == ["B", "C"]
    assert [row[0][0] for row in page.rows("costs")[1:]] == ["B", "C"]


# Also in changes/test_renamed_index.py::test_beside_an_answer_of_an_index_that_was_replaced_nothing_is_asked.
@pytest.mark.soak
def test_an_index_that_was_deleted_leaves_what_was_compared_and_is_told_in_the_form(handbook):
    first = asked()
    comparison = compared()
    engine = process.engine()
    engine.store.delete_index("handbook")
    assert len(ComparePage(c=comparison.id).answers) == 2
    page = ComparePage(runs=first)
    assert len(page.answers) == 1
    assert page.words["compare.index_gone"].format(name="handbook") in page.text


def test_past_comparisons_are_listed_by_their_question_and_can_be_deleted(handbook):
    comparison = compared(question=HOSTILE)
    page = ComparePage()
    [link] = [each for each in page.app.get("page_link") if f"c={comparison.id}" in each.proto.query_string]
    assert shown(link.proto.label).startswith(HOSTILE)
    page = ComparePage(c=comparison.id)
    page.press(page.words["compare.delete_really"])
    assert page.comparison is None
    assert process.engine().history.runs() == []
    assert [each for each in ComparePage().app.get("page_link") if "c=" in each.proto.query_string] == []


def test_what_documents_and_people_wrote_is_shown_as_they_wrote_it(handbook, engine, tmp_path, server):
    file = tmp_path / "hostile.md"
    file.write_text(f"# {HOSTILE}\n\n{HOSTILE} green car\n", encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    server.default = Answer(f"{HOSTILE} [1]")
    page = ComparePage(c=compared(question=HOSTILE).id)
    assert list(page.page.iter("img")) == []
    assert [each.get("href") for each in page.page.iter("a") if each.get("href").startswith("https://evil")] == []
    assert [each for each in page.page.iter("script") if "alert(" in each.text] == []
    assert page.questions == [HOSTILE]


def test_the_address_of_a_page_is_shown_with_its_own_letters():
    outside = trace_examples.OUTSIDE.model_copy(update={"source": "https://example.com/%E8%A6%8F%E7%A8%8B"})
    search = trace_examples.finished(RetrievalDetail(query=QUESTION, mode="vector", unit="chunk", passages=(outside,)))
    with written_for(Reader("en", "UTC")):
        assert "<small>https://example.com/規程</small>" in passages_html({0: [search], 1: [search]})


def test_a_question_that_is_empty_or_too_long_is_refused_and_stays(handbook):
    page = ComparePage()
    for question, word in ((" ", "question"), ("x" * 4001, "4,000")):
        page.compare(question)
        assert len(page.app.error) == 1
        assert word in shown(page.app.error[0].value)
        assert page.app.text_area[0].value == question
    assert process.engine().history.runs() == []


# Also in tests/rag/runs/test_comparisons.py, without a page.
@pytest.mark.soak
def test_each_column_may_have_a_model_of_its_own(handbook, monkeypatch):
    monkeypatch.setenv("COMPARE_MODELS", "larger-model")
    restart()
    page = ComparePage()
    [_, second] = [each for each in page.app.selectbox if each.label == page.words["compare.model"]]
    second.set_value("larger-model")
    page.look()
    page.compare(QUESTION).wait()
    assert "larger-model" not in page.heads[0]
    assert "larger-model" in page.heads[1]
