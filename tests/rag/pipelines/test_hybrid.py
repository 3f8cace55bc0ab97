"""Hybrid search: the search words that the model picks, and what happens if they are not usable."""

import json
from importlib import import_module

import pytest

from index_store.base.errors import ServiceBusy
from rag.errors import EmptyReply
from rag.models.chat_model import Keywords
from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.trace.passages import Retrieval
from tests.helpers.back_doors import process_of
from tests.rag.documents import ALLOWANCE, ANSWER, INDEX, QUESTION
from tests.rag.reading import finished, started_steps, tokens
from tests.rag.scripted import Gate, Held

OWN = ("出張", "日当")


def words(*named: str) -> str:
    return json.dumps({"words": named}, ensure_ascii=False)


@pytest.fixture
def ask(engine, chat):
    chat.default = ANSWER

    def ask(question: str = QUESTION, **options):
        return engine.ask(question, index=INDEX, pipeline_name="hybrid", **options)

    return ask


def test_the_words_that_the_model_picks_are_what_the_keyword_side_is_asked(ask, chat):
    chat.answer_when(JA.keywords, answer=words("日当"))
    run = ask()
    result = run.result()
    assert started_steps(run.events) == ["extract_keywords", "retrieve", "generate"]
    [extracted], [retrieved] = finished(run.events, "extract_keywords"), finished(run.events, "retrieve")
    assert (extracted.verdict, extracted.model_calls) == ("yes", 1)
    assert (extracted.detail.words, extracted.detail.own_words, extracted.detail.why) == (("日当",), OWN, None)
    assert (retrieved.detail.mode, retrieved.detail.query, retrieved.detail.words) == ("hybrid", QUESTION, ("日当",))
    assert (result.answer, result.totals.model_calls) == (ANSWER, 2)


def test_the_words_reach_the_search_itself(ask, chat):
    chat.answer_when(JA.keywords, answer=words("グリーン車"))
    run = ask("出張の日当はいくらで、グリーン車には誰の承認が必要ですか")
    run.result()
    by_keyword = {
        passage.headings: passage.keyword_rank for passage in finished(run.events, "retrieve")[0].detail.passages
    }
    assert by_keyword["第5条 鉄道",] == 1
    assert by_keyword["第3条 日当",] is None


def test_every_hit_has_the_ranks_of_both_sides(ask, chat):
    chat.answer_when(JA.keywords, answer=words("日当"))
    run = ask()
    run.result()
    first, *others = finished(run.events, "retrieve")[0].detail.passages
    assert ALLOWANCE in first.text
    assert (first.rank, first.vector_rank, first.keyword_rank) == (1, 1, 1)
    assert first.score > max(passage.score for passage in others)
    assert 0 < first.keyword_score <= 1
    assert -1 <= first.vector_score <= 1
    assert [passage.keyword_rank for passage in others] == [None] * 3


@pytest.mark.parametrize(
    ("answer", "named", "why"),
    [
        pytest.param(words(), (), "none", marks=pytest.mark.soak),
        (words("経費", "Spesen"), ("経費", "Spesen"), "none"),
        pytest.param(
            "I would rather talk about the weather.",
            ("I would rather talk about the weather",),
            "none",
            marks=pytest.mark.soak,
        ),
        pytest.param(words("は"), ("は",), "none", marks=pytest.mark.soak),
        (words(*"出張の日当いくらです"), tuple("出張の日当いくらです"), "too_many"),
    ],
    ids=["none", "invented", "prose", "a particle", "more than eight"],
)
def test_words_of_no_use_give_way_to_the_questions_own(ask, chat, answer, named, why):
    chat.answer_when(JA.keywords, answer=answer)
    run = ask()
    assert run.result().answer == ANSWER
    [extracted] = finished(run.events, "extract_keywords")
    assert extracted.verdict == "no"
    assert (extracted.detail.words, extracted.detail.why, extracted.detail.own_words) == ((), why, OWN)
    assert extracted.detail.named == named
    [retrieved] = finished(run.events, "retrieve")
    assert retrieved.detail.words is None
    assert retrieved.detail.passages[0].keyword_rank == 1


def test_words_that_do_not_stand_in_the_question_are_dropped_from_those_that_do(ask, chat):
    chat.answer_when(JA.keywords, answer=words("旅費規程", "日当", "日當"))
    run = ask()
    run.result()
    [extracted] = finished(run.events, "extract_keywords")
    assert extracted.detail.words == ("日当",)
    assert extracted.detail.named == ("旅費規程", "日当", "日當")


def test_words_that_the_model_itself_does_not_stand_by_are_not_searched(ask, engine, monkeypatch):
    async def extract_keywords(question, usage, *, language):
        return Keywords(named=("宿泊費", "价格"), kept=("宿泊費",), why_not="invented")

    monkeypatch.setattr(process_of(engine)._models.usual.open(), "extract_keywords", extract_keywords)
    run = ask("宿泊費の価格は?")
    assert run.result().status == "finished"
    [extracted] = finished(run.events, "extract_keywords")
    assert (extracted.detail.words, extracted.detail.why) == ((), "invented")
    assert extracted.detail.named == ("宿泊費", "价格")


@pytest.mark.parametrize(
    "error",
    [ServiceBusy(host="h"), pytest.param(EmptyReply(model="m"), marks=pytest.mark.soak)],
    ids=lambda error: type(error).__name__,
)
def test_a_model_that_fails_at_it_costs_the_words_and_not_the_run(ask, chat, error):
    chat.answer_when(JA.keywords, answer=error)
    run = ask()
    assert (run.result().status, run.result().answer) == ("finished", ANSWER)
    [extracted] = finished(run.events, "extract_keywords")
    assert (extracted.verdict, extracted.error, extracted.detail.why) == ("no", None, "failed")
    assert extracted.detail.error == error.as_failure()
    assert finished(run.events, "retrieve")[0].detail.words is None


def test_a_model_that_takes_too_long_over_it_is_not_waited_for(ask, chat, monkeypatch):
    monkeypatch.setattr(import_module("rag.nodes.extract_keywords"), "TIME_LIMIT", 0.1)
    gate = Gate()
    chat.answer_when(JA.keywords, answer=Held(gate, words("日当")))
    run = ask()
    assert run.result().status == "finished"
    [extracted] = finished(run.events, "extract_keywords")
    assert (extracted.detail.why, extracted.detail.error.code) == ("failed", "model_too_slow")
    assert gate.waiting == 0


def test_stop_ends_it_in_the_midst_of_picking(ask, chat):
    gate = Gate()
    chat.answer_when(JA.keywords, answer=Held(gate, words("日当")))
    run = ask()
    gate.wait_for(1)
    run.stop()
    assert run.result().status == "stopped"
    assert [step.verdict for step in finished(run.events, "extract_keywords")] == ["stopped"]


def test_a_search_without_a_keyword_side_needs_no_words_and_asks_for_none(ask, chat):
    run = ask(retrieval=Retrieval(mode="vector"))
    assert run.result().totals.model_calls == 1
    [extracted] = finished(run.events, "extract_keywords")
    assert (extracted.detail.why, extracted.verdict) == ("no_keyword_side", None)


def test_an_english_question_is_asked_for_its_words_in_english(ask, chat):
    chat.answer_when(EN.keywords, answer=words("annual leave"))
    run = ask("How many days of annual leave do I have?")
    run.result()
    assert finished(run.events, "extract_keywords")[0].detail.words == ("annual leave",)


def test_no_word_of_the_picking_leaks_into_the_answer(ask, chat):
    chat.answer_when(JA.keywords, answer=words("日当", "xylophone"))
    run = ask()
    assert "xylophone" not in tokens(run.events) + run.result().answer
