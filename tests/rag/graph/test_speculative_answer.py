"""Speculative answers: Self-RAG begins its answer while the passages are still graded."""

import threading

import pytest

from index_store.base.errors import KeyRefused, ServiceBusy
from rag.models.service.ja import JA
from rag.models.service.source import ServiceSource
from rag.settings import Settings
from rag.trace.events import StepFinished, StepStarted, Token
from tests.helpers.back_doors import let_time_pass
from tests.helpers.waiting import PATIENCE, eventually
from tests.rag.documents import ALLOWANCE, ANSWER, INDEX, QUESTION
from tests.rag.reading import decisions, finished, of, started_steps, tokens
from tests.rag.scripted import Gate, Held
from tests.rag.verdicts import NO, YES, approve
from tests.servers import Answer, Fault
from tests.servers.chat import ChatRequest

DRAFT = "下書きでは2,500円です[1]。"
REWRITE = "病気で休むときに必要な書類は何ですか"


@pytest.fixture
def engine(open_engine, chat):
    approve(chat)
    return open_engine(chat, draft_ahead=True)


@pytest.fixture
def ask(engine):
    return lambda: engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag")


def steps_all_end(events) -> bool:
    started = {(each.step, each.attempt) for each in of(StepStarted, events)}
    return started == {(each.step, each.attempt) for each in of(StepFinished, events)}


def test_a_speculative_answer_is_shown_before_the_first_grade_is_there(ask, chat):
    gate = Gate()
    chat.answer_when(JA.relevance, answer=Held(gate, YES))
    chat.enqueue(DRAFT)
    run = ask()
    gate.wait_for(4)
    assert eventually(lambda: tokens(run.events) == DRAFT)
    assert not finished(run.events, "grade_documents")
    gate.open()
    assert run.result().outcome == "confirmed"


def test_a_speculative_answer_from_passages_that_all_stay_is_the_answer_and_costs_no_other_call(ask, chat):
    chat.enqueue(DRAFT)
    run = ask()
    result = run.result()
    assert set(started_steps(run.events)[1:3]) == {"grade_documents", "draft_answer"}
    assert started_steps(run.events)[3] == "generate"
    assert decisions(run.events) == [("generate", "relevant_found"), ("__end__", "confirmed")]
    assert (result.answer, result.outcome, result.totals.generations) == (DRAFT, "confirmed", 1)
    assert [citation.number for citation in result.citations] == [1]
    assert result.totals.model_calls == len(chat.prompts) == 7
    [drafted], [generated] = finished(run.events, "draft_answer"), finished(run.events, "generate")
    assert (drafted.detail.kept, drafted.detail.text, drafted.model_calls) == (True, DRAFT, 1)
    assert (generated.detail.drafted, generated.detail.text, generated.model_calls) == (True, DRAFT, 0)
    assert {event.step for event in of(Token, run.events)} == {"draft_answer"}


def test_a_speculative_answer_that_says_no_is_kept_as_such(open_engine, chat):
    approve(chat)
    chat.enqueue("NOT_IN_PASSAGES 日当の額は書かれていません。")
    engine = open_engine(chat, draft_ahead=True, max_rewrites=0)
    result = engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    assert result.outcome == "not_in_documents"
    assert result.answer.startswith("日当の額は書かれていません。")
    assert INDEX in result.answer


def test_at_the_first_passage_that_goes_the_speculative_answer_is_no_longer_written(ask, chat):
    grades, draft = Gate(), Gate()
    chat.answer_when(JA.relevance, answer=Held(grades, YES))
    chat.answer_when(JA.relevance, "グリーン車", answer=NO)
    chat.enqueue(Held(draft, DRAFT, shown="下書き"), ANSWER)
    run = ask()
    grades.wait_for(3)
    assert eventually(lambda: draft.waiting == 0 and finished(run.events, "draft_answer"))
    assert of(Token, run.events)[-1].restart
    assert not finished(run.events, "grade_documents")
    grades.open()
    result = run.result()
    assert (result.answer, result.outcome, result.totals.generations) == (ANSWER, "confirmed", 1)
    [drafted], [generated] = finished(run.events, "draft_answer"), finished(run.events, "generate")
    assert (drafted.detail.kept, drafted.verdict, drafted.error) == (False, "no", None)
    assert (generated.detail.drafted, generated.model_calls) == (False, 1)
    assert chat.prompts_with(JA.answer)[1].count("<passage number=") == 3


def test_a_speculative_answer_that_is_whole_is_void_all_the_same_when_a_passage_goes(ask, chat):
    grades = Gate()
    chat.answer_when(JA.relevance, answer=Held(grades, NO))
    chat.answer_when(JA.rewrite, answer="")
    chat.enqueue(DRAFT)
    run = ask()
    assert eventually(lambda: tokens(run.events) == DRAFT)
    grades.open()
    result = run.result()
    assert result.outcome == "not_in_documents"
    assert DRAFT not in result.answer
    [drafted] = finished(run.events, "draft_answer")
    assert (drafted.detail.kept, drafted.detail.text) == (False, "")
    assert [event.restart for event in of(Token, run.events) if event.step == "draft_answer"][-1]


# Also in test_after_no_answer_and_a_rewrite_the_speculative_answer_is_used.
@pytest.mark.soak
def test_after_a_rewrite_an_answer_is_drafted_again(ask, chat):
    chat.answer_when(JA.usefulness, "下書き", answer=NO)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue(DRAFT, ANSWER)
    run = ask()
    result = run.result()
    assert [step.detail.kept for step in finished(run.events, "draft_answer")] == [True, True]
    assert (result.answer, result.outcome, result.totals.generations) == (ANSWER, "confirmed", 2)
    assert "日当" in chat.prompts_with(JA.answer)[1]


def test_an_answer_that_was_rejected_is_not_given_again_as_the_speculative_answer_that_it_was(ask, chat):
    chat.answer_when(JA.grounding, "下書き", answer=NO)
    chat.enqueue(DRAFT, ANSWER)
    run = ask()
    result = run.result()
    assert (result.answer, result.totals.generations) == (ANSWER, 2)
    assert [step.detail.drafted for step in finished(run.events, "generate")] == [True, False]


def test_after_no_answer_and_a_rewrite_the_speculative_answer_is_used(ask, chat):
    chat.answer_when(JA.grounding, "書かれていません", answer=NO)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue("NOT_IN_PASSAGES 金額は書かれていません。", DRAFT)
    run = ask()
    result = run.result()
    assert (result.answer, result.outcome, result.totals.generations) == (DRAFT, "confirmed", 2)
    assert [step.detail.kept for step in finished(run.events, "draft_answer")] == [True, True]
    assert [step.model_calls for step in finished(run.events, "generate")] == [0, 0]


def test_nothing_is_drafted_from_passages_of_which_one_is_known_to_be_irrelevant(ask, chat):
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer="出張したときの日当の金額")
    run = ask()
    run.result()
    assert started_steps(run.events).count("grade_documents") > 1
    assert started_steps(run.events).count("draft_answer") == 1


def test_a_speculative_answer_that_fails_is_written_as_an_answer_once_the_passages_are_graded(ask, chat):
    chat.answer_when(JA.answer, answer=ServiceBusy(host="h"), times=1)
    chat.enqueue(ANSWER)
    run = ask()
    result = run.result()
    assert (result.status, result.outcome, result.answer) == ("finished", "confirmed", ANSWER)
    [drafted] = finished(run.events, "draft_answer")
    assert (drafted.fallback.code, drafted.error, drafted.detail.kept) == ("service_busy", None, False)


def test_a_key_that_is_refused_to_the_speculative_answer_ends_the_run_and_the_grades(ask, chat):
    gate = Gate()
    chat.answer_when(JA.relevance, answer=Held(gate, YES))
    chat.answer_when(JA.answer, answer=KeyRefused(host="h", model="m"))
    run = ask()
    result = run.result()
    assert (result.status, result.error.code) == ("failed", "key_refused")
    assert eventually(lambda: gate.waiting == 0)
    assert steps_all_end(run.events)


@pytest.mark.parametrize(
    "error",
    [KeyRefused(host="h", model="m"), pytest.param(RuntimeError("it broke"), marks=pytest.mark.soak)],
    ids=["known", "ours"],
)
def test_grading_that_ends_the_run_ends_the_speculative_answer_too(ask, chat, error):
    gate = Gate()
    chat.answer_when(JA.relevance, answer=YES)
    chat.answer_when(JA.relevance, ALLOWANCE, answer=error)
    chat.answer_when(JA.answer, answer=Held(gate, DRAFT, shown="下書き"))
    run = ask()
    assert run.result().status == "failed"
    assert eventually(lambda: gate.waiting == 0)
    assert steps_all_end(run.events)


@pytest.mark.parametrize("draft_is_whole", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_stop_ends_grades_and_speculative_answer_at_once(ask, chat, draft_is_whole):
    grades, draft = Gate(), Gate()
    chat.answer_when(JA.relevance, answer=Held(grades, YES))
    chat.enqueue(DRAFT if draft_is_whole else Held(draft, DRAFT, shown="下書き"))
    run = ask()
    grades.wait_for(4)
    shown = DRAFT if draft_is_whole else "下書き"
    assert eventually(lambda: tokens(run.events) == shown)
    run.stop()
    result = run.result()
    assert (result.status, result.answer) == ("stopped", shown)
    assert (grades.waiting, draft.waiting) == (0, 0)
    assert {step: [each.verdict for each in finished(run.events, step)] for step in started_steps(run.events)[1:]} == {
        "grade_documents": ["stopped"],
        "draft_answer": ["stopped"],
    }


def test_the_time_of_a_run_ends_grades_and_speculative_answer(open_engine, chat):
    gate = Gate()
    chat.default = Held(gate, DRAFT)
    engine = open_engine(chat, draft_ahead=True, run_time_limit=200)
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    gate.wait_for(5)
    let_time_pass(engine, 200)
    assert run.result().status == "limited"
    assert gate.waiting == 0
    assert steps_all_end(run.events)


# Also in test_a_dropped_speculative_answer_closes_its_connection, and in tests/rag/test_commands.py for one connection.
@pytest.mark.soak
def test_a_stop_closes_the_connections_of_grades_and_speculative_answer(open_engine, server):
    server.default = YES
    engine = open_engine(server=server, draft_ahead=True)
    server.fails(Fault.HANGS)
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    server.wait_for_requests(5)
    run.stop()
    assert run.result().status == "stopped"
    assert all(request.disconnected.wait(PATIENCE) for request in server.chats)


def test_a_dropped_speculative_answer_closes_its_connection(open_engine, server):
    is_drafted = threading.Event()

    def write(request: ChatRequest) -> Answer | str:
        if is_drafted.is_set():
            return ANSWER
        is_drafted.set()
        return Answer(DRAFT * 50, until=threading.Event())

    def grade(request: ChatRequest) -> str:
        """No, when there is a draft that can be dropped."""
        is_drafted.wait(PATIENCE)
        return NO

    server.default = write
    server.answer_when(lambda request: "JSON" in request.prompt, YES)
    server.answer_when(lambda request: JA.relevance in request.prompt and "グリーン車" in request.prompt, grade)
    engine = open_engine(server=server, draft_ahead=True)
    result = engine.ask(QUESTION, index=INDEX, pipeline_name="self_rag").result()
    assert (result.answer, result.outcome) == (ANSWER, "confirmed")
    draft, _ = (request for request in server.chats if request.streams)
    assert draft.disconnected.wait(PATIENCE)


def test_speculative_answers_can_be_turned_off(tmp_path):
    settings = Settings(data_dir=tmp_path, openai_api_key="sk-test", _env_file=None)
    assert ServiceSource(settings).open().speculates
    assert not ServiceSource(settings.model_copy(update={"draft_ahead": False})).open().speculates
