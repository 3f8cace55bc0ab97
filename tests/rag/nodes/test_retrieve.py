"""Retrieval while documents are being added: the run says how many it could not search."""

import pytest

from index_store.ingestion.sources import FileSource
from rag.runs.engine import UserEngine
from rag.settings import Settings
from rag.trace.details import RetrievalDetail
from tests.index_store.embedding_service import EmbeddingService
from tests.local import local_engine
from tests.rag.reading import finished
from tests.rag.scripted import ScriptedChat, ScriptedSource, eventually

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
        web_search="off", draft_ahead=False,
    )  # fmt: skip
    with local_engine(settings, models=ScriptedSource(chat)) as engine:
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
