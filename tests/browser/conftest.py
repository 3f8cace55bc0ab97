"""Chromium, the app and the model service, one of each for all tests of this folder; a visitor for each test."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

from rag.text.language import Language
from tests.browser.app import App
from tests.browser.visitor import Visitor
from tests.servers import OpenAIServer, TavilyServer

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
YES = json.dumps({"reason": "It says so.", "verdict": "yes", "score": 0.9})
LOCALES: dict[Language, str] = {"ja": "ja-JP", "en": "en-US"}

Visit = Callable[..., Visitor]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    visitors = item.stash.get(VISITORS, [])
    if report.failed and visitors:
        folder = Path(tempfile.mkdtemp(prefix="screenshots-"))
        for number, visitor in enumerate(visitors):
            if not visitor.page.is_closed():
                visitor.page.screenshot(path=folder / f"{item.name}-{number}.png", full_page=True)
        report.longrepr.addsection("What the browser showed", str(folder))
    return report


VISITORS = pytest.StashKey[list[Visitor]]()


# For the package, not the session: while Playwright runs, `asyncio.run` of other tests can't.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        installed = shutil.which("chromium") or shutil.which("google-chrome")
        try:
            browser = playwright.chromium.launch(executable_path=installed, args=ARGUMENTS)
        except Error as error:
            pytest.skip(f"there is no Chromium (`make chromium` installs it): {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def shared_server() -> Iterator[OpenAIServer]:
    """It finds all passages relevant and all answers good, and takes a second for each answer."""
    with OpenAIServer(delay=0.1, token_seconds=0.03) as server:
        server.answer_when(lambda request: request.schema is not None, YES)
        yield server


@pytest.fixture
def server(shared_server: OpenAIServer) -> Iterator[OpenAIServer]:
    yield shared_server
    shared_server.recovers()
    shared_server.key = None


@pytest.fixture(scope="package")
def shared_tavily() -> Iterator[TavilyServer]:
    with TavilyServer() as server:
        yield server


@pytest.fixture
def tavily(shared_tavily: TavilyServer) -> Iterator[TavilyServer]:
    yield shared_tavily
    shared_tavily.recovers()
    shared_tavily.default = []


@pytest.fixture(scope="package")
def app(
    shared_server: OpenAIServer, shared_tavily: TavilyServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    app = App(
        tmp_path_factory.mktemp("app"),
        OPENAI_BASE_URL=shared_server.base_url,
        OPENAI_API_KEY="sk-of-the-tests",
        EMBEDDING_MODEL="embedded",
        MODEL_RETRIES="0",
        TAVILY_API_KEY="tvly-of-the-tests",
        TAVILY_BASE_URL=shared_tavily.url,
        CRAWL_ALLOWED="127.0.0.1",
        CRAWL_RATE="50",
    )
    app.start()
    yield app
    app.stop()


@pytest.fixture
def visit(chromium: Browser, app: App, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Opens the page for someone new. Whatever they do, nothing may be asked of another host, and nothing may break."""
    visitors = request.node.stash.setdefault(VISITORS, [])
    contexts = []

    def open_page(language: Language = "en", *, path: str = "", width: int = 1280) -> Visitor:
        context = chromium.new_context(locale=LOCALES[language], viewport={"width": width, "height": 900})
        contexts.append(context)
        visitors.append(Visitor(context, app.url + path, language))
        return visitors[-1]

    yield open_page
    foreign = [address for visitor in visitors for address in visitor.foreign_addresses]
    complaints = [complaint for visitor in visitors for complaint in visitor.complaints]
    for context in contexts:
        context.close()
    assert foreign == []
    assert complaints == []


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    file = tmp_path / "travel.md"
    file.write_text(
        "# 出張旅費規程\n\n## 日当\n\n一般社員の国内出張の日当は1日2,500円です。\n\n"
        "## Trains\n\nThe green car needs the approval of a director.\n",
        encoding="utf-8",
    )
    return file


@pytest.fixture
def loaded(visit: Visit, handbook: Path) -> Visitor:
    """Someone who has added the handbook, or found it there."""
    visitor = visit()
    visitor.upload(handbook)
    return visitor
