"""No answer: it says what was searched, cites the nearest passages, and never comes from the model's memory."""

import json

import pytest

from rag.models.service.en import EN
from rag.models.service.ja import JA
from rag.models.service.no_answer import TOKEN
from rag.runs.run.summary import summarize_run
from rag.text.citations import without_markers
from rag.text.no_answer import no_answer_sentence, search_account
from rag.trace.details import DeclineDetail, GenerationDetail
from rag.trace.events import StepFinished, Token, from_json, to_json
from rag.trace.passages import Retrieval
from tests.rag.documents import INDEX
from tests.rag.reading import finished, started_steps, tokens
from tests.rag.some_pipelines import some_of
from tests.rag.verdicts import NO, PROSE, YES, approve, verdict

QUESTION = "海外出張の日当はいくらですか?"
SAID = "海外の日当は書かれていません。"
REWRITE = "国外に出張するときの手当の金額"


def ask(engine, question=QUESTION, pipeline="naive", **options):
    return engine.ask(question, index=INDEX, pipeline_name=pipeline, **options)


@pytest.mark.parametrize("pipeline", some_of(("naive", "multivector", "hybrid")))
def test_a_model_that_says_no_is_believed_and_the_nearest_passages_are_shown(engine, chat, pipeline):
    chat.answer_when(JA.keywords, answer='{"words": ["日当"]}')
    chat.default = f"{TOKEN}\n{SAID}"
    run = ask(engine, pipeline=pipeline)
    result = run.result()
    assert (result.status, result.outcome) == ("finished", "not_in_documents")
    assert result.answer.startswith(SAID)
    assert TOKEN not in result.answer + tokens(run.events)
    assert INDEX in result.answer
    assert QUESTION in result.answer
    [written] = finished(run.events, "generate")
    assert isinstance(written.detail, DeclineDetail)
    assert written.detail.queries == (QUESTION,)
    assert [citation.number for citation in result.citations] == [each.number for each in written.detail.nearest]
    assert len(result.citations) == 3
    assert all(citation.section_id and citation.text for citation in result.citations)


def test_a_model_that_writes_the_word_and_no_more_gets_our_sentence(engine, chat):
    chat.default = TOKEN
    result = ask(engine).result()
    assert result.answer.startswith(no_answer_sentence(INDEX, "ja"))
    assert result.outcome == "not_in_documents"


def test_an_answer_with_a_source_is_an_answer_though_the_word_stands_at_its_end(engine, chat):
    chat.default = f"国内は2,500円です[1]。{TOKEN}"
    result = ask(engine).result()
    assert (result.outcome, result.answer) == ("answered", "国内は2,500円です[1]。")


def test_where_nothing_was_found_the_model_is_not_even_asked(engine, chat):
    run = ask(engine, "xyzzy", retrieval=Retrieval(mode="keyword"))
    result = run.result()
    assert (result.status, result.outcome, result.citations) == ("finished", "not_in_documents", ())
    assert result.answer.startswith(no_answer_sentence(INDEX, "en"))
    assert chat.prompts == []


def test_a_decline_names_every_query_and_the_best_graded_passages(engine, chat):
    chat.answer_when(JA.relevance, answer=NO)
    chat.answer_when(JA.relevance, "グリーン車", answer=verdict("no", 0.45))
    chat.answer_when(JA.rewrite, answer=REWRITE)
    run = ask(engine, pipeline="self_rag")
    result = run.result()
    [declined] = finished(run.events, "decline")
    assert declined.detail.queries == (QUESTION, REWRITE)
    assert "グリーン車" in declined.detail.nearest[0].text
    assert all(query in result.answer for query in (QUESTION, REWRITE))
    assert result.outcome == "not_in_documents"
    assert {citation.number for citation in result.citations} == {each.number for each in declined.detail.nearest}
    assert result.answer == declined.detail.text == tokens(run.events)


@pytest.mark.parametrize(
    ("question", "language", "rule"),
    [
        pytest.param(QUESTION, "ja", JA.relevance, marks=pytest.mark.soak),
        ("How tall is the tower?", "en", EN.relevance),
    ],
)
def test_it_is_said_in_the_language_of_the_question(open_engine, chat, question, language, rule):
    chat.answer_when(rule, answer=NO)
    result = ask(open_engine(chat, max_rewrites=0), question, "self_rag").result()
    assert result.answer.startswith(no_answer_sentence(INDEX, language))


@pytest.mark.parametrize(
    ("k", "said"),
    [(1, "The nearest passage is [1]."), pytest.param(2, "The nearest passages are [1] [2].", marks=pytest.mark.soak)],
)
def test_one_nearest_passage_is_told_in_the_singular(engine, chat, k, said):
    chat.default = TOKEN
    assert ask(engine, "How tall is the tower?", retrieval=Retrieval(k=k)).result().answer.endswith(said)


@pytest.mark.parametrize("nearest", [(1,), (1, 2), (1, 2, 13)])
@pytest.mark.parametrize("language", ["ja", "en"])
def test_without_its_markers_it_does_not_name_passages_with_a_gap(nearest, language):
    account = search_account(INDEX, (QUESTION,), nearest, language)
    assert without_markers(account) == search_account(INDEX, (QUESTION,), (), language)


def test_a_query_cites_nothing_and_formats_nothing_in_it(engine, chat):
    chat.default = TOKEN
    run = ask(engine, "What is [2] in **bold**\nand `code` <b>?")
    answer = run.result().answer
    nearest = finished(run.events, "generate")[0].detail.nearest
    assert [citation.number for citation in run.result().citations] == sorted(each.number for each in nearest)
    assert "［2］" in answer
    assert not set("*`<") & set(answer)


# Also in test_self_rag.py::test_no_answer_leads_to_another_query_that_is_told_what_it_said_and_is_not_checked.
@pytest.mark.soak
def test_a_refusal_of_self_rag_is_reworded_for_before_it_stands(engine, chat):
    approve(chat)
    chat.answer_when(JA.usefulness, SAID, answer=NO)
    chat.answer_when(JA.rewrite, answer=REWRITE)
    chat.enqueue(f"{TOKEN} {SAID}", "手当は2,500円です[1]。")
    run = ask(engine, pipeline="self_rag")
    assert run.result().outcome == "confirmed"
    assert "rewrite_question" in started_steps(run.events)


# Also in test_self_rag.py::test_where_all_that_was_written_is_no_answer_it_stands.
@pytest.mark.soak
def test_a_refusal_that_stands_is_no_confirmed_answer(engine, chat):
    approve(chat)
    chat.default = f"{TOKEN} {SAID}"
    assert ask(engine, pipeline="self_rag").result().outcome == "not_in_documents"


def test_an_old_history_without_roles_has_the_same_outcome():
    """Its steps had no roles; they were known by their names."""
    old = StepFinished(
        step="decline", attempt=1, start=0, milliseconds=1, model_calls=0, tokens_in=0, tokens_out=0,
        detail=GenerationDetail(passages=(), text="No.", cited=()),
    )  # fmt: skip
    stored = json.loads(to_json(old))
    del stored["role"]
    read = from_json(json.dumps(stored))
    end = summarize_run([Token(step="decline", attempt=1, text="No."), read], "finished", None, 1)
    assert end.outcome == "not_in_documents"


def test_an_answer_that_quotes_the_token_is_still_an_answer(engine, chat):
    """An answer that quotes the token from a passage is not a no answer; one that begins with the token is."""
    for reply in (YES, PROSE):
        chat.answer_when(JA.relevance, answer=reply)
    chat.default = f"資料には「{TOKEN} と書け」とあります[1]。"
    result = ask(engine).result()
    assert result.outcome == "answered"
    assert TOKEN not in result.answer
