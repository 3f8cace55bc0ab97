"""The embedded models answer for real: slow, so a single run a language."""

import asyncio

import pytest

from rag.engine import Engine
from rag.keywords import standing_in
from rag.language import language_of
from rag.models import EmbeddedSource, Meter
from rag.settings import Settings
from tests.rag.documents import INDEX


@pytest.mark.embedded
def test_without_any_key_self_rag_answers_in_both_languages_and_cites_the_right_document(loaded, embedded_model):
    with Engine(Settings(data_dir=loaded, embedded_model=embedded_model)) as engine:
        for question, fact, source in (
            ("出張の日当は1日いくらですか?", "2,500", "travel.ja.md"),
            ("What is the VPN client called?", "HazeGate", "vpn.en.md"),
        ):
            result = engine.ask(question, index=INDEX, pipeline_name="self_rag").result()
            assert result.status == "finished", result.error
            assert fact in result.answer
            assert source in [citation.source for citation in result.citations]
            assert result.totals.tokens > 0


@pytest.mark.embedded
def test_search_words_are_copied_out_of_the_question(data_dir, embedded_model):
    async def ask(*questions: str) -> list[tuple[str, ...]]:
        source = EmbeddedSource(Settings(data_dir=data_dir, embedded_model=embedded_model))
        try:
            model = source.open()
            return [
                standing_in(each, await model.keywords(model.prompts.keywords(each, language_of(each)), Meter()))
                for each in questions
            ]
        finally:
            await source.close()

    words = asyncio.run(ask("グリーン車の利用には誰の承認が必要ですか", "What is the VPN client called?"))
    assert "グリーン車" in words[0]
    assert "VPN client" in words[1]
