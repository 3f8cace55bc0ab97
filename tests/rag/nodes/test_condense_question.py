"""Follow-ups become standalone questions, in a step before the graph of any pipeline."""

import pytest

from index_store.base.errors import KeyRefused, ServiceBusy
from index_store.search.searcher import LONGEST_QUESTION as LONGEST_SEARCHED
from rag.errors import EmptyReply
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.runs.history.history import LONGEST_SAID, MOST_TURNS
from rag.trace.details import RetrievalDetail
from rag.trace.events import StepFinished
from tests.rag.documents import ANSWER, INDEX
from tests.rag.reading import finished, of, started_steps
from tests.rag.scripted import Gate, Held
from tests.rag.some_pipelines import some_of
from tests.rag.verdicts import approve

FIRST = "出張の日当はいくらですか?"
FOLLOW_UP = "それは誰が承認しますか?"
WHOLE = "出張の日当は誰が承認しますか?"
STEP = "standalone_question"
MAIL = "お疲れ様です。\n" + "来月の大阪出張について、次のとおり予定しています。\n" * 15 + "ご確認ください。"


@pytest.fixture
def converse(engine, chat):
    """Asks one question after another in one conversation. Returns the last run, which may not be over yet."""

    def converse(*questions: str, pipeline: str = "naive", **options):
        run = None
        for question in questions:
            if run:
                run.result()
            conversation = run.conversation_id if run else None
            run = engine.ask(question, index=INDEX, pipeline_name=pipeline, conversation_id=conversation, **options)
        return run

    approve(chat)
    chat.default = ANSWER
    return converse


def detail(run):
    run.result()
    [step] = finished(run.events, STEP)
    return step.detail


@pytest.mark.parametrize("pipeline", some_of(now=("naive", "adaptive")))
def test_a_follow_up_stands_alone_before_any_pipeline_searches(converse, chat, pipeline):
    chat.answer_when(JA.standalone, answer=f"「{WHOLE}」\n")
    run = converse(FIRST, FOLLOW_UP, pipeline=pipeline)
    result = run.result()
    assert result.status == "finished"
    assert started_steps(run.events)[0] == STEP
    step = finished(run.events, STEP)[0]
    assert (step.detail.before, step.detail.after, step.detail.why) == (FOLLOW_UP, WHOLE, "rewritten")
    assert (step.verdict, step.model_calls, step.fallback) == ("yes", 1, None)
    searches = [each.detail for each in of(StepFinished, run.events) if isinstance(each.detail, RetrievalDetail)]
    assert searches[0].query == WHOLE
    assert f"質問: {WHOLE}" in chat.prompts_with(JA.answer)[-1]


def test_the_history_and_the_run_keep_what_was_asked(converse, engine, chat):
    chat.answer_when(JA.standalone, answer=WHOLE)
    run = converse(FIRST, FOLLOW_UP)
    run.result()
    assert run.events[0].question == FOLLOW_UP
    assert [each.question for each in engine.history.runs(run.conversation_id)] == [FIRST, FOLLOW_UP]


def test_the_first_question_of_a_conversation_has_no_such_step(converse, chat):
    run = converse(FOLLOW_UP)
    assert run.result().status == "finished"
    assert STEP not in started_steps(run.events)


def test_a_question_that_plainly_stands_alone_costs_no_call(converse, chat):
    run = converse(FIRST, "グリーン車の利用には誰の承認が必要ですか")
    assert (detail(run).why, detail(run).turns) == ("stands_alone", ())
    assert finished(run.events, STEP)[0].model_calls == 0
    assert not chat.prompts_with(JA.standalone)


def test_a_question_that_the_model_leaves_as_it_is_stands_alone(converse, chat):
    asked = "宿泊費は誰に申請しますか?"
    chat.answer_when(JA.standalone, answer=asked)
    run = converse(FIRST, asked)
    assert (detail(run).why, detail(run).after) == ("stands_alone", asked)


@pytest.mark.parametrize(
    ("asked", "written", "words"),
    [
        ("海外は?", "海外は?", JA),
        pytest.param("じゃあ、課長は?", "課長はどうですか?", JA, marks=pytest.mark.soak),
        pytest.param("どうすればいいですか?", "どうすればよいですか?", JA, marks=pytest.mark.soak),
        pytest.param("契約社員も対象ですか?", "契約社員も対象ですか?", JA, marks=pytest.mark.soak),
        pytest.param("日本語で答えて", "日本語で答えて", JA, marks=pytest.mark.soak),
        pytest.param("And abroad?", "And abroad?", EN, marks=pytest.mark.soak),
        ("Summarize your answer in one word.", "Warmness", EN),
    ],
)
def test_a_follow_up_that_the_model_made_no_clearer_is_searched_behind_the_question_before_it(
    converse, chat, asked, written, words
):
    chat.answer_when(words.standalone, answer=written)
    run = converse(FIRST, asked)
    assert (detail(run).why, detail(run).after) == ("joined", f"{FIRST} {asked}")
    assert detail(run).refused == (None if written == asked else written)
    assert finished(run.events, STEP)[0].verdict == "no"
    assert finished(run.events, "retrieve")[0].detail.query == f"{FIRST} {asked}"


@pytest.mark.parametrize("asked", [pytest.param("本当ですか?", marks=pytest.mark.soak), FOLLOW_UP])
def test_a_follow_up_of_which_the_model_makes_an_earlier_question_is_searched_behind_that_one(converse, chat, asked):
    repeated = FIRST.replace("?", "？")
    chat.answer_when(JA.standalone, answer=repeated)
    run = converse(FIRST, "グリーン車の利用には誰の承認が必要ですか", asked)
    assert (detail(run).why, detail(run).refused) == ("joined", repeated)
    assert finished(run.events, "retrieve")[0].detail.query == f"{repeated} {asked}"


def test_a_word_that_refers_back_in_a_question_with_more_words_does_no_harm(converse, chat):
    whole = "出張の日当は、宿泊費と同じ人が承認しますか?"
    chat.answer_when(JA.standalone, answer=whole)
    rewritten = detail(converse(FIRST, FOLLOW_UP))
    assert (rewritten.why, rewritten.after) == ("rewritten", whole)


def test_small_talk_is_not_joined_to_the_question_before_it(converse, chat):
    chat.answer_when(JA.standalone, answer="あなたは誰ですか?")
    assert detail(converse(FIRST, "あなたは誰ですか?")).after == "あなたは誰ですか?"


@pytest.mark.parametrize(
    "written",
    [
        "Who approves the daily allowance?",
        pytest.param("出差补贴由谁批准?请告诉我详细的规定", marks=pytest.mark.soak),
        "日当は部長が承認します。",
        pytest.param("長い質問です" * 60 + "か?", marks=pytest.mark.soak),
        pytest.param("「」", marks=pytest.mark.soak),
    ],
    ids=["english", "chinese", "an answer", "too long", "nothing"],
)
def test_what_is_no_usable_question_is_refused_and_the_question_kept(converse, chat, written):
    chat.answer_when(JA.standalone, answer=written)
    run = converse(FIRST, FOLLOW_UP)
    assert (detail(run).why, detail(run).after, detail(run).refused) == ("refused", FOLLOW_UP, written)
    assert finished(run.events, STEP)[0].verdict == "no"
    assert finished(run.events, "retrieve")[0].detail.query == FOLLOW_UP


@pytest.mark.parametrize(
    ("asked", "whole", "words"),
    [
        ("その承認者を知りたいです", "出張の日当の承認者を知りたいです。", JA),
        ("in Japanese please", "How much is the daily allowance? Answer in Japanese.", EN),
        *(
            pytest.param(*each, marks=pytest.mark.soak)
            for each in (
                ("それについて詳しくお願いします。", "出張の日当について詳しくお願いします。", JA),
                ("もっと詳しく", "出張の日当について詳しく知りたいです。", JA),
                ("Explain that in more detail.", "Explain the daily allowance in more detail.", EN),
                ("explain in more detail", "Explain the daily allowance in more detail.", EN),
                ("tell me more", "Tell me more about the daily allowance.", EN),
            )
        ),
    ],
)
def test_a_follow_up_that_is_a_request_is_made_to_stand_alone_as_one(converse, chat, asked, whole, words):
    chat.answer_when(words.standalone, answer=whole)
    run = converse(FIRST, asked)
    assert (detail(run).why, detail(run).after) == ("rewritten", whole)


@pytest.mark.parametrize(
    "asked", ["VPN?", *(pytest.param(name, marks=pytest.mark.soak) for name in ("Slack?", "iPhone 15?"))]
)
def test_a_follow_up_that_only_names_something_is_in_the_language_of_the_conversation(converse, chat, asked):
    whole = f"{asked.removesuffix('?')}の日当はいくらですか?"
    chat.answer_when(JA.standalone, answer=whole)
    run = converse(FIRST, asked)
    assert detail(run).after in (whole, asked)
    assert chat.prompts_with(JA.answer)[-1].endswith(f"質問: {detail(run).after}\n")
    assert not chat.prompts_with(EN.answer)


@pytest.mark.parametrize(
    "written",
    [
        # Each form by itself: tests/rag/text/reply/test_written_line.py.
        pytest.param(f"書き直した質問は以下の通りです：\n\n{WHOLE}", marks=pytest.mark.soak),
        pytest.param(f"**質問:**\n「{WHOLE}」", marks=pytest.mark.soak),
        f"質問: {WHOLE}\n\n「それ」は日当を指します。",
    ],
)
def test_what_a_model_writes_around_the_question_is_left_out(converse, chat, written):
    chat.answer_when(JA.standalone, answer=written)
    assert detail(converse(FIRST, FOLLOW_UP)).after == WHOLE


# Also in tests/rag/text/reply/test_written_line.py::test_where_there_is_no_line_there_is_none.
@pytest.mark.soak
def test_an_introduction_without_a_question_is_refused(converse, chat):
    chat.answer_when(JA.standalone, answer="書き直した質問は以下の通りです：")
    assert detail(converse(FIRST, FOLLOW_UP)).why == "refused"


@pytest.mark.parametrize("error", [ServiceBusy(host="h"), pytest.param(EmptyReply(model="m"), marks=pytest.mark.soak)])
def test_where_the_model_fails_the_question_is_kept_and_the_step_says_so(converse, chat, error):
    chat.answer_when(JA.standalone, answer=error)
    run = converse(FIRST, FOLLOW_UP)
    assert run.result().status == "finished"
    [step] = finished(run.events, STEP)
    assert (step.detail.why, step.detail.after) == ("failed", FOLLOW_UP)
    assert (step.fallback, step.error, step.verdict) == (error.as_failure(), None, "no")
    assert finished(run.events, "retrieve")[0].detail.query == FOLLOW_UP


def test_a_key_that_is_refused_ends_the_run_there(converse, chat):
    chat.answer_when(JA.standalone, answer=KeyRefused(host="h", model="m"))
    run = converse(FIRST, FOLLOW_UP)
    assert (run.result().status, run.result().error.code) == ("failed", "key_refused")
    assert started_steps(run.events) == [STEP]


def test_a_stop_in_the_midst_of_it_ends_the_run(converse, chat):
    gate = Gate()
    chat.answer_when(JA.standalone, answer=Held(gate, WHOLE))
    run = converse(FIRST, FOLLOW_UP)
    gate.wait_for(1)
    run.stop()
    assert run.result().status == "stopped"
    assert finished(run.events, STEP)[0].verdict == "stopped"


def test_it_is_read_against_the_last_answers_without_their_markers(converse, chat):
    chat.answer_when(JA.standalone, answer=WHOLE)
    asked = [f"出張規程の第{number}条の題名は何ですか" for number in range(1, MOST_TURNS + 2)]
    run = converse(*asked, FOLLOW_UP)
    turns = detail(run).turns
    assert [turn.question for turn in turns] == asked[-MOST_TURNS:]
    assert {turn.answer for turn in turns} == {"日当は1日2,500円です。"}
    prompt = chat.prompts_with(JA.standalone)[-1]
    assert asked[0] not in prompt
    assert prompt.index(asked[1]) < prompt.index(asked[2]) < prompt.index(FOLLOW_UP)


def test_a_follow_up_to_a_follow_up_is_read_against_what_that_one_asked(converse, chat):
    chat.answer_when(JA.standalone, answer=WHOLE)
    run = converse(FIRST, FOLLOW_UP, "それはいつですか?")
    assert [turn.question for turn in detail(run).turns] == [FIRST, WHOLE]


@pytest.mark.parametrize("pipeline", some_of(("naive", "adaptive"), now=("naive",)))
def test_a_follow_up_behind_thanks_follows_the_question_before_them(converse, chat, pipeline):
    chat.answer_when(JA.standalone, answer=FOLLOW_UP)
    run = converse(FIRST, "ありがとうございます", FOLLOW_UP, pipeline=pipeline)
    assert (detail(run).why, detail(run).after) == ("joined", f"{FIRST} {FOLLOW_UP}")
    assert [turn.question for turn in detail(run).turns] == [FIRST]


def test_greetings_and_thanks_push_no_question_out_of_what_is_read(converse, chat):
    chat.answer_when(JA.standalone, answer=WHOLE)
    run = converse(FIRST, *("こんにちは", "ありがとう", "了解です", "お疲れ様です")[:MOST_TURNS], FOLLOW_UP)
    assert [turn.question for turn in detail(run).turns] == [FIRST]


def test_a_question_behind_a_greeting_is_no_follow_up_but_in_its_language(converse, chat):
    run = converse("こんにちは", "VPN?")
    run.result()
    assert STEP not in started_steps(run.events)
    assert chat.prompts_with(JA.answer)[-1].endswith("質問: VPN?\n")


def test_only_runs_that_finished_with_an_answer_were_said(converse, engine, chat):
    gate = Gate()
    first = converse(FIRST)
    first.result()
    chat.enqueue(Held(gate, ANSWER))
    stopped = engine.ask(
        "宿泊費の上限金額はいくらですか", index=INDEX, pipeline_name="naive", conversation_id=first.conversation_id
    )
    gate.wait_for(1)
    stopped.stop()
    stopped.result()
    assert [turn.question for turn in engine.history.turns(first.conversation_id, before="?")] == [FIRST]


def test_a_question_that_is_asked_again_is_no_follow_up_of_itself(converse, engine):
    run = converse(FIRST, FIRST)
    run.result()
    assert STEP not in started_steps(run.events)
    assert [turn.question for turn in engine.history.turns(run.conversation_id, before="?")] == [FIRST]


def test_what_was_said_at_length_is_cut(converse, chat):
    chat.default = "長い答え。" * 100
    chat.answer_when(JA.standalone, answer=WHOLE)
    run = converse("長い" * 200 + "質問の内容は何ですか?", FOLLOW_UP)
    [turn] = detail(run).turns
    assert (len(turn.question), len(turn.answer)) == (LONGEST_SAID, LONGEST_SAID)


def test_a_mail_that_is_pasted_with_a_follow_up_is_still_read(converse, chat):
    whole = "佐藤さんのメールに、出張の日当の規程に沿ってどう返事を書きますか?"
    chat.answer_when(JA.standalone, answer=whole)
    asked = f"それに沿って、次のメールに返事を書いてください。\n\n{MAIL}"
    run = converse(FIRST, asked)
    assert (detail(run).why, detail(run).after) == ("rewritten", f"{whole}\n\n{asked}")
    assert MAIL in chat.prompts_with(JA.answer)[-1]


def test_a_mail_of_which_the_model_only_repeats_the_first_line_is_still_read(converse, chat):
    asked = f"次のメールに返事を書いてください。\n\n{MAIL}"
    chat.answer_when(JA.standalone, answer=asked)
    run = converse(FIRST, asked)
    assert (detail(run).why, detail(run).after) == ("stands_alone", asked)


def test_a_follow_up_of_the_greatest_length_is_still_searched(converse, chat):
    chat.answer_when(JA.standalone, answer=WHOLE)
    asked = "それに沿って、次のメールに返事を書いてください。".ljust(LONGEST_SEARCHED, "。")
    run = converse(FIRST, asked)
    assert (run.result().status, detail(run).after) == ("finished", asked)


def test_a_question_below_a_pasted_mail_is_what_a_follow_up_is_read_against(converse, chat):
    chat.answer_when(JA.standalone, answer=WHOLE)
    [turn] = detail(converse(f"{MAIL}\n\n{FIRST}", FOLLOW_UP)).turns
    assert turn.question.startswith("お疲れ様です。")
    assert turn.question.endswith(FIRST)
    assert len(turn.question) == LONGEST_SAID


# Also in test_a_follow_up_that_is_a_request_is_made_to_stand_alone_as_one.
@pytest.mark.soak
def test_an_english_follow_up_is_made_to_stand_alone_in_english(converse, chat):
    chat.answer_when(EN.standalone, answer="How many days of leave do part-time staff have?")
    run = converse("How many days of paid annual leave do staff have?", "And for part-time staff?")
    assert detail(run).after == "How many days of leave do part-time staff have?"
    assert not chat.prompts_with(JA.standalone)


def test_the_language_of_the_question_as_it_was_asked_is_that_of_the_answer(converse, chat):
    chat.answer_when(EN.standalone, answer="How much is the 日当 of 出張旅費規程?")
    run = converse(FIRST, "How much is it?")
    run.result()
    assert chat.prompts_with(EN.answer)


def test_a_question_that_is_typed_again_with_another_sign_at_its_end_is_not_searched_twice_over(converse, chat):
    chat.answer_when(JA.standalone, answer="有給休暇は何日ありますか？")
    run = converse("有給休暇は何日ありますか?", "有給休暇は何日ありますか？")
    assert (detail(run).why, detail(run).after) == ("stands_alone", "有給休暇は何日ありますか？")
