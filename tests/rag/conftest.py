"""An engine over a small index, on a real store, with a chat model that a test scripts."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from index_store.ingestion.results import IngestStatus
from index_store.store import IndexStore
from index_store.vectors.embeddings import EmbeddedEmbeddings
from rag.runs.engine import Engine
from rag.settings import Settings
from tests.rag.documents import INDEX, write_documents
from tests.rag.scripted import ScriptedChat, ScriptedSource
from tests.servers import OpenAIServer, TavilyServer

KEY = "sk-test-7f3a9c1e"
TAVILY_KEY = "tvly-test-5b2d8e4f"


@pytest.fixture(scope="session")
def embeddings() -> EmbeddedEmbeddings:
    return EmbeddedEmbeddings()


@pytest.fixture(scope="session")
def loaded_folder(tmp_path_factory, embeddings) -> Path:
    """A data folder with the documents loaded, to be copied."""
    folder = tmp_path_factory.mktemp("loaded") / "data"
    with IndexStore(Settings(data_dir=folder), embeddings) as store:
        for file in write_documents(tmp_path_factory.mktemp("documents")):
            assert store.add(INDEX, file, file.name).status is IngestStatus.READY
    return folder


@pytest.fixture
def loaded(loaded_folder: Path, data_dir: Path) -> Path:
    """This test's DATA_DIR, with the documents loaded."""
    return shutil.copytree(loaded_folder, data_dir)


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


Opener = Callable[..., Engine]


@pytest.fixture
def open_engine(loaded: Path, embeddings: EmbeddedEmbeddings) -> Iterator[Opener]:
    """Opens an engine over the documents: with a scripted `chat`, or with the service at `server` and its `key`; with
    the web search at `tavily`, else without any. The other arguments are settings, of which drafts ahead are off unless
    asked for: they take answers out of a script.
    """
    with ExitStack() as opened:

        def open_engine(
            chat: ScriptedChat | None = None,
            *,
            server: OpenAIServer | None = None,
            key: str = KEY,
            tavily: TavilyServer | None = None,
            starts: bool = False,
            corrects: bool = True,
            **values: object,
        ) -> Engine:
            if server:
                values = {
                    "openai_api_key": key,
                    "openai_base_url": server.base_url,
                    "chat_model": "test-chat",
                    "embedding_model": "embedded",
                    "model_timeout": 10,
                    "model_retries": 0,
                } | values
            if tavily:
                values = {"tavily_api_key": TAVILY_KEY, "tavily_base_url": tavily.url} | values
            else:
                values = {"web_search": "off"} | values
            settings = Settings(data_dir=loaded, **({"draft_ahead": False} | values))
            models = None
            if chat:
                models = ScriptedSource(chat, starts=starts, works_ahead=settings.draft_ahead, corrects=corrects)
            return opened.enter_context(Engine(settings, store=IndexStore(settings, embeddings), models=models))

        yield open_engine


@pytest.fixture
def engine(open_engine: Opener, chat: ScriptedChat) -> Engine:
    return open_engine(chat)
