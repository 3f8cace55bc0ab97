"""Self-RAG: every edge of its graph and each of its limits."""

from collections.abc import AsyncIterator

import pytest

from index_store.base.errors import KeyRefused, ServiceBusy
from rag.models.chat_model import Answer
from rag.models.service.chat import ServiceChat
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.models.service.no_answer import TOKEN
from rag.text.no_answer import no_answer_sentence
from rag.trace.events import StepStarted, Token
from rag.trace.passages import Retrieval
from tests.rag.documents import ALLOWANCE, ANSWER, INDEX, QUESTION
from tests.rag.reading import decisions, finished, of, started_steps, tokens
from tests.rag.scripted import Gate, Held
from tests.rag.verdicts import NO, PROSE, SECRET_WORD, YES, approve, grounding, rating, verdict

REWRITE = "病気で休むときに必要な書類は何ですか"
SICK = "A doctor's note is needed"
"""in a passage that REWRITE finds and QUESTION does not find"""

CHECKS = {"check_grounding", "check_usefulness"}


@pytest.fixture
def ask(engine):
    def ask(question: str = QUESTION):
        return engine.ask(question, index=INDEX, pipeline_name="self_rag")

    return ask


def test_an_answer_that_passes_all_grades_is_confirmed(ask, chat):
    approve(chat)
    chat.enqueue(ANSWER)
    run = ask()
    result = run.result()
    assert started_steps(run.events)[:3] == ["retrieve", "grade_documents", "generate"]
    assert set(started_steps(run.events)[3:5]) == CHECKS
    assert started_steps(run.events)[5:] == ["check_answer"]
    assert decisions(run.events) == [("generate", "relevant_found"), ("__end__", "confirmed")]
    assert (result.status, result.outcome, result.answer) == ("finished", "confirmed", ANSWER)
    assert (result.totals.model_calls, result.totals.generations, result.totals.rewrites) == (7, 1, 0)
    assert [step.verdict for step in finished(run.events, "check_answer")] == ["yes"]


def test_only_relevant_passages_reach_the_answer(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.relevance, ALLOWANCE, answer=verdict("yes", 0.75))
    chat.enqueue(ANSWER)
    run = ask()
    assert run.result().outcome == "confirmed"
    [prompt] = chat.prompts_with(JA.answer)
    assert ALLOWANCE in prompt
    assert prompt.count("<passage number=") == 1
    [grading] = finished(run.events, "grade_documents")
    grades = {each.passage.number: each.grade for each in grading.detail.grades}
    assert [(grades[1].verdict, grades[1].score)] == [("yes", 0.75)]
    assert [grades[number].verdict for number in (2, 3, 4)] == ["no"] * 3
    assert grading.detail.relevant == 1
    assert all(SECRET_WORD in grade.reason for grade in grades.values())


# Also in test_speculative_answer.py::test_a_speculative_answer_is_shown_before_the_first_grade_is_there.
@pytest.mark.soak
def test_all_passages_are_graded_side_by_side(ask, chat):
    approve(chat)
    gate = Gate()
    chat.answer_when(JA.relevance, answer=Held(gate, YES))
    run = ask()
    gate.wait_for(4)
    gate.open()
    assert run.result().status == "finished"


# Also in test_path.py::test_while_a_run_goes_on_its_current_steps_are_known.
@pytest.mark.soak
def test_grounding_and_usefulness_are_checked_side_by_side(ask, chat):
    approve(chat)
    gate = Gate()
    for check in (JA.grounding, JA.usefulness):
        chat.answer_when(check, answer=Held(gate, YES))
    run = ask()
    gate.wait_for(2)
    gate.open()
    assert run.result().outcome == "confirmed"


def test_when_nothing_is_relevant_the_question_is_reworded_and_searched_again(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.relevance, SICK, answer=YES)
    chat.answer_when(JA.rewrite, answer=f"「{REWRITE}」\n")
    chat.enqueue("診断書です[5]。")
    run = ask()
    result = run.result()
    assert started_steps(run.events)[:6] == [
        "retrieve", "grade_documents", "rewrite_question", "retrieve", "grade_documents", "generate",
    ]  # fmt: skip
    assert decisions(run.events)[:3] == [
        ("rewrite_question", "nothing_relevant"),
        ("retrieve", "reworded"),
        ("generate", "relevant_found"),
    ]
    [rewrite] = finished(run.events, "rewrite_question")
    assert (rewrite.detail.before, rewrite.detail.after, rewrite.detail.refused) == (QUESTION, REWRITE, None)
    assert [step.detail.query for step in finished(run.events, "retrieve")] == [QUESTION, REWRITE]
    assert (result.outcome, result.totals.rewrites) == ("confirmed", 1)
    assert [(citation.number, SICK in citation.text) for citation in result.citations] == [(5, True)]
    assert f"質問: {QUESTION}" in chat.prompts_with(JA.answer)[0]


def test_a_section_found_again_by_another_of_its_chunks_keeps_its_number_and_grade(engine, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.answer_when(JA.rewrite, f"見つからなかった検索文: {REWRITE}", answer="有給休暇は何日ありますか")
    run = engine.ask(
        QUESTION, index=INDEX, pipeline_name="self_rag", retrieval=Retrieval(mode="hybrid", unit="section")
    )
    run.result()
    searches = [step.detail.passages for step in finished(run.events, "retrieve")]
    sections = {passage.section_id for passages in searches for passage in passages}
    numbers = {passage.number for passages in searches for passage in passages}
    assert len(searches) == 3
    assert numbers == set(range(1, len(sections) + 1))
    assert len(chat.prompts_with(JA.relevance)) == len(sections)


def test_a_passage_found_again_keeps_its_number_and_is_not_graded_again(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer=REWRITE, times=1)
    chat.answer_when(JA.rewrite, answer="有給休暇は何日ありますか")
    run = ask()
    run.result()
    numbers: dict[str, int] = {}
    for search in finished(run.events, "retrieve"):
        for passage in search.detail.passages:
            assert numbers.setdefault(passage.text, passage.number) == passage.number
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
    assert len(chat.prompts_with(JA.relevance)) == len(numbers)
    second = finished(run.events, "grade_documents")[1]
    assert {each.known for each in second.detail.grades} == {True, False}
    assert second.model_calls == sum(not each.known for each in second.detail.grades)


def test_after_the_last_rewrite_it_says_that_the_documents_do_not_hold_the_answer(ask, chat):
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer=REWRITE, times=1)
    chat.answer_when(JA.rewrite, f"見つからなかった検索文: {REWRITE}", answer="有給休暇は何日ありますか")
    run = ask()
    result = run.result()
    assert started_steps(run.events) == ["retrieve", "grade_documents", "rewrite_question"] * 2 + [
        "retrieve", "grade_documents", "decline",
    ]  # fmt: skip
    assert decisions(run.events)[-1] == ("decline", "rewrite_limit")
    assert (result.status, result.outcome) == ("finished", "not_in_documents")
    assert result.answer.startswith(no_answer_sentence(INDEX, "ja"))
    assert REWRITE in result.answer
    assert chat.prompts_with(JA.answer) == []


def test_with_no_rewrites_allowed_it_declines_at_once_in_the_language_of_the_question(open_engine, chat):
    chat.default = NO
    engine = open_engine(chat, max_rewrites=0)
    result = engine.ask("How tall is the tower?", index=INDEX, pipeline_name="self_rag").result()
    assert result.answer.startswith(no_answer_sentence(INDEX, "en"))
    assert (result.totals.rewrites, result.totals.model_calls) == (0, 4)


def test_an_answer_that_is_not_grounded_is_written_again_with_the_rejected_one_in_the_prompt(ask, chat):
    approve(chat)
    chat.answer_when(JA.grounding, "3,000円", answer=NO)
    chat.enqueue("日当は3,000円です[1]。", ANSWER)
    run = ask()
    result = run.result()
    assert started_steps(run.events).count("generate") == 2
    assert decisions(run.events)[1:] == [("generate", "not_grounded"), ("__end__", "confirmed")]
    first, second = chat.prompts_with(JA.answer)
    assert "<rejected>" not in first
    assert "<rejected>\n日当は3,000円です[1]。\n</rejected>" in second
    assert (result.answer, result.outcome, result.totals.generations) == (ANSWER, "confirmed", 2)
    assert [step.attempt for step in finished(run.events, "generate")] == [1, 2]
    started = [(event.step, event.attempt) for event in of(StepStarted, run.events)]
    assert len(set(started)) == len(started)
    assert started.count(("check_answer", 2)) == 1


def test_of_an_answer_that_is_grounded_in_part_the_claims_without_support_are_named_to_the_model(ask, chat):
    approve(chat)
    chat.answer_when(JA.grounding, "夜食", answer=grounding("partly", "夜食代も出ます。"))
    chat.enqueue("日当は2,500円です[1]。夜食代も出ます。", ANSWER)
    run = ask()
    result = run.result()
    assert decisions(run.events)[1:] == [("generate", "partly_grounded"), ("__end__", "confirmed")]
    first, second = chat.prompts_with(JA.answer)
    assert "<unsupported>" not in first
    assert "<unsupported>\n夜食代も出ます。\n</unsupported>" in second
    assert (result.outcome, result.unconfirmed) == ("confirmed", ())


def test_at_the_limit_of_answers_the_one_with_the_most_support_is_kept_and_its_other_claims_are_told(ask, chat):
    approve(chat)
    chat.answer_when(JA.grounding, answer=grounding("no"))
    chat.answer_when(JA.grounding, "二つめ", answer=grounding("partly", "二つめは違います。"))
    chat.enqueue("一つめ。", "二です[1]。二つめは違います。", "三つめ。")
    run = ask()
    result = run.result()
    assert decisions(run.events)[-1] == ("keep_best_attempt", "generation_limit")
    assert started_steps(run.events)[-2:] == ["check_answer", "keep_best_attempt"]
    assert (result.status, result.outcome) == ("finished", "unconfirmed")
    assert result.answer == "二です[1]。二つめは違います。"
    assert result.unconfirmed == ("二つめは違います。",)
    assert [citation.number for citation in result.citations] == [1]
    assert result.totals.generations == 3
    [kept] = finished(run.events, "keep_best_attempt")
    assert [each.number for each in kept.detail.attempts] == [1, 2, 3]
    assert kept.detail.chosen == 2
    assert kept.model_calls == 0


def test_where_the_last_attempt_is_the_best_it_is_not_written_again(ask, chat):
    approve(chat)
    chat.answer_when(JA.grounding, answer=grounding("partly", "五。"))
    chat.enqueue("一。二。", "三。", "四。五。")
    run = ask()
    result = run.result()
    assert result.answer == "四。五。"
    assert result.unconfirmed == ("五。",)
    assert {event.step for event in of(Token, run.events)} == {"generate"}


@pytest.mark.parametrize(
    ("level", "end"),
    [
        ("partly", ("keep_best_attempt", "partly_grounded")),
        pytest.param("no", ("decline", "not_grounded"), marks=pytest.mark.soak),
    ],
)
def test_a_model_that_does_not_correct_itself_is_not_asked_again(open_engine, chat, level, end):
    approve(chat)
    chat.answer_when(JA.grounding, answer=grounding(level, "二。"))
    chat.enqueue("一。二。")
    run = open_engine(chat, regenerates=False).ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    assert run.result().totals.generations == 1
    assert decisions(run.events)[-1] == end


def test_a_model_that_does_not_correct_itself_still_looks_elsewhere_after_an_answer_of_no_use(open_engine, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, answer=rating(1), times=1)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue("一。", "二。")
    run = open_engine(chat, regenerates=False).ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    assert (run.result().outcome, run.result().answer) == ("confirmed", "二。")
    assert ("rewrite_question", "not_useful") in decisions(run.events)


def test_where_nothing_of_any_attempt_is_borne_out_it_says_no_and_shows_the_nearest_passages(ask, chat):
    approve(chat)
    chat.answer_when(JA.grounding, answer=grounding("no"))
    chat.enqueue("一。", "二。", "三。")
    run = ask()
    result = run.result()
    assert decisions(run.events)[-1] == ("decline", "generation_limit")
    assert (result.outcome, result.totals.generations) == ("not_in_documents", 3)
    assert "三。" not in result.answer
    [declined] = finished(run.events, "decline")
    assert declined.detail.nearest


def test_of_attempts_with_the_same_support_the_more_useful_one_is_kept(open_engine, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, "一", answer=rating(2))
    chat.answer_when(JA.usefulness, "二", answer=rating(1))
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue("一。", "二。")
    run = open_engine(chat, max_rewrites=1).ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    result = run.result()
    assert (result.answer, result.outcome, result.unconfirmed) == ("一。", "unconfirmed", ())


def test_an_attempt_that_answers_the_question_is_kept_before_a_better_grounded_one_that_does_not(ask, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, "役職により", answer=rating(2))
    chat.answer_when(JA.grounding, "夜食", answer=grounding("partly", "夜食も出ます。"))
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.default = f"{ANSWER}夜食も出ます。"
    chat.enqueue("役職によります[1]。")
    result = ask().result()
    assert (result.answer, result.outcome) == (f"{ANSWER}夜食も出ます。", "unconfirmed")
    assert result.unconfirmed == ("夜食も出ます。",)


def test_when_a_reworded_question_finds_nothing_the_attempt_of_before_is_kept(open_engine, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, answer=rating(2))
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.answer_when(JA.relevance, "Sick leave", answer=NO)
    chat.enqueue("一。")
    settings = {"max_rewrites": 1, "draft_ahead": False}
    run = open_engine(chat, **settings).ask(QUESTION, index=INDEX, pipeline_name="self_rag", retrieval=Retrieval(k=1))
    result = run.result()
    assert decisions(run.events)[-1] == ("keep_best_attempt", "rewrite_limit")
    assert (result.answer, result.outcome) == ("一。", "unconfirmed")


def test_a_number_that_no_passage_has_is_no_source_of_a_claim(ask, chat):
    approve(chat)
    chat.enqueue("日当は2,500円です[1]。様式は[12]です。")
    run = ask()
    run.result()
    [checked] = finished(run.events, "check_grounding")
    assert [claim.sources for claim in checked.detail.claims] == [(1,), ()]


def test_a_footnote_that_the_embedded_model_copies_cites_no_passage(ask, chat, monkeypatch):
    """It writes no markers of its own: its answers get them afterwards."""
    text = "日当は2,500円です[2][1]。"

    async def answer(*_: object, **__: object) -> AsyncIterator[str | Answer]:
        yield text
        yield Answer(text, cited=(1,))

    monkeypatch.setattr(ServiceChat, "answer", answer)
    approve(chat)
    run = ask()
    result = run.result()
    [checked] = finished(run.events, "check_grounding")
    assert (result.answer, result.outcome) == (text, "confirmed")
    assert [each.number for each in result.citations] == [1]
    assert [claim.sources for claim in checked.detail.claims] == [(1,)]


@pytest.mark.soak  # a rare course of a run
def test_an_attempt_has_the_number_of_its_answer_though_a_no_answer_stands_between_two(ask, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, "一。", answer=rating(2))
    chat.answer_when(JA.grounding, "三。", answer=grounding("partly"))
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.answer_when(JA.rewrite, REWRITE, answer="泊まりがけで出かけるときの手当")
    chat.enqueue("一。", TOKEN, "三。")
    run = ask()
    run.result()
    [kept] = finished(run.events, "keep_best_attempt")
    assert [(each.number, each.text) for each in kept.detail.attempts] == [(1, "一。"), (3, "三。")]


def test_an_answer_that_is_not_useful_leads_to_another_query(ask, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, "存じません", answer=rating(1, "金額がない。"))
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue("存じません。", ANSWER)
    run = ask()
    assert run.result().outcome == "confirmed"
    assert decisions(run.events) == [
        ("generate", "relevant_found"),
        ("rewrite_question", "not_useful"),
        ("retrieve", "reworded"),
        ("generate", "relevant_found"),
        ("__end__", "confirmed"),
    ]
    assert f"見つからなかった検索文: {QUESTION}" in chat.prompts_with(JA.rewrite)[0]
    assert "<reason>\n金額がない。\n</reason>" in chat.prompts_with(JA.rewrite)[0]
    assert finished(run.events, "rewrite_question")[0].detail.reason == "金額がない。"
    assert "<rejected>" not in chat.prompts_with(JA.answer)[1]


def test_when_nothing_is_relevant_the_rewrite_is_told_what_was_found_and_why_it_does_not_help(ask, chat):
    chat.answer_when(JA.relevance, answer=NO)
    run = ask()
    run.result()
    [prompt] = chat.prompts_with(JA.rewrite)
    found = prompt.partition("<found>\n")[2].partition("\n</found>")[0].splitlines()
    assert len(found) == 4
    assert f"出張旅費規程 > 第3条 日当: {SECRET_WORD}: because" in found
    assert "<reason>" not in prompt


def test_at_the_limit_of_rewrites_an_answer_that_is_not_useful_stands_unconfirmed(open_engine, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, answer=NO)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    run = open_engine(chat, max_rewrites=1).ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    result = run.result()
    assert decisions(run.events)[-1] == ("keep_best_attempt", "rewrite_limit")
    assert (result.outcome, result.totals.rewrites, result.totals.generations) == ("unconfirmed", 1, 2)


REFUSAL = "NOT_IN_PASSAGES 日当の額は書かれていません。"


def test_no_answer_leads_to_another_query_that_is_told_what_it_said_and_is_not_checked(ask, chat):
    approve(chat)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue(REFUSAL, ANSWER)
    run = ask()
    result = run.result()
    assert ("rewrite_question", "says_no") in decisions(run.events)
    assert started_steps(run.events).count("check_grounding") == started_steps(run.events).count("check_answer") == 1
    assert (result.answer, result.outcome) == (ANSWER, "confirmed")
    [prompt] = [prompt for prompt in chat.prompts if JA.rewrite in prompt]
    assert "日当の額は書かれていません。" in prompt


def test_where_all_that_was_written_is_no_answer_it_stands(open_engine, chat):
    approve(chat)
    chat.enqueue(REFUSAL)
    run = open_engine(chat, max_rewrites=0).ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    result = run.result()
    assert decisions(run.events)[-1] == ("__end__", "rewrite_limit")
    assert (result.outcome, result.unconfirmed) == ("not_in_documents", ())
    assert result.answer.startswith("日当の額は書かれていません。")


def test_an_attempt_is_kept_rather_than_no_answer_that_came_after_it(open_engine, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, "一つめ", answer=rating(2))
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue("一つめ。", REFUSAL)
    run = open_engine(chat, max_rewrites=1).ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    result = run.result()
    assert decisions(run.events)[-1] == ("keep_best_attempt", "rewrite_limit")
    assert (result.answer, result.outcome) == ("一つめ。", "unconfirmed")


def test_where_no_more_answers_may_be_written_the_question_is_not_reworded(open_engine, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, answer=NO)
    run = open_engine(chat, max_generations=1).ask(QUESTION, index=INDEX, pipeline_name="self_rag")
    assert run.result().outcome == "unconfirmed"
    assert decisions(run.events)[-1] == ("keep_best_attempt", "generation_limit")


def test_a_passage_whose_grade_cannot_be_read_is_kept(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.relevance, ALLOWANCE, answer=PROSE)
    chat.enqueue(ANSWER)
    run = ask()
    assert run.result().outcome == "confirmed"
    [grading] = finished(run.events, "grade_documents")
    assert {each.passage.number: each.grade.verdict for each in grading.detail.grades}[1] == "unknown"
    assert ALLOWANCE in chat.prompts_with(JA.answer)[0]


@pytest.mark.parametrize("failing", [1, pytest.param(3, marks=pytest.mark.soak)])
def test_a_passage_whose_grader_fails_is_kept_and_the_failure_told(ask, chat, failing):
    approve(chat)
    busy = ServiceBusy(host="h")
    chat.answer_when(JA.relevance, answer=busy, times=failing)
    chat.enqueue(ANSWER)
    run = ask()
    assert run.result().outcome == "confirmed"
    [grading] = finished(run.events, "grade_documents")
    assert [each.error for each in grading.detail.grades].count(busy.as_failure()) == failing
    assert [each.grade.verdict for each in grading.detail.grades].count("unknown") == failing
    assert (grading.fallback, grading.verdict, grading.error) == (busy.as_failure(), "yes", None)
    assert chat.prompts_with(JA.answer)[0].count("<passage number=") == 4


def test_when_all_graders_fail_it_goes_on_with_all_passages_not_graded(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=ServiceBusy(host="h"))
    chat.enqueue(ANSWER)
    run = ask()
    assert run.result().outcome == "confirmed"
    [grading] = finished(run.events, "grade_documents")
    assert (grading.fallback.code, grading.verdict) == ("service_busy", "unknown")
    assert decisions(run.events)[0] == ("generate", "not_graded")
    assert chat.prompts_with(JA.answer)[0].count("<passage number=") == 4


def test_a_passage_that_was_not_graded_is_not_called_relevant_beside_those_that_are_not(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.relevance, ALLOWANCE, answer=ServiceBusy(host="h"))
    chat.enqueue(ANSWER)
    run = ask()
    assert run.result().outcome == "confirmed"
    assert decisions(run.events)[0] == ("generate", "not_graded")
    assert chat.prompts_with(JA.answer)[-1].count("<passage number=") == 1


def test_a_key_that_is_refused_ends_the_run_at_the_first_grader(ask, chat):
    chat.answer_when(JA.relevance, answer=KeyRefused(host="h", model="m"))
    run = ask()
    assert run.result().error.code == "key_refused"
    assert started_steps(run.events) == ["retrieve", "grade_documents"]


def test_a_passage_that_could_not_be_graded_is_asked_about_when_it_is_found_again(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, ALLOWANCE, answer=ServiceBusy(host="h"), times=1)
    chat.answer_when(JA.usefulness, answer=NO, times=1)
    chat.answer_when(JA.rewrite, answer="出張したときの日当の金額")
    run = ask()
    assert run.result().outcome == "confirmed"
    assert len(chat.prompts_with(JA.relevance)) > len(set(chat.prompts_with(JA.relevance)))
    first, second = (step.detail.grades for step in finished(run.events, "grade_documents"))
    allowance = [each for grades in (first, second) for each in grades if ALLOWANCE in each.passage.text]
    assert [(each.grade.verdict, each.known) for each in allowance] == [("unknown", False), ("yes", False)]


@pytest.mark.parametrize("check", [JA.grounding, pytest.param(JA.usefulness, marks=pytest.mark.soak)])
def test_an_answer_whose_check_fails_stands_unconfirmed(ask, chat, check):
    approve(chat)
    chat.answer_when(check, answer=ServiceBusy(host="h"))
    chat.enqueue(ANSWER)
    run = ask()
    result = run.result()
    assert (result.status, result.outcome, result.answer) == ("finished", "unconfirmed", ANSWER)
    assert decisions(run.events)[-1] == ("__end__", "check_unreadable")
    name = "check_grounding" if check == JA.grounding else "check_usefulness"
    [failed] = finished(run.events, name)
    assert (failed.fallback.code, failed.verdict, failed.error) == ("service_busy", "unknown", None)


# With one of them: test_an_answer_is_not_confirmed_by_a_check_that_cannot_be_read.
@pytest.mark.soak
def test_when_neither_check_can_be_read_the_answer_stands_unconfirmed(ask, chat):
    approve(chat)
    chat.answer_when(JA.grounding, answer=PROSE)
    chat.answer_when(JA.usefulness, answer=PROSE)
    chat.enqueue(ANSWER)
    result = ask().result()
    assert (result.outcome, result.answer, result.unconfirmed) == ("unconfirmed", ANSWER, ())


def test_a_rewrite_that_fails_keeps_the_query_and_is_not_tried_for_ever(ask, chat):
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer=ServiceBusy(host="h"))
    run = ask()
    assert run.result().outcome == "not_in_documents"
    assert decisions(run.events)[-1] == ("decline", "not_reworded")
    [rewrite] = finished(run.events, "rewrite_question")
    assert (rewrite.fallback.code, rewrite.verdict, rewrite.error) == ("service_busy", "no", None)
    assert (rewrite.detail.before, rewrite.detail.after) == (QUESTION, QUESTION)


def test_when_the_question_of_an_answer_that_is_not_useful_cannot_be_reworded_the_answer_is_kept(ask, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, answer=rating(2))
    chat.answer_when(JA.rewrite, answer=ServiceBusy(host="h"))
    chat.enqueue("一。")
    run = ask()
    result = run.result()
    assert decisions(run.events)[-1] == ("keep_best_attempt", "not_reworded")
    assert (result.answer, result.outcome, result.totals.generations) == ("一。", "unconfirmed", 1)


def test_when_no_grade_of_a_passage_can_be_read_the_run_fails_and_names_what_helps(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=PROSE)
    result = ask().result()
    assert (result.status, result.error.code) == ("failed", "no_json")
    assert "naive" in result.error.en
    assert "naive" in result.error.ja


@pytest.mark.parametrize("unreadable", [pytest.param(JA.grounding, marks=pytest.mark.soak), JA.usefulness])
def test_an_answer_is_not_confirmed_by_a_check_that_cannot_be_read(ask, chat, unreadable):
    approve(chat)
    chat.answer_when(unreadable, answer=PROSE)
    run = ask()
    assert run.result().outcome == "unconfirmed"
    assert [step.verdict for step in finished(run.events, "check_answer")] == ["unknown"]


@pytest.mark.parametrize(
    "written",
    [
        "出差补贴是多少钱?请告诉我详细的规定",
        pytest.param("What is the daily allowance?", marks=pytest.mark.soak),
        "あ" * 301,
        pytest.param("「」\nx", marks=pytest.mark.soak),
    ],
)
def test_a_rewrite_that_is_no_question_in_that_language_is_refused_and_shown(ask, chat, written):
    approve(chat)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer=written)
    run = ask()
    assert run.result().outcome == "not_in_documents"
    [rewrite] = finished(run.events, "rewrite_question")
    assert (rewrite.detail.after, rewrite.detail.refused, rewrite.verdict) == (QUESTION, written.strip(), "no")
    assert decisions(run.events)[-1] == ("decline", "not_reworded")
    assert started_steps(run.events).count("retrieve") == 1


def test_a_rewrite_with_other_signs_alone_is_not_searched_again(ask, chat):
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer=QUESTION.replace("?", "？"))
    run = ask()
    run.result()
    assert decisions(run.events)[-1] == ("decline", "not_reworded")
    [rewrite] = finished(run.events, "rewrite_question")
    assert (rewrite.detail.after, rewrite.detail.refused, rewrite.verdict) == (QUESTION, None, "no")
    assert started_steps(run.events).count("retrieve") == 1


def test_a_rewrite_that_was_searched_before_is_not_searched_again_and_shown(ask, chat):
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer=QUESTION)
    chat.answer_when(JA.rewrite, answer=REWRITE, times=1)
    run = ask()
    run.result()
    assert decisions(run.events)[-1] == ("decline", "not_reworded")
    second = finished(run.events, "rewrite_question")[1].detail
    assert (second.before, second.after, second.refused) == (REWRITE, REWRITE, QUESTION)
    assert [step.detail.query for step in finished(run.events, "retrieve")] == [QUESTION, REWRITE]


# Also in tests/rag/text/test_language.py::test_a_japanese_query_is_written_in_japanese.
@pytest.mark.soak
def test_a_rewrite_in_a_long_term_without_kana_is_searched(ask, chat):
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer="年次有給休暇付与日数")
    run = ask("休みは年に何日取れますか?")
    run.result()
    assert finished(run.events, "retrieve")[1].detail.query == "年次有給休暇付与日数"


# Also in tests/rag/text/reply/test_written_line.py, and in test_corrective.py for a query.
@pytest.mark.soak
def test_what_a_model_writes_around_its_rewrite_is_left_out(ask, chat):
    approve(chat)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.rewrite, answer=f"検索文は次のとおりです:\n\n**{REWRITE}**\n")
    run = ask()
    run.result()
    assert finished(run.events, "rewrite_question")[0].detail.after == REWRITE


def test_the_words_of_graders_stand_in_their_details_and_in_no_token_and_no_answer(ask, chat):
    approve(chat)
    chat.answer_when(JA.grounding, answer=NO, times=1)
    chat.answer_when(JA.usefulness, answer=NO, times=2)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.default = ANSWER
    run = ask()
    result = run.result()
    assert SECRET_WORD in "".join(step.model_dump_json() for step in finished(run.events, "check_grounding"))
    assert SECRET_WORD not in tokens(run.events)
    assert SECRET_WORD not in result.answer
    assert REWRITE not in tokens(run.events)
    assert {event.step for event in of(Token, run.events)} == {"generate"}


def test_an_english_question_is_graded_reworded_and_answered_in_english(ask, chat):
    approve(chat)
    chat.answer_when(EN.relevance, answer=NO, times=4)
    chat.answer_when(EN.rewrite, answer="cleaning of the refrigerator in the kitchen")
    chat.enqueue("Twenty days.")
    run = ask("How long is my holiday?")
    assert run.result().answer == "Twenty days."
    for instructions in (EN.relevance, EN.rewrite, EN.answer, EN.grounding, EN.usefulness):
        assert chat.prompts_with(instructions)
    assert not any(chat.prompts_with(words) for words in (JA.relevance, JA.rewrite, JA.answer))
