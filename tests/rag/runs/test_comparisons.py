"""Comparisons through the engine: they are begun, stored, asked again and voted on."""

import pytest

from index_store.base.errors import EmptyQuestion, InvalidSetting, QuestionTooLong, UnknownMode
from rag.errors import BadColumnCount, IndexGone, ModelNotOffered, UnknownPipeline, UnknownRun
from rag.models.service.ja import JA
from rag.runs.engine import UserEngine
from rag.runs.fork.edits import EditQuery
from rag.runs.history.conversations.comparison import MOST_COLUMNS, Comparison
from rag.runs.history.history import History, PastRun
from rag.runs.run.options import RunOptions
from rag.settings import Settings
from rag.trace.derived.comparison import compare_passages
from rag.trace.details import StandaloneDetail
from rag.trace.events import Origin, RunFinished, RunStarted, StepFinished, Style, Token
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import process_of
from tests.helpers.local import local_engine
from tests.helpers.waiting import eventually
from tests.rag.documents import INDEX, QUESTION
from tests.rag.reading import of
from tests.rag.scripted import Gate, Held, ScriptedChat, ScriptedSource

TWO = (RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid", retrieval=Retrieval(mode="keyword", k=2)))


def compare(engine: UserEngine, columns=TWO, question: str = QUESTION, **options) -> Comparison:
    return engine.comparisons.begin(question, INDEX, columns, **options)


def results(engine: UserEngine, comparison: Comparison) -> list[RunFinished]:
    return [engine.run(run_id).result() for run_id in comparison.run_ids]


def started(engine: UserEngine, run_id: str) -> RunStarted:
    return engine.events(run_id)[0]


def test_each_column_is_a_run_of_the_same_question_with_settings_of_its_own(engine, chat):
    style = Style(length="short", tone="polite", temperature=0.7)
    comparison = compare(engine, [*TWO, RunOptions(pipeline="naive", style=style)])
    assert [each.status for each in results(engine, comparison)] == ["finished"] * 3
    first, second, third = (started(engine, run_id) for run_id in comparison.run_ids)
    assert {each.question for each in (first, second, third)} == {QUESTION}
    assert (first.pipeline, first.retrieval, first.style) == ("naive", None, Style())
    assert (second.pipeline, second.retrieval) == ("hybrid", Retrieval(mode="keyword", k=2))
    assert third.style == style
    assert {each.origin for each in (first, second, third)} == {Origin(kind="comparison")}


def test_four_columns_are_at_work_at_once_and_take_no_more_of_a_persons_turns_than_four_questions(engine, chat):
    gate = Gate()
    chat.default = Held(gate, "2,500円です[1]。")
    comparison = compare(engine, [RunOptions(pipeline="naive")] * MOST_COLUMNS)
    gate.wait_for(MOST_COLUMNS)
    others = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    gate.wait_for(MOST_COLUMNS + 1)
    gate.open()
    assert [each.status for each in results(engine, comparison)] == ["finished"] * MOST_COLUMNS
    assert others.result().status == "finished"


def test_where_the_model_serves_one_run_at_a_time_they_take_turns_and_know_their_place(open_engine, chat):
    gate = Gate()
    chat.default = Held(gate, "2,500円です[1]。")
    engine = open_engine(chat, runs_at_once=1)
    comparison = compare(engine, [*TWO, RunOptions(pipeline="multivector")])
    runs = [engine.run(run_id) for run_id in comparison.run_ids]
    assert eventually(lambda: [run.before for run in runs] == [0, 1, 2])
    runs[1].stop()
    assert eventually(lambda: runs[2].before == 1)
    gate.open()
    assert [run.result().status for run in runs] == ["finished", "stopped", "finished"]


def test_none_is_a_follow_up_to_another(engine, chat):
    comparison = compare(engine)
    results(engine, comparison)
    again = engine.comparisons.begin_again(comparison.id, comparison.run_ids[0])
    again.result()
    assert again.events[0].style == started(engine, comparison.run_ids[0]).style
    details = [each.detail for each in of(StepFinished, again.events)]
    assert not [each for each in details if isinstance(each, StandaloneDetail)]


def test_its_conversation_is_not_among_those_of_the_chat(engine, chat):
    comparison = compare(engine)
    results(engine, comparison)
    assert engine.history.conversations.listed() == []
    assert engine.history.conversations.count() == engine.history.conversations.count("日当") == 0
    assert [each.id for each in engine.history.runs(comparison.id)] == list(comparison.run_ids)


def test_it_is_found_by_its_id_among_the_latest_and_by_its_runs(engine, chat):
    first, second = compare(engine), compare(engine, question="宿泊費の上限は?")
    assert engine.comparisons.get(first.id) == first
    assert engine.comparisons.get("nothing") is None
    assert engine.comparisons.latest(5) == [second, first]
    assert engine.comparisons.latest(1) == [second]
    assert engine.comparisons.of_runs(second.run_ids) == second
    assert engine.comparisons.of_runs(second.run_ids[::-1]) is None


@pytest.mark.parametrize(
    ("question", "columns", "error"),
    [
        (" ", TWO, EmptyQuestion),
        ("あ" * 4001, TWO, QuestionTooLong),
        (QUESTION, TWO[:1], BadColumnCount),
        (QUESTION, [*TWO, *TWO, *TWO], BadColumnCount),
        (QUESTION, [TWO[0], RunOptions(pipeline="psychic")], UnknownPipeline),
        (QUESTION, [TWO[0], RunOptions(pipeline="naive", retrieval=Retrieval(mode="smell"))], UnknownMode),
        (QUESTION, [TWO[0], RunOptions(pipeline="naive", model="unheard-of")], ModelNotOffered),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_begun(engine, chat, question, columns, error):
    with pytest.raises(error):
        compare(engine, columns, question)
    assert engine.history.runs() == []
    assert engine.comparisons.latest(1) == []


def test_an_answer_of_the_chat_stands_first_and_is_not_asked_again(engine, chat):
    asked = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    asked.result()
    prompts = len(chat.prompts)
    comparison = compare(engine, TWO[:1], beside=asked.id)
    results(engine, comparison)
    assert comparison.run_ids[0] == asked.id
    assert len(chat.prompts) == prompts + 1
    with pytest.raises(UnknownRun):
        compare(engine, TWO[1:], beside="nothing")


def test_a_run_that_is_deleted_while_others_are_begun_beside_it_is_unknown_and_no_run_is_left(engine, monkeypatch):
    stored_run = History.stored_run

    def stored_run_before_it_is_deleted(history: History, run_id: str) -> PastRun:
        run = stored_run(history, run_id)
        history.conversations.delete(run.conversation_id)
        return run

    monkeypatch.setattr(History, "stored_run", stored_run_before_it_is_deleted)
    for begin in (
        lambda asked: compare(engine, TWO, beside=asked.id),
        lambda asked: engine.comparisons.keep([asked.id, asked.id]),
    ):
        asked = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
        asked.result()
        with pytest.raises(UnknownRun):
            begin(asked)
        assert engine.comparisons.latest(1) == []
        assert engine.runs_in_flight == 0


def test_a_run_that_is_deleted_with_its_conversation_leaves_its_place_empty(engine, chat):
    asked = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    asked.result()
    comparison = compare(engine, TWO, beside=asked.id)
    results(engine, comparison)
    engine.comparisons.vote(comparison.id, asked.id)
    engine.delete_conversation(asked.conversation_id)
    left = engine.comparisons.get(comparison.id)
    assert left.run_ids == (None, *comparison.run_ids[1:])
    assert left.best is None


def test_a_deleted_comparison_takes_its_own_runs_along_and_no_answer_of_the_chat(engine, chat):
    asked = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    asked.result()
    comparison = compare(engine, TWO, beside=asked.id)
    engine.delete_conversation(comparison.id)
    assert engine.comparisons.latest(1) == []
    assert [each.id for each in engine.history.runs()] == [asked.id]


def test_the_vote_is_kept_can_be_changed_and_taken_back(engine, chat):
    comparison = compare(engine)
    first, second = comparison.run_ids

    def best() -> str | None:
        return engine.comparisons.get(comparison.id).best

    assert best() is None
    engine.comparisons.vote(comparison.id, first)
    assert best() == first
    engine.comparisons.vote(comparison.id, second)
    assert best() == second
    assert engine.comparisons.votes([first, second, "nothing"]) == {second: 1}
    engine.comparisons.vote(comparison.id, "of another one")
    assert best() == second
    engine.comparisons.vote(comparison.id, None)
    assert best() is None


def test_stored_runs_become_a_comparison_when_there_is_something_to_keep_of_it(engine, chat):
    runs = [engine.ask(question, index=INDEX, pipeline_name="naive") for question in (QUESTION, "宿泊費の上限は?")]
    ids = [run.id for run in runs]
    assert engine.comparisons.of_runs(ids) is None
    kept = engine.comparisons.keep(ids)
    assert (kept.question, kept.index, kept.run_ids) == (QUESTION, INDEX, tuple(ids))
    assert engine.comparisons.of_runs(ids) == kept
    with pytest.raises(UnknownRun):
        engine.comparisons.keep([ids[0], "nothing"])
    with pytest.raises(BadColumnCount):
        engine.comparisons.keep(ids * 3)


def test_a_column_that_a_restart_ended_is_kept_as_failed_and_asked_again_once_by_two_tabs(store, data_dir, chat):
    settings = Settings(data_dir=data_dir, web_search="off")
    gate = Gate()
    chat.enqueue("2,500円です[1]。")
    with local_engine(settings, store=store, source=ScriptedSource(chat)) as engine:
        comparison = compare(engine)
        # As after a process died: the second run has begun and has no end.
        results(engine, comparison)
        with process_of(engine).history.database.begin() as connection:
            last = comparison.run_ids[1]
            connection.exec_driver_sql("delete from events where run_id = ? and position > 0", (last,))
            connection.exec_driver_sql("update runs set status = 'running' where id = ?", (last,))

    chat.default = Held(gate, "2,500円です[1]。")
    with local_engine(settings, store=store, source=ScriptedSource(chat)) as engine:
        kept = engine.comparisons.get(comparison.id)
        assert kept.run_ids == comparison.run_ids
        finished = [engine.events(run_id)[-1] for run_id in kept.run_ids]
        assert [each.status for each in finished] == ["finished", "failed"]
        assert finished[1].error.code == "interrupted"

        engine.comparisons.vote(kept.id, last)
        again = engine.comparisons.begin_again(kept.id, last)
        assert engine.comparisons.begin_again(kept.id, last) is None
        gate.open()
        assert again.result().status == "finished"
        renewed = engine.comparisons.get(kept.id)
        assert renewed.run_ids == (kept.run_ids[0], again.id)
        assert renewed.best is None
        first, second = started(engine, last), started(engine, again.id)
        assert second.model_copy(update={"run_id": first.run_id, "at": first.at}) == first


def test_a_column_is_asked_again_with_its_own_question_and_not_with_that_of_the_first(engine, chat):
    other = "宿泊費の上限は?"
    runs = [engine.ask(question, index=INDEX, pipeline_name="naive") for question in (QUESTION, other)]
    kept = engine.comparisons.keep([run.id for run in runs if run.result()])
    again = engine.comparisons.begin_again(kept.id, runs[1].id)
    assert (again.events[0].question, again.result().status) == (other, "finished")


def test_runs_that_are_kept_have_the_standalone_question_of_a_follow_up(engine, chat):
    first = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    first.result()
    chat.answer_when(JA.standalone, answer="出張の宿泊費の上限はいくらですか?")
    follow_up = engine.ask("宿泊費は?", index=INDEX, pipeline_name="naive", conversation_id=first.conversation_id)
    follow_up.result()
    kept = engine.comparisons.keep([follow_up.id, first.id])
    assert kept.question == "出張の宿泊費の上限はいくらですか?"
    again = engine.comparisons.begin_again(kept.id, follow_up.id)
    assert again.events[0].question == "出張の宿泊費の上限はいくらですか?"


def test_a_fork_is_not_asked_again_because_its_change_would_be_lost(engine, chat):
    origin = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    origin.result()
    fork = engine.forks.begin(origin.id, "retrieve", 1, [EditQuery(query="宿泊費")])
    fork.result()
    kept = engine.comparisons.keep([origin.id, fork.id])
    assert engine.comparisons.begin_again(kept.id, fork.id) is None
    assert engine.comparisons.get(kept.id) == kept


def test_events_are_those_of_a_run_in_flight_or_the_stored_ones(engine, chat):
    gate = Gate()
    chat.default = Held(gate, "2,500円です[1]。", shown="2,5")
    comparison = compare(engine)
    run_id = comparison.run_ids[0]
    gate.wait_for(2)
    assert eventually(lambda: of(Token, engine.events(run_id)))
    gate.open()
    results(engine, comparison)
    assert isinstance(engine.events(run_id)[-1], RunFinished)
    assert engine.events("nothing") == []


def test_an_index_that_is_deleted_under_it_ends_its_columns_in_words(open_engine, chat):
    gate = Gate()
    chat.default = Held(gate, "2,500円です[1]。")
    engine = open_engine(chat, runs_at_once=1)
    comparison = compare(engine)
    gate.wait_for(1)
    engine.store.delete_index(INDEX)
    gate.open()
    first, second = results(engine, comparison)
    assert first.status == "finished"
    assert second.error.code == "index_gone"
    with pytest.raises(IndexGone):
        engine.comparisons.begin_again(comparison.id, comparison.run_ids[1])
    assert engine.comparisons.get(comparison.id).run_ids == comparison.run_ids


def test_a_column_is_asked_again_of_its_index_by_the_present_name_of_that(engine, chat):
    comparison = compare(engine)
    results(engine, comparison)
    engine.store.rename_index(INDEX, "renamed")
    engine.store.create_index(INDEX)
    again = engine.comparisons.begin_again(comparison.id, comparison.run_ids[1])
    assert again.result().status == "finished"
    assert started(engine, again.id).index == "renamed"


def test_a_column_may_have_another_model_of_the_service(open_engine, server):
    engine = open_engine(server=server, compare_models="test-chat, other-chat")
    assert engine.model_names == ("test-chat", "other-chat")
    comparison = compare(engine, [RunOptions(pipeline="naive"), RunOptions(pipeline="naive", model="other-chat")])
    assert [each.status for each in results(engine, comparison)] == ["finished"] * 2
    assert [started(engine, run_id).model for run_id in comparison.run_ids] == ["test-chat", "other-chat"]
    assert sorted(request.body["model"] for request in server.chats) == ["other-chat", "test-chat"]
    again = engine.comparisons.begin_again(comparison.id, comparison.run_ids[1])
    again.result()
    assert server.chats[-1].body["model"] == "other-chat"


def test_beside_the_embedded_model_no_other_is_offered(data_dir, store):
    settings = Settings(data_dir=data_dir, compare_models="other-chat")
    with local_engine(settings, store=store, source=ScriptedSource(ScriptedChat())) as engine:
        assert engine.model_names == ("scripted",)
    with pytest.raises(InvalidSetting):
        Settings(compare_models="other-chat,embedded")


@pytest.mark.soak
@pytest.mark.embedded
def test_the_embedded_model_answers_one_column_after_the_other(embedded_engine):
    comparison = compare(embedded_engine)
    first, second = (embedded_engine.run(run_id) for run_id in comparison.run_ids)
    assert eventually(lambda: second.before == 1)
    begun_beside_it = [len(second.events) - 1 for event in first.stream() if isinstance(event, Token)]
    assert sum(begun_beside_it) == 0
    ends = [first.result(), second.result()]
    assert [each.status for each in ends] == ["finished"] * 2
    assert all("2,500" in each.answer for each in ends)
    passages = compare_passages([first.events, second.events])
    assert any(each.is_everywhere and all(found.is_cited for found in each.found) for each in passages)
