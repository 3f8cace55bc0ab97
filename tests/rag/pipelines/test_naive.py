import pytest

from rag.models.service.en import EN
from rag.models.service.ja import JA
from tests.rag.documents import ALLOWANCE, INDEX, LEAVE
from tests.rag.reading import decisions, finished, started_steps, tokens


def test_it_retrieves_and_then_generates_with_one_call(engine, chat):
    chat.enqueue("日当は1日2,500円です[1]。")
    run = engine.ask("出張の日当はいくらですか?", index=INDEX, pipeline_name="naive")
    result = run.result()
    assert started_steps(run.events) == ["retrieve", "generate"]
    assert decisions(run.events) == []
    assert (result.status, result.outcome) == ("finished", "answered")
    assert result.answer == tokens(run.events) == "日当は1日2,500円です[1]。"
    assert (result.totals.model_calls, result.totals.generations, result.totals.rewrites) == (1, 1, 0)


def test_the_model_reads_what_was_found_and_answers_in_the_language_of_the_question(engine, chat):
    engine.ask("出張の日当はいくらですか?", index=INDEX, pipeline_name="naive").result()
    engine.ask("How many days of annual leave do I have?", index=INDEX, pipeline_name="naive").result()
    japanese, english = chat.prompts
    assert japanese.startswith(JA.answer)
    assert ALLOWANCE in japanese
    assert "質問: 出張の日当はいくらですか?" in japanese
    assert english.startswith(EN.answer)
    assert LEAVE in english
    assert "Question: How many days of annual leave do I have?" in english


def test_the_first_passage_is_the_nearest_and_a_citation_holds_all_of_it(engine, chat):
    chat.enqueue("日当は1日2,500円です[1]。")
    run = engine.ask("出張の日当はいくらですか?", index=INDEX, pipeline_name="naive")
    [citation] = run.result().citations
    [retrieved] = finished(run.events, "retrieve")
    first, *others = retrieved.detail.passages
    assert citation.number == first.number == first.rank == 1
    assert (citation.source, citation.title, citation.headings) == ("travel.ja.md", "出張旅費規程", ("第3条 日当",))
    assert ALLOWANCE in citation.text
    assert len(others) == 3
    assert first.score >= max(passage.score for passage in others)
    section = engine.store.section(citation.section_id)
    assert section.text[citation.start : citation.end] == citation.text


def test_a_number_that_no_passage_has_is_not_shown(engine, chat):
    chat.enqueue("日当は2,500円です[1][9]。")
    result = engine.ask("日当は?", index=INDEX, pipeline_name="naive").result()
    assert result.answer == "日当は2,500円です[1]。"
    assert [citation.number for citation in result.citations] == [1]


@pytest.mark.parametrize(
    "written", ["[9]", pytest.param("[1]", marks=pytest.mark.soak), pytest.param(" [1] [2]\n", marks=pytest.mark.soak)]
)
def test_an_answer_of_only_markers_is_an_empty_reply(engine, chat, written):
    chat.enqueue(written)
    result = engine.ask("日当は?", index=INDEX, pipeline_name="naive").result()
    assert (result.status, result.error.code) == ("failed", "empty_reply")


def test_an_answer_that_only_says_in_other_words_that_there_is_none_is_no_answer(engine, chat):
    chat.enqueue("資料には記載がありません。")
    run = engine.ask("海外の日当は?", index=INDEX, pipeline_name="naive")
    result = run.result()
    assert result.outcome == "not_in_documents"
    assert result.answer.startswith("資料には記載がありません。\n\n")
