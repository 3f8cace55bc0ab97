"""Calls of the chat model as a run stores them."""

import json

import pytest

from rag.runs.engine import UserEngine
from rag.runs.run.run import Run
from rag.trace.calls import Call
from rag.trace.events import StepFinished
from tests.helpers.back_doors import let_time_pass
from tests.rag.conftest import KEY
from tests.rag.documents import ANSWER, INDEX, QUESTION
from tests.rag.scripted import Gate, Held
from tests.rag.some_pipelines import some_of
from tests.rag.verdicts import YES, approve
from tests.servers import Answer, Fault, Refusal


def calls(engine: UserEngine, run: Run) -> dict[str, tuple[Call, ...]]:
    """The stored calls, by step."""
    run.result()
    ended = [each for each in engine.history.events(run.id) if isinstance(each, StepFinished)]
    kept = {each.step: engine.history.calls.of_step(run.id, each.step, each.attempt) for each in ended}
    assert {step: len(found) for step, found in kept.items() if found} == {
        each.step: each.model_calls for each in ended if each.model_calls
    }
    return {step: found for step, found in kept.items() if found}


@pytest.fixture
def ask(open_engine, server):
    """Asks a question, which the service answers. Returns the calls by step."""
    server.default = lambda request: YES if "JSON" in request.prompt else ANSWER

    def ask(pipeline: str = "naive", **settings):
        engine = open_engine(server=server, **settings)
        return calls(engine, engine.ask(QUESTION, index=INDEX, pipeline_name=pipeline))

    return ask


def test_messages_and_settings_are_kept_as_the_service_got_them(ask, server):
    [call] = ask()["generate"]
    [request] = server.chats
    assert [{"role": each.role, "content": each.text} for each in call.messages] == request.messages
    assert (call.model, call.temperature) == (request.body["model"], request.body["temperature"])
    assert call.max_tokens == request.body["max_completion_tokens"]
    assert (call.task, call.reply.text, call.status, call.reply_format) == ("answer", ANSWER, "finished", None)
    assert call.tokens_in > call.tokens_out > 0
    assert call.milliseconds > 0
    assert call.retries == 0


def test_the_grades_of_one_step_are_kept_each_with_the_passage_that_it_is_about(ask, server):
    grades = ask("self_rag")["grade_documents"]
    assert len(grades) > 1
    assert [call.number for call in grades] == list(range(1, len(grades) + 1))
    assert len({call.of for call in grades}) == len(grades)
    assert any(call.of == "[1] 出張旅費規程 > 第3条 日当" for call in grades)
    assert {(call.task, call.reply.text, call.reply_format) for call in grades} == {("relevance", YES, "json_schema")}


def test_each_way_in_which_a_grade_was_asked_for_is_a_call_of_its_own(ask, server):
    server.refuses = {"response_format"}
    server.answer_when(
        lambda request: request.forced_function, Answer(tool_calls=(("grade", json.loads(YES)),)), times=1
    )
    tried = ask("self_rag")["check_usefulness"]
    assert {call.reply_format for call in tried} <= {"json_schema", "function_call"}
    assert json.loads(tried[-1].reply.text)["verdict"] == "yes"


def test_retries_are_counted(ask, server):
    server.fails(Refusal(429), times=2)
    [call] = ask(model_retries=2)["generate"]
    assert (call.retries, call.status) == (2, "finished")


def test_a_retry_is_counted_for_the_grade_that_it_was_made_for_alone(ask, server):
    server.fails(Refusal(503), times=1)
    steps = ask("self_rag", model_retries=1)
    assert sorted(call.retries for call in steps["grade_documents"])[-2:] == [0, 1]
    assert sum(call.retries for found in steps.values() for call in found) == 1


def test_a_call_that_failed_is_kept_with_its_messages_and_what_failed(ask, server):
    server.fails(Refusal(500))
    [call] = ask()["generate"]
    assert (call.status, call.error.code, call.reply.text) == ("failed", "service_failed", "")
    assert any(QUESTION in each.text for each in call.messages)


def test_an_answer_whose_connection_broke_is_kept_beside_the_one_that_came_whole(ask, server):
    server.enqueue(Fault.CLOSES_MIDWAY)
    broken, whole = ask(model_retries=1)["generate"]
    assert (broken.status, broken.error.code, whole.status) == ("failed", "reply_broken_off", "finished")
    assert len(broken.reply.text) > 0
    assert whole.reply.text == ANSWER


def test_a_call_that_was_stopped_is_kept_with_what_had_come(open_engine, chat):
    gate = Gate()
    chat.enqueue(Held(gate, "日当は2,500円です[1]。", shown="日当は2,5"))
    engine = open_engine(chat)
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    gate.wait_for(1)
    run.stop()
    [call] = calls(engine, run)["generate"]
    assert (call.status, call.reply.text, call.error) == ("stopped", "日当は2,5", None)


def test_a_call_that_outlasts_the_runs_time_is_kept(open_engine, chat):
    gate = Gate()
    chat.enqueue(Held(gate, "日当"))
    engine = open_engine(chat, run_time_limit=200)
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    gate.wait_for(1)
    let_time_pass(engine, 200)
    [call] = calls(engine, run)["generate"]
    assert call.status == "stopped"


@pytest.mark.parametrize(
    "pipeline",
    some_of(("naive", "self_rag", "self_rag_candidates", "adaptive", "corrective", "hybrid"), now=("adaptive",)),
)
def test_every_call_of_a_run_is_kept_with_what_it_was_for(open_engine, chat, pipeline):
    approve(chat)
    chat.default = ANSWER
    engine = open_engine(chat, draft_ahead=True)
    kept = calls(engine, engine.ask(QUESTION, index=INDEX, pipeline_name=pipeline))
    assert kept
    for step, found in kept.items():
        assert {call.task for call in found} & {"", "other"} == set(), step
        assert all(call.messages for call in found)


def test_a_follow_up_keeps_how_it_was_made_standalone(open_engine, chat):
    chat.default = ANSWER
    engine = open_engine(chat)
    first = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    first.result()
    chat.enqueue("日当はいつから払われますか?")
    run = engine.ask("それはいつから?", index=INDEX, pipeline_name="naive", conversation_id=first.conversation_id)
    [call] = calls(engine, run)["standalone_question"]
    assert (call.task, call.reply.text) == ("standalone", "日当はいつから払われますか?")


def test_the_key_is_not_kept(ask, server, data_dir):
    kept = [call.model_dump_json() for step in ask("self_rag").values() for call in step]
    assert kept
    assert [each for each in kept if KEY in each or "Bearer" in each] == []


def test_who_wants_none_kept_has_none(open_engine, chat):
    engine = open_engine(chat, keep_prompts=False)
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    run.result()
    assert engine.history.calls.of_step(run.id, "generate", 1) == ()


def test_they_go_with_their_conversation(open_engine, chat):
    engine = open_engine(chat)
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    assert calls(engine, run)
    engine.delete_conversation(run.conversation_id)
    assert engine.history.calls.of_step(run.id, "generate", 1) == ()
