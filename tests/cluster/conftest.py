from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.conftest import ARGUMENTS, KEY, chromium, installed_chromium
from tests.browser.visitor import Visitor
from tests.cluster.topology import Topology
from tests.helpers.handbook import YES
from tests.servers import OpenAIServer
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PostgresServer

__all__ = ["chromium"]

Open = Callable[[], BrowserContext]
Visit = Callable[[], Visitor]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """The model service. It finds all passages relevant and all answers good."""
    with OpenAIServer() as server:
        server.answer_when(lambda request: request.schema is not None, YES)
        yield server


@pytest.fixture
def topology(
    tmp_path: Path, postgres: PostgresServer, chroma: ChromaServer, server: OpenAIServer
) -> Iterator[Topology]:
    with Topology(
        tmp_path,
        postgres,
        chroma,
        AUTH="none",
        ALLOW_ANONYMOUS="true",
        OPENAI_BASE_URL=server.base_url,
        OPENAI_API_KEY=KEY,
        EMBEDDING_MODEL="test-embedding",
        SUGGEST_FOLLOW_UPS="off",
    ) as topology:
        yield topology


@pytest.fixture
def open_browser(chromium: Browser, topology: Topology) -> Iterator[Open]:
    """Opens a browser for a new visitor. It connects to Caddy by its host name."""
    arguments = [*ARGUMENTS, *topology.host.browser_arguments]
    browser = chromium.browser_type.launch(executable_path=installed_chromium(), args=arguments)
    yield lambda: browser.new_context(locale="en-US")
    browser.close()


@pytest.fixture
def visit(topology: Topology, open_browser: Open) -> Visit:
    """Opens the page through Caddy for a new visitor."""
    return lambda: Visitor(open_browser(), f"{topology.url}/", "en")
