"""Suggested follow-ups: they come after the answer, which does not wait for them."""

import json
import threading

import pytest

from rag.models.chat_model import LONGEST_FOLLOW_UP, MOST_FOLLOW_UPS, ChatModel
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.models.service.no_answer import TOKEN
from rag.runs.engine import UserEngine
from rag.runs.run.run import Run
from tests.helpers.back_doors import process_of
from tests.helpers.waiting import PATIENCE, eventually
from tests.rag.documents import ANSWER, INDEX, QUESTION
from tests.rag.scripted import Gate, Held, ScriptedSource

SUGGESTED = ("宿泊しないときは?", "海外では?")


def reply(*questions: object) -> str:
    return json.dumps({"questions": questions})


@pytest.fixture
def suggesting(open_engine, chat) -> UserEngine:
    """An engine with a service model, which suggests two questions."""
    chat.default = ANSWER
    chat.answer_when(JA.follow_ups, answer=reply(*SUGGESTED))
    return open_engine(chat, suggest_follow_ups="service")


def ask(engine: UserEngine, question: str = QUESTION, **options: object) -> Run:
    options = {"suggests": True} | options
    run = engine.ask(question, index=INDEX, pipeline_name="naive", **options)
    run.result()
    return run


def suggested(engine: UserEngine, run: Run) -> tuple[str, ...]:
    assert eventually(lambda: not engine.suggestions.are_coming(run.id))
    return engine.suggestions.after(run.id)


def was_asked(chat) -> bool:
    return any(words.follow_ups in prompt for words in (JA, EN) for prompt in chat.prompts)


def test_questions_are_suggested_from_what_the_answer_cites(suggesting, chat):
    run = ask(suggesting)
    assert suggested(suggesting, run) == SUGGESTED
    assert QUESTION in chat.prompts[-1]
    assert ANSWER in chat.prompts[-1]
    assert run.result().citations[0].text in chat.prompts[-1]


def test_the_answer_is_there_before_and_its_totals_know_nothing_of_them(open_engine, chat):
    gate = Gate()
    chat.default = ANSWER
    chat.answer_when(JA.follow_ups, answer=Held(gate, reply(*SUGGESTED)))
    engine = open_engine(chat, suggest_follow_ups="service")
    run = ask(engine)
    gate.wait_for(1)
    assert run.is_finished
    assert engine.suggestions.are_coming(run.id)
    assert run.result().totals.model_calls == 1
    gate.open()
    assert suggested(engine, run) == SUGGESTED
    assert engine.history.events(run.id)[-1] == run.result()


def test_the_tokens_of_the_answer_are_saved_with_its_end_and_those_of_the_suggestions_later(open_engine, chat):
    gate = Gate()
    chat.default = ANSWER
    chat.answer_when(JA.follow_ups, answer=Held(gate, reply(*SUGGESTED)))
    engine = open_engine(chat, suggest_follow_ups="service")
    tokens = ask(engine).result().totals.tokens
    assert (engine.usage.of().runs, engine.usage.of().tokens) == (1, tokens)
    gate.wait_for(1)
    gate.open()
    assert eventually(lambda: engine.usage.of().tokens > tokens)
    assert engine.usage.of().runs == 1


def test_a_follow_up_is_named_in_full_to_who_suggests(suggesting, chat):
    first = ask(suggesting)
    whole = "海外出張の日当はいくらですか?"
    chat.answer_when("<turn>", answer=whole)
    ask(suggesting, "海外では?", conversation_id=first.conversation_id)
    assert eventually(lambda: JA.follow_ups in chat.prompts[-1] and whole in chat.prompts[-1])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (reply("いつ?", "誰が?", "どこで?", "なぜ?"), ("いつ?", "誰が?", "どこで?")),
        pytest.param(reply("いつ?", "いつ?", QUESTION, "", " ", 7, None), ("いつ?",), marks=pytest.mark.soak),
        (reply("い" * (LONGEST_FOLLOW_UP + 1), "誰が\n払う?", "いくら[1]?"), ("誰が 払う?", "いくら?")),
        pytest.param(reply(), (), marks=pytest.mark.soak),
        ("- いつですか？\n- 誰がですか？\nほかにもあります。", ("いつですか？", "誰がですか？")),
        ("I would rather talk about the weather.", ()),
        pytest.param("{", (), marks=pytest.mark.soak),
        (reply("出張の日当は、いくらですか？", "誰が払う?", "誰が払う？"), ("誰が払う?",)),
        pytest.param(reply("Who pays?", "海外では?"), ("海外では?",), marks=pytest.mark.soak),
    ],
)
def test_what_is_no_short_new_question_is_not_suggested(suggesting, chat, said, kept):
    chat.answer_when(JA.follow_ups, answer=said)
    run = ask(suggesting)
    assert suggested(suggesting, run) == kept
    assert len(kept) <= MOST_FOLLOW_UPS


def test_a_question_is_suggested_without_its_number_quotation_marks_and_stars(suggesting, chat):
    chat.answer_when(JA.follow_ups, answer=reply("1. 宿泊費の上限は?", "「海外では?」", "- **誰が払う?**"))
    assert suggested(suggesting, ask(suggesting)) == ("宿泊費の上限は?", "海外では?", "誰が払う?")


def test_what_was_asked_earlier_in_the_conversation_is_not_suggested(suggesting, chat):
    first = ask(suggesting)
    second = ask(suggesting, "宿泊費の上限はいくらですか?", conversation_id=first.conversation_id)
    repeated = ("出張の日当は、いくらですか？", "宿泊費の上限はいくらですか")
    chat.answer_when(JA.follow_ups, answer=reply(*repeated, "海外では?"))
    third = ask(suggesting, "グリーン車には誰の承認が必要ですか?", conversation_id=second.conversation_id)
    assert suggested(suggesting, third) == ("海外では?",)


def test_a_model_that_has_none_to_suggest_is_no_fault(suggesting):
    run = ask(suggesting, suggests=False)
    process_of(suggesting).suggestions.save(run.id, ())
    assert suggested(suggesting, run) == ()


@pytest.mark.parametrize(
    "error",
    [RuntimeError("boom"), pytest.param("", marks=pytest.mark.soak), Held(Gate(), "")],
    ids=["fault", "empty", "hangs"],
)
def test_what_goes_wrong_is_told_nobody(suggesting, chat, monkeypatch, error):
    monkeypatch.setattr("rag.runs.in_flight.suggestions.SUGGESTING_LIMIT", 0.2)
    chat.answer_when(JA.follow_ups, answer=error)
    run = ask(suggesting)
    assert suggested(suggesting, run) == ()
    assert run.result().status == "finished"
    assert run.result().error is None


def test_none_are_asked_for_unless_who_asks_wants_them(suggesting, chat):
    run = ask(suggesting, suggests=False)
    assert suggested(suggesting, run) == ()
    assert not was_asked(chat)


@pytest.mark.parametrize(
    ("setting", "suggests", "wanted"),
    [
        ("service", True, True),
        pytest.param("service", False, False, marks=pytest.mark.soak),
        ("always", False, True),
        ("off", True, False),
    ],
)
def test_the_setting_says_which_model_suggests(open_engine, chat, monkeypatch, setting, suggests, wanted):
    """`suggests`: the default of the kind of model; service models suggest, the embedded model does not."""
    monkeypatch.setattr(ScriptedSource, "suggests", suggests)
    chat.default = ANSWER
    chat.answer_when(JA.follow_ups, answer=reply(*SUGGESTED))
    engine = open_engine(chat, suggest_follow_ups=setting)
    run = ask(engine)
    assert suggested(engine, run) == (SUGGESTED if wanted else ())
    assert was_asked(chat) == wanted


def test_while_the_model_is_opened_to_suggest_them_other_runs_go_on(open_engine, chat, monkeypatch):
    opened, opens, is_opening, is_other_done = ScriptedSource.open, [], threading.Event(), threading.Event()
    in_time = []

    def open_for(source: ScriptedSource) -> ChatModel:
        opens.append(source)
        if len(opens) == 3:  # the first two are for the runs
            is_opening.set()
            in_time.append(is_other_done.wait(3))
        return opened(source)

    monkeypatch.setattr(ScriptedSource, "open", open_for)
    gate, other_question = Gate(), "宿泊費はいくらですか?"
    chat.default = ANSWER
    chat.answer_when(JA.follow_ups, answer=reply(*SUGGESTED))
    chat.answer_when(other_question, answer=Held(gate, ANSWER))
    engine = open_engine(chat, suggest_follow_ups="service", runs_at_once=3)
    other = engine.ask(other_question, index=INDEX, pipeline_name="naive")
    gate.wait_for(1)
    first = engine.ask(QUESTION, index=INDEX, pipeline_name="naive", suggests=True)
    assert is_opening.wait(PATIENCE)
    gate.open()
    assert other.result().status == "finished"
    is_other_done.set()
    assert suggested(engine, first) == SUGGESTED
    assert in_time == [True]


def test_a_model_that_suggests_none_is_not_opened_for_them(open_engine, chat, monkeypatch):
    monkeypatch.setattr(ScriptedSource, "suggests", False)
    opened, opens = ScriptedSource.open, []
    monkeypatch.setattr(ScriptedSource, "open", lambda source: opens.append(source) or opened(source))
    chat.default = ANSWER
    engine = open_engine(chat, suggest_follow_ups="service")
    assert suggested(engine, ask(engine)) == ()
    assert len(opens) == 1


def test_an_answer_without_sources_has_none(suggesting, chat):
    chat.default = f"{TOKEN} その件は書かれていません。"
    assert suggested(suggesting, ask(suggesting)) == ()
    assert not was_asked(chat)


def test_a_run_that_was_stopped_has_none(suggesting, chat):
    gate = Gate()
    chat.answer_when(QUESTION, answer=Held(gate, ANSWER, shown=ANSWER[:8]))
    run = suggesting.ask(QUESTION, index=INDEX, pipeline_name="naive", suggests=True)
    gate.wait_for(1)
    run.stop()
    assert run.result().status == "stopped"
    assert suggested(suggesting, run) == ()
    assert not was_asked(chat)


def test_they_come_out_of_the_budget_of_their_run(open_engine, chat):
    chat.default = ANSWER
    engine = open_engine(chat, suggest_follow_ups="service", run_call_limit=1)
    run = ask(engine)
    assert suggested(engine, run) == ()
    assert run.result().status == "finished"
    assert not was_asked(chat)


def test_the_next_question_does_not_wait_for_them(open_engine, chat):
    gate = Gate()
    chat.default = ANSWER
    chat.answer_when(JA.follow_ups, answer=Held(gate, reply(*SUGGESTED)))
    engine = open_engine(chat, suggest_follow_ups="service", runs_at_once=1)
    first = ask(engine)
    gate.wait_for(1)
    second = ask(engine, "宿泊費はいくらですか?", conversation_id=first.conversation_id, suggests=False)
    assert second.result().status == "finished"
    assert suggested(engine, first) == ()


def test_a_deleted_conversation_and_the_end_of_the_app_drop_them(open_engine, chat):
    """The engine closes at the end of the test, while the second suggestions are held back."""
    gate = Gate()
    chat.default = ANSWER
    chat.answer_when(JA.follow_ups, answer=Held(gate, reply(*SUGGESTED)))
    engine = open_engine(chat, suggest_follow_ups="service")
    run = ask(engine)
    gate.wait_for(1)
    engine.delete_conversation(run.conversation_id)
    assert suggested(engine, run) == ()
    ask(engine)
    gate.wait_for(1)


def test_they_go_with_a_document_that_is_removed(suggesting):
    run = ask(suggesting)
    assert suggested(suggesting, run) == SUGGESTED
    [document_id] = {citation.document_id for citation in run.result().citations}
    process_of(suggesting).history.redaction.redact([document_id])
    assert suggesting.suggestions.after(run.id) == ()
    process_of(suggesting).suggestions.save(run.id, SUGGESTED)
    assert suggesting.suggestions.after(run.id) == ()
