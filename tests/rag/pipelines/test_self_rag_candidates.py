"""Self-RAG as in its paper: every edge of its graph."""

from collections.abc import Sequence

import pytest

from index_store.base.errors import KeyRefused, ServiceBusy
from rag.models.chat_model import Answer, AnswerStream
from rag.models.service.chat import ServiceChat
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.nodes.candidates import weighted_score
from rag.trace.events import Token
from rag.trace.grades import Grade, Grounding, Usefulness
from rag.trace.passages import Passage, Retrieval
from tests.helpers.waiting import eventually
from tests.rag.documents import ALLOWANCE, ANSWER, INDEX, QUESTION
from tests.rag.reading import decisions, finished, of, started_steps, tokens
from tests.rag.scripted import Gate, Held
from tests.rag.verdicts import NO, PROSE, SECRET_WORD, YES, approve, grounding, rating, verdict

OTHER = "グリーン車には承認が必要です。"


@pytest.fixture
def ask(engine, chat):
    approve(chat)
    chat.answer_when(JA.retrieval_need, answer=YES)

    def ask(question: str = QUESTION, **options):
        return engine.ask(question, index=INDEX, pipeline_name="self_rag_candidates", **options)

    return ask


def answers(chat) -> None:
    """The passage about the allowance gives the answer; the others are about something else."""
    chat.answer_when(JA.answer, answer=OTHER)
    chat.answer_when(JA.answer, ALLOWANCE, answer=ANSWER)
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.relevance, ALLOWANCE, answer=YES)


def candidates(run):
    [written] = finished(run.events, "write_candidates")
    return written.detail.candidates


def test_the_best_of_one_answer_per_passage_is_chosen_and_confirmed(ask, chat):
    answers(chat)
    run = ask()
    result = run.result()
    assert started_steps(run.events) == ["decide_retrieval", "retrieve", "write_candidates", "choose_candidate"]
    assert decisions(run.events) == [("retrieve", "documents_needed"), ("choose_candidate", "candidate_supported")]
    assert (result.outcome, result.answer, result.unconfirmed) == ("confirmed", ANSWER, ())
    assert [(each.number, ALLOWANCE in each.text) for each in result.citations] == [(1, True)]
    assert result.totals.model_calls == len(chat.prompts) == 1 + 4 * 4
    assert [prompt.count("<passage number=") for prompt in chat.prompts_with(JA.answer)] == [1] * 4
    assert result.totals.generations == 4
    beam = candidates(run)
    assert [each.text for each in beam] == [ANSWER, OTHER, OTHER, OTHER]
    assert beam[0].score == pytest.approx(0.9 + 1 + 0.5)
    assert beam[-1].score == pytest.approx(0.1 + 1 + 0.5)
    assert {event.step for event in of(Token, run.events)} == {"choose_candidate"}
    assert SECRET_WORD not in tokens(run.events)


# Also in test_self_rag.py::test_a_footnote_that_the_embedded_model_copies_cites_no_passage.
@pytest.mark.soak
def test_a_footnote_that_the_embedded_model_copies_into_the_best_answer_cites_no_passage(ask, chat, monkeypatch):
    """It writes no markers of its own: its answers get them afterwards."""
    copied = "日当は2,500円です[2][1]。"

    async def answer(_: object, __: str, passages: Sequence[Passage], *___: object, **____: object) -> AnswerStream:
        yield copied
        yield Answer(copied, cited=(passages[0].number,))

    answers(chat)
    monkeypatch.setattr(ServiceChat, "answer", answer)
    result = ask().result()
    assert (result.answer, result.outcome) == (copied, "confirmed")
    assert [each.number for each in result.citations] == [1]


def test_answers_are_written_and_passages_graded_side_by_side(ask, chat):
    gate = Gate()
    chat.answer_when(JA.relevance, answer=Held(gate, YES))
    chat.answer_when(JA.answer, answer=Held(gate, ANSWER))
    run = ask()
    gate.wait_for(8)
    gate.open()
    assert run.result().outcome == "confirmed"


def test_an_answer_is_checked_as_soon_as_it_is_written(ask, chat):
    slow, checks = Gate(), Gate()
    chat.answer_when(JA.answer, ALLOWANCE, answer=Held(slow, ANSWER))
    chat.answer_when(JA.grounding, answer=Held(checks, YES))
    chat.answer_when(JA.usefulness, answer=Held(checks, YES))
    run = ask()
    checks.wait_for(6)
    slow.open()
    checks.open()
    assert run.result().status == "finished"


@pytest.mark.parametrize(
    ("relevance", "level", "stars", "worth"),
    [
        (1.0, "fully", 5, 2.5),
        (1.0, "partly", 3, 1.5),
        (0.5, "no", 1, 0.0),
        (0.0, "no", 1, -0.5),
        (0.0, "fully", 2, 0.75),
        (None, None, None, 1.0),
    ],
)
def test_a_score_is_the_weighted_sum_of_the_paper(relevance, level, stars, worth):
    word = "unknown" if relevance is None else "yes" if relevance >= 0.5 else "no"
    relevant = Grade(verdict=word, score=relevance)
    supported = Grounding(verdict="unknown", score=None, level=level)
    useful = Usefulness(verdict="unknown", score=None, rating=stars)
    assert weighted_score(relevant, supported, useful) == pytest.approx(worth)


def test_a_grader_that_gives_no_score_is_taken_at_its_word():
    fully = Grounding(verdict="yes", score=None, level="fully")
    useful = Usefulness(verdict="yes", score=None, rating=5)
    assert weighted_score(Grade(verdict="yes", score=None), fully, useful) == 2.5
    assert weighted_score(Grade(verdict="no", score=None), fully, useful) == 1.5


def test_an_answer_without_support_is_not_chosen_however_it_scores(ask, chat):
    answers(chat)
    chat.answer_when(JA.relevance, answer=verdict("yes", 1.0))
    chat.answer_when(JA.grounding, OTHER, answer=grounding("no"))
    chat.answer_when(JA.grounding, ANSWER, answer=grounding("partly", "1日"))
    chat.answer_when(JA.usefulness, ANSWER, answer=rating(1))
    run = ask()
    result = run.result()
    assert (result.answer, result.outcome, result.unconfirmed) == (ANSWER, "unconfirmed", ("1日",))
    best, *others = candidates(run)
    assert best.score < min(each.score for each in others)


def test_when_no_answer_is_grounded_it_declines(ask, chat):
    chat.answer_when(JA.grounding, answer=grounding("no"))
    run = ask()
    result = run.result()
    assert started_steps(run.events)[-1] == "decline"
    assert decisions(run.events)[-1] == ("decline", "no_candidate_supported")
    assert (result.outcome, result.unconfirmed) == ("not_in_documents", ())


def test_answers_from_passages_that_do_not_bear_on_the_question_are_not_chosen(ask, chat):
    chat.answer_when(JA.relevance, answer=NO)
    assert ask().result().outcome == "not_in_documents"


def test_no_answer_is_not_chosen_if_there_is_an_answer(ask, chat):
    chat.answer_when(JA.answer, answer="NOT_IN_PASSAGES 日当の額は書かれていません。")
    chat.answer_when(JA.answer, ALLOWANCE, answer=ANSWER)
    chat.answer_when(JA.usefulness, ANSWER, answer=rating(3))
    run = ask()
    assert (run.result().answer, run.result().outcome) == (ANSWER, "confirmed")
    assert [each.is_no_answer for each in candidates(run)] == [False, True, True, True]


def test_when_nothing_is_found_it_declines(ask, chat):
    run = ask("zzz qqq", retrieval=Retrieval(mode="keyword"))
    chat.answer_when(EN.retrieval_need, answer=YES)
    assert run.result().outcome == "not_in_documents"


def test_a_question_that_needs_no_documents_is_answered_from_memory_and_marked(ask, chat):
    chat.answer_when(JA.retrieval_need, answer=verdict("no", 0.1))
    chat.enqueue("4です。")
    run = ask("2足す2は?")
    result = run.result()
    assert started_steps(run.events) == ["decide_retrieval", "answer_from_memory"]
    assert decisions(run.events) == [("answer_from_memory", "no_documents_needed")]
    assert (result.outcome, result.answer, result.citations) == ("from_model", "4です。", ())
    assert result.totals.generations == 1
    assert chat.prompts_with(JA.memory)


@pytest.mark.parametrize(
    "said",
    [verdict("no", 0.3), pytest.param(PROSE, marks=pytest.mark.soak), ServiceBusy(host="h")],
    ids=["not sure", "unreadable", "failed"],
)
def test_in_doubt_documents_are_searched(ask, chat, said):
    chat.answer_when(JA.retrieval_need, answer=said)
    run = ask()
    assert run.result().status == "finished"
    assert started_steps(run.events)[:2] == ["decide_retrieval", "retrieve"]
    [decided] = finished(run.events, "decide_retrieval")
    assert (decided.fallback is not None) == isinstance(said, ServiceBusy)
    assert (decided.detail.needed, decided.verdict) == (True, "unknown")


def test_an_answer_that_cannot_be_written_is_not_chosen_and_told(ask, chat):
    answers(chat)
    chat.answer_when(JA.answer, "グリーン車", answer=ServiceBusy(host="h"))
    run = ask()
    assert run.result().outcome == "confirmed"
    [written] = finished(run.events, "write_candidates")
    assert len(written.detail.candidates) == 3
    assert (written.fallback.code, written.error) == ("service_busy", None)
    [failed] = written.detail.failed
    assert "グリーン車" in failed.passage.text
    assert (failed.error.code, failed.relevance.verdict) == ("service_busy", "no")


def test_when_no_answer_can_be_written_the_run_fails_with_the_reason(ask, chat):
    chat.answer_when(JA.answer, answer=ServiceBusy(host="h"))
    result = ask().result()
    assert (result.status, result.error.code) == ("failed", "service_busy")


@pytest.mark.parametrize("grader", [JA.relevance, JA.grounding, pytest.param(JA.usefulness, marks=pytest.mark.soak)])
def test_a_grade_that_fails_counts_as_not_graded(ask, chat, grader):
    chat.answer_when(grader, answer=ServiceBusy(host="h"))
    chat.default = ANSWER
    run = ask()
    result = run.result()
    assert result.outcome == ("confirmed" if grader == JA.relevance else "unconfirmed")
    [written] = finished(run.events, "write_candidates")
    assert written.fallback.code == "service_busy"
    assert all(each.is_grounded for each in written.detail.candidates)


# Also in test_self_rag.py::test_when_no_grade_of_a_passage_can_be_read_the_run_fails_and_names_what_helps.
@pytest.mark.soak
def test_a_model_of_which_no_grade_can_be_read_fails_the_run(ask, chat):
    for grader in (JA.relevance, JA.grounding, JA.usefulness):
        chat.answer_when(grader, answer=PROSE)
    assert ask().result().error.code == "no_json"


def test_a_key_that_is_refused_ends_the_others(ask, chat):
    gate = Gate()
    chat.answer_when(JA.answer, answer=Held(gate, ANSWER))
    chat.answer_when(JA.relevance, ALLOWANCE, answer=KeyRefused(host="h", model="m"))
    assert ask().result().error.code == "key_refused"
    assert gate.waiting == 0


def test_stop_ends_all_candidates(ask, chat):
    gate = Gate()
    chat.answer_when(JA.answer, answer=Held(gate, ANSWER))
    run = ask()
    gate.wait_for(4)
    run.stop()
    assert run.result().status == "stopped"
    assert eventually(lambda: gate.waiting == 0)
