"""Answers of the real embedded model. It is slow, so `make test` has only one run and a follow-up to it."""

import pytest

from rag.models.calls.usage import Usage
from rag.runs.run.run import Run
from rag.text.language import is_written_in, language_of
from tests.rag.documents import INDEX
from tests.rag.models.embedded.running import ask_running
from tests.rag.reading import finished


def assert_answered(run: Run, fact: str, source: str) -> None:
    result = run.result()
    assert result.status == "finished", result.error
    assert fact in result.answer
    assert source in [citation.source for citation in result.citations]
    assert result.totals.tokens > 0
    check = finished(run.events, "check_grounding")[-1]
    assert [factor.en for factor in check.detail.grade.explanation.factors] == [
        "yes or no",
        "how surely it was written",
    ]


@pytest.mark.embedded
def test_without_any_key_self_rag_answers_in_the_language_of_the_question_and_cites_the_right_document(embedded_run):
    assert_answered(embedded_run, "HazeGate", "vpn.en.md")
    assert embedded_run.result().outcome == "confirmed"
    assert is_written_in(embedded_run.result().answer, "ja")


@pytest.mark.soak
@pytest.mark.embedded
@pytest.mark.parametrize(
    ("question", "fact", "source"),
    [
        ("出張の日当は1日いくらですか?", "2,500", "travel.ja.md"),
        ("What is the VPN client called?", "HazeGate", "vpn.en.md"),
    ],
)
def test_self_rag_answers_in_both_languages_and_cites_the_right_document(embedded_engine, question, fact, source):
    assert_answered(embedded_engine.ask(question, index=INDEX, pipeline_name="self_rag"), fact, source)


@pytest.mark.soak
@pytest.mark.embedded
def test_naive_rag_answers_in_the_language_of_the_question(embedded_engine):
    result = embedded_engine.ask("VPNクライアントの名前は何ですか?", index=INDEX, pipeline_name="naive").result()
    assert result.status == "finished", result.error
    assert "HazeGate" in result.answer
    assert is_written_in(result.answer, "ja")


@pytest.mark.embedded
def test_it_understands_a_follow_up(embedded_engine, embedded_run):
    follow_up = embedded_engine.ask(
        "それはどこからインストールしますか?",
        index=INDEX,
        pipeline_name="naive",
        conversation_id=embedded_run.conversation_id,
    )
    result = follow_up.result()
    assert result.status == "finished", result.error
    assert is_written_in(result.answer, "ja")
    [understood] = finished(follow_up.events, "standalone_question")
    assert is_written_in(understood.detail.after, "ja")


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("グリーン車の利用には誰の承認が必要ですか", "グリーン車"),
        pytest.param("What is the VPN client called?", "VPN client", marks=pytest.mark.soak),
    ],
)
def test_search_words_are_copied_out_of_the_question(embedded_engine, question, word):
    words = ask_running(
        embedded_engine, lambda model: model.extract_keywords(question, Usage(), language=language_of(question))
    )
    assert word in words.kept
