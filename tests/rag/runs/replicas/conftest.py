"""Fixtures: engines that share a Postgres, a Chroma server and a data folder."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pydantic import SecretStr

from index_store.ingestion.results import IngestStatus
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from rag.runs.engine import UserEngine
from rag.settings import Settings
from tests.helpers.local import local_engine
from tests.rag.documents import INDEX, write_documents
from tests.rag.scripted import ScriptedChat, ScriptedSource
from tests.rag.verdicts import approve
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PostgresServer

Open = Callable[..., UserEngine]


@pytest.fixture(scope="module")
def shared(
    postgres: PostgresServer, chroma: ChromaServer, embeddings: EmbeddedEmbeddings, tmp_path_factory
) -> Iterator[Settings]:
    """Settings of all these engines. The documents are loaded."""
    url = postgres.new_database()
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("shared") / "data",
        database_url=SecretStr(url),
        chroma_url=SecretStr(chroma.url),
        web_search="off",
        draft_ahead=False,
    )
    with IndexStore(settings, embeddings) as store:
        for file in write_documents(tmp_path_factory.mktemp("documents")):
            assert store.add(INDEX, file, file.name).status is IngestStatus.READY
    yield settings
    postgres.drop(url)


@pytest.fixture
def replica(shared: Settings, embeddings: EmbeddedEmbeddings) -> Iterator[Open]:
    """Opens an engine with the scripted model `chat`. The other arguments are settings."""
    with ExitStack() as opened:

        def replica(chat: ScriptedChat, **values: object) -> UserEngine:
            approve(chat)
            settings = shared.model_copy(update=values)
            store = IndexStore(settings, embeddings)
            return opened.enter_context(local_engine(settings, store=store, source=ScriptedSource(chat)))

        yield replica


@pytest.fixture
def folder(shared: Settings) -> Path:
    return shared.data_dir
