"""Fixtures: an engine over a small index in a real store, with a scripted chat model."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from index_store.ingestion.results import IngestStatus
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from rag.runs.engine import UserEngine
from rag.runs.run.run import Run
from rag.settings import Settings
from tests.helpers.embedded_once import EmbeddedOnce
from tests.helpers.local import local_engine
from tests.rag.documents import INDEX, write_documents
from tests.rag.scripted import ScriptedChat, ScriptedSource
from tests.rag.verdicts import approve
from tests.servers import OpenAIServer, TavilyServer

KEY = "sk-test-7f3a9c1e"
TAVILY_KEY = "tvly-test-5b2d8e4f"


@pytest.fixture(scope="session")
def embeddings() -> EmbeddedEmbeddings:
    return EmbeddedOnce()


@pytest.fixture(scope="session")
def loaded_folder(tmp_path_factory, embeddings) -> Path:
    """A data folder with the documents loaded; tests use copies of it."""
    folder = tmp_path_factory.mktemp("loaded") / "data"
    with IndexStore(Settings(data_dir=folder, database_url=None), embeddings) as store:
        for file in write_documents(tmp_path_factory.mktemp("documents")):
            assert store.add(INDEX, file, file.name).status is IngestStatus.READY
    return folder


@pytest.fixture
def loaded(loaded_folder: Path, data_dir: Path) -> Path:
    """This test's DATA_DIR, with the documents loaded."""
    return shutil.copytree(loaded_folder, data_dir)


@pytest.fixture(scope="session")
def embedded_engine(loaded_folder: Path, embedded_model: Path, tmp_path_factory) -> Iterator[UserEngine]:
    """With the real embedded model, which takes seconds to start. Only for tests that do not change the documents."""
    folder = shutil.copytree(loaded_folder, tmp_path_factory.mktemp("embedded") / "data")
    with local_engine(Settings(data_dir=folder, embedded_model=embedded_model)) as engine:
        yield engine


@pytest.fixture(scope="session")
def embedded_run(embedded_engine: UserEngine) -> Run:
    """A run of Self-RAG with the real embedded model. The question and its document are in different languages."""
    run = embedded_engine.ask("VPNクライアントの名前は何ですか?", index=INDEX, pipeline_name="self_rag")
    run.result()
    return run


class LentStore(IndexStore):
    """A store with the documents, opened once for many tests. It stays open when an engine closes it."""

    def close(self) -> None:
        """Does nothing; see `close_for_good`."""

    def close_for_good(self) -> None:
        super().close()

    def contents(self) -> list[object]:
        """Stays the same if a test only asks questions."""
        return [*self.indexes(), *self.documents(), *self.ingestions]


class Lender:
    """Opens the store at the first request, and again, with a new copy, after a test that changed it."""

    def __init__(self, loaded_folder: Path, embeddings: EmbeddedEmbeddings, tmp_path_factory) -> None:
        self._loaded_folder = loaded_folder
        self._embeddings = embeddings
        self._new_folder = lambda: tmp_path_factory.mktemp("lent") / "data"
        self._store: LentStore | None = None
        self._contents: list[object] = []

    def lend(self) -> LentStore:
        if not self._store:
            folder = shutil.copytree(self._loaded_folder, self._new_folder())
            self._store = LentStore(Settings(data_dir=folder, database_url=None), self._embeddings)
            self._contents = self._store.contents()
        return self._store

    def take_back(self) -> None:
        if self._store and self._store.contents() != self._contents:
            self.close()

    def close(self) -> None:
        if self._store:
            self._store.close_for_good()
        self._store = None


@pytest.fixture(scope="session")
def lender(loaded_folder: Path, embeddings: EmbeddedEmbeddings, tmp_path_factory) -> Iterator[Lender]:
    lender = Lender(loaded_folder, embeddings, tmp_path_factory)
    yield lender
    lender.close()


@pytest.fixture
def store(lender: Lender) -> Iterator[IndexStore]:
    """The store with the documents; a test may change it."""
    yield lender.lend()
    lender.take_back()


@pytest.fixture
def chat() -> ScriptedChat:
    return ScriptedChat()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=KEY) as server:
        yield server


@pytest.fixture
def tavily() -> Iterator[TavilyServer]:
    with TavilyServer(key=TAVILY_KEY) as server:
        yield server


Opener = Callable[..., UserEngine]


@pytest.fixture
def open_engine(store: IndexStore, data_dir: Path, database: SecretStr | None) -> Iterator[Opener]:
    """Opens an engine over the documents. Its model is the scripted `chat`, or the service at `server` with `key`.

    Without `tavily`, there is no web search. The other arguments are settings. Speculative answers are off by default,
    because they take answers from the script. Each test has its own history and uploads. The history may be in
    Postgres; the documents are always files, because many tests share them.
    """
    with ExitStack() as opened:

        def open_engine(
            chat: ScriptedChat | None = None,
            *,
            server: OpenAIServer | None = None,
            key: str = KEY,
            tavily: TavilyServer | None = None,
            starts: bool = False,
            regenerates: bool = True,
            **values: object,
        ) -> UserEngine:
            if server:
                values = {
                    "openai_api_key": key,
                    "openai_base_url": server.base_url,
                    "chat_model": "test-chat",
                    "embedding_model": "embedded",
                    "model_timeout": 60,
                    "model_retries": 0,
                } | values
            if tavily:
                values = {"tavily_api_key": TAVILY_KEY, "tavily_base_url": tavily.url} | values
            else:
                values = {"web_search": "off"} | values
            settings = Settings(data_dir=data_dir, **({"draft_ahead": False} | values))
            source = None
            if chat:
                source = ScriptedSource(chat, starts=starts, speculates=settings.draft_ahead, regenerates=regenerates)
            return opened.enter_context(local_engine(settings, store=store, source=source))

        yield open_engine


@pytest.fixture
def engine(open_engine: Opener, chat: ScriptedChat) -> UserEngine:
    return open_engine(chat)


@pytest.fixture
def opened(loaded: Path, chat: ScriptedChat, embeddings: EmbeddedEmbeddings) -> Callable[..., Any]:
    """Opens an engine on the data folder of this test, any number of times. The arguments are settings."""
    approve(chat)

    def opened(**values: object) -> AbstractContextManager[UserEngine]:
        settings = Settings(data_dir=loaded, web_search="off", draft_ahead=False, **values)
        return local_engine(settings, store=IndexStore(settings, embeddings), source=ScriptedSource(chat))

    return opened
