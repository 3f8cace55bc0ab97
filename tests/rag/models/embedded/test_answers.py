"""The embedded models answer for real: slow, so a single run a language."""

import asyncio

import pytest

from rag.models.embedded.source import EmbeddedSource
from rag.models.usage import Usage
from rag.settings import Settings
from rag.text.language import is_written_in, language_of
from tests.rag.documents import INDEX
from tests.rag.reading import finished


@pytest.mark.embedded
def test_without_any_key_self_rag_answers_in_both_languages_and_cites_the_right_document(embedded_engine):
    for question, fact, source in (
        ("出張の日当は1日いくらですか?", "2,500", "travel.ja.md"),
        ("What is the VPN client called?", "HazeGate", "vpn.en.md"),
    ):
        run = embedded_engine.ask(question, index=INDEX, pipeline_name="self_rag")
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
def test_it_answers_in_the_language_of_the_question_and_understands_a_follow_up(embedded_engine):
    first = embedded_engine.ask("VPNクライアントの名前は何ですか?", index=INDEX, pipeline_name="naive")
    result = first.result()
    assert result.status == "finished", result.error
    assert "HazeGate" in result.answer
    assert is_written_in(result.answer, "ja")
    follow_up = embedded_engine.ask(
        "それはどこからインストールしますか?",
        index=INDEX,
        pipeline_name="naive",
        conversation_id=first.conversation_id,
    )
    result = follow_up.result()
    assert result.status == "finished", result.error
    assert is_written_in(result.answer, "ja")
    [understood] = finished(follow_up.events, "standalone_question")
    assert is_written_in(understood.detail.after, "ja")


@pytest.mark.embedded
def test_search_words_are_copied_out_of_the_question(data_dir, embedded_model):
    async def ask(*questions: str) -> list[tuple[str, ...]]:
        source = EmbeddedSource(Settings(data_dir=data_dir, embedded_model=embedded_model))
        try:
            model = source.open()
            return [
                (await model.extract_keywords(each, Usage(), language=language_of(each))).kept for each in questions
            ]
        finally:
            await source.close()

    words = asyncio.run(ask("グリーン車の利用には誰の承認が必要ですか", "What is the VPN client called?"))
    assert "グリーン車" in words[0]
    assert "VPN client" in words[1]
