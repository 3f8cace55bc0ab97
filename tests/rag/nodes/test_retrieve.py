"""Retrieval while documents are being added, and while an embedding service is slow."""

import pytest

from index_store.ingestion.sources import FileSource
from rag.runs.engine import SEARCH_THREADS, UserEngine
from rag.settings import Settings
from rag.trace.details import RetrievalDetail
from tests.helpers.local import local_engine
from tests.helpers.waiting import PATIENCE, eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.rag.reading import finished
from tests.rag.scripted import ScriptedChat, ScriptedSource

QUESTION = "What is the daily allowance?"


@pytest.fixture
def service():
    with EmbeddingService() as service:
        service.let_through = QUESTION
        yield service


@pytest.fixture
def engine(service, data_dir, chat):
    settings = Settings(
        data_dir=data_dir, openai_api_key="k", openai_base_url=service.base_url, embedding_model="model-a",
        web_search="off", draft_ahead=False, runs_per_person=50,
    )  # fmt: skip
    with local_engine(settings, source=ScriptedSource(chat)) as engine:
        yield engine


def test_an_answer_counts_the_documents_that_were_being_added_until_all_are_ready(
    engine: UserEngine, service: EmbeddingService, chat: ScriptedChat, tmp_path
):
    chat.default = "It is 2,500 yen [1]."
    files = [tmp_path / name for name in ("travel.md", "security.md", "leave.md")]
    for file in files:
        file.write_text(f"# {file.stem}\n\nThe rules of {file.stem}.\n", encoding="utf-8")
    assert engine.store.add("handbook", files[0]).error is None
    service.is_held = True
    job = engine.store.ingest("handbook", [FileSource(file) for file in files[1:]])
    assert eventually(lambda: engine.store.pending("handbook") == 2)
    early = engine.ask(QUESTION, index="handbook", pipeline_name="naive")
    assert early.result().pending == 2
    [search] = finished(early.events, "retrieve")
    assert isinstance(search.detail, RetrievalDetail)
    assert search.detail.pending == 2
    service.is_held = False
    assert [each.error for each in job.wait()] == [None, None]
    late = engine.ask(QUESTION, index="handbook", pipeline_name="naive")
    assert late.result().pending == 0


def test_searches_wait_for_a_slow_service_at_the_same_time_and_each_run_can_be_stopped(
    engine: UserEngine, service: EmbeddingService, chat: ScriptedChat, tmp_path
):
    chat.default = "It is 2,500 yen [1]."
    file = tmp_path / "travel.md"
    file.write_text("# Travel\n\nThe daily allowance is 2,500 yen.\n", encoding="utf-8")
    assert engine.store.add("handbook", file).error is None
    service.is_held, service.let_through = True, None
    before = len(service.calls)
    waiting = [
        engine.ask(f"Who pays for {number} taxis?", index="handbook", pipeline_name="naive")
        for number in range(SEARCH_THREADS)
    ]
    assert eventually(lambda: len(service.calls) - before == SEARCH_THREADS)
    waiting[0].stop()
    assert waiting[0].wait(PATIENCE)
    assert [run.is_finished for run in waiting] == [True] + [False] * (SEARCH_THREADS - 1)
    service.is_held = False
    assert [run.result().status for run in waiting] == ["stopped"] + ["finished"] * (SEARCH_THREADS - 1)
