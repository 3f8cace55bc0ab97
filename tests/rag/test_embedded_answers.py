"""The embedded models answer for real: slow, so a single run a language."""

import pytest

from rag.engine import Engine
from rag.settings import Settings
from tests.rag.documents import INDEX
from tests.rag.reading import finished


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
def test_without_any_key_search_words_are_copied_out_of_the_question(loaded, embedded_model):
    with Engine(Settings(data_dir=loaded, embedded_model=embedded_model)) as engine:
        for question, word in (
            ("グリーン車の利用には誰の承認が必要ですか", "グリーン車"),
            ("What is the VPN client called?", "VPN client"),
        ):
            run = engine.ask(question, index=INDEX, pipeline_name="hybrid")
            assert run.result().status == "finished"
            assert word in finished(run.events, "extract_keywords")[0].detail.words
