"""Chromium and a server process for all tests of this folder; all else is new for each test.

Each test has its own data folder, engine, services and visitors, so it finds nothing of an earlier test.
"""

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect, sync_playwright

from index_store.base.settings.settings import Settings
from index_store.store.index_store import IndexStore
from rag.runs.in_flight.run_at_work import RunAtWork
from rag.settings import Settings as RagSettings
from rag.text.language import Language
from tests.browser.app_process import App
from tests.browser.visitor import Scheme, Visitor
from tests.helpers.handbook import HANDBOOK, YES
from tests.helpers.local import local_engine
from tests.servers import OpenAIServer, TavilyServer

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
"""names to look for; the first one is Chromium without windows, which opens a page in two thirds of the time"""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--renderer-process-limit=1",  # scripts that one page has compiled are used by the next
]
FOR_SHORT_VISITS = [
    # Compiled code is kept, nothing is compiled while it arrives, and no code is optimized: that is not worth it for a
    # page that is open for seconds.
    "--js-flags=--no-flush-bytecode --no-opt --no-maglev",
    # After the names that Playwright turns off itself: if there are several lists, Chromium uses only the last.
    "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,MediaRouter,"
    "OptimizationHints,PaintHolding,ThirdPartyStoragePartitioning,ScriptStreaming",
    # Animations, such as those of Streamlit while it waits, are drawn 60 times a second: a twelfth of the tests' time.
    "--force-prefers-reduced-motion",
]
"""added to ARGUMENTS where nothing is measured"""
EXPECTED = 20_000
"""milliseconds for what a page shows immediately, on a busy machine"""
KEY = "sk-of-the-tests"
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


def installed_chromium() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


# For the package, not the session: while Playwright runs, other tests can't call `asyncio.run`.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=installed_chromium(), args=[*ARGUMENTS, *FOR_SHORT_VISITS]
            )
        except Error as error:
            pytest.skip(f"there is no Chromium (`make chromium` installs it): {error.message.splitlines()[0]}")
        expect.set_options(timeout=EXPECTED)
        yield browser
        browser.close()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """It finds all passages relevant and all answers good, and takes a moment for each answer."""
    with OpenAIServer(delay=0.02, token_seconds=0.005) as server:
        server.answer_when(lambda request: request.schema is not None, YES)
        yield server


@pytest.fixture
def tavily() -> Iterator[TavilyServer]:
    with TavilyServer() as server:
        yield server


@pytest.fixture(scope="package")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with App(
        tmp_path_factory.mktemp("app"),
        "tests/browser/served.py",
        OPENAI_API_KEY=KEY,
        EMBEDDING_MODEL="test-embedding",
        MODEL_RETRIES="0",
        TAVILY_API_KEY="tvly-of-the-tests",
        CRAWL_ALLOWED="127.0.0.1",
        CRAWL_RATE="50",
        SUGGEST_FOLLOW_UPS="off",
        PRELOAD="false",
    ) as app:
        yield app


class Lent:
    """The server's process for one test, with an engine over the test's own data folder and services."""

    def __init__(self, process: App, server: OpenAIServer, tavily: TavilyServer, empty: Path) -> None:
        self._process = process
        self._services = {"OPENAI_BASE_URL": server.base_url, "TAVILY_BASE_URL": tavily.url}
        self._empty = empty
        self._is_renewed = False

    @property
    def app(self) -> App:
        """The app with the data and services of this test; empty by default."""
        return self._process if self._is_renewed else self.over(self._empty)

    def over(self, data: Path) -> App:
        usual = RagSettings()
        self._process.renew(
            **self._services,
            DATA_DIR=str(data),
            SUGGEST_FOLLOW_UPS="off",
            RUNS_AT_ONCE=str(usual.runs_at_once),
            ANSWER_TOKENS=str(usual.answer_tokens),
            MODEL_CONTEXT=str(usual.model_context),
        )
        self._is_renewed = True
        return self._process


@pytest.fixture
def lent(process: App, server: OpenAIServer, tavily: TavilyServer, data_dir: Path) -> Iterator[Lent]:
    """Whatever a test does, the log must contain no error of our code and no key."""
    before = process.log.stat().st_size
    yield Lent(process, server, tavily, data_dir)
    log = process.log.read_bytes()[before:].decode()
    # Some tracebacks are allowed: Streamlit's server logs one if a tab is closed during its first messages.
    assert not [line for line in log.splitlines() if " ERROR " in line or "Exception in thread" in line]
    assert KEY not in log


@pytest.fixture
def app(lent: Lent) -> App:
    """The app without documents, unless another fixture has added some."""
    return lent.app


class Contexts:
    """Contexts of a browser, used by an app's visitors in turn: a new context would load and compile the page's scripts
    again.

    Before a context is used again, its cookies and storage are cleared; its cache stays. A tiny page stays open in each
    context: otherwise the process that shows its pages would end with the last page and lose the compiled scripts.
    """

    def __init__(self, browser: Browser, app: App) -> None:
        self._browser = browser
        self._app = app
        self._free: defaultdict[tuple[str, int], list[tuple[BrowserContext, Page]]] = defaultdict(list)
        """with the page that stays open, by locale and width"""

    @contextmanager
    def lent(self, locale: str, width: int) -> Iterator[BrowserContext]:
        free = self._free[locale, width]
        context, stays = free.pop() if free else self._new(locale, width)
        yield context
        for page in context.pages:
            if page != stays:
                page.close()
        stays.evaluate("localStorage.clear()")
        context.clear_cookies()
        context.clear_permissions()
        free.append((context, stays))

    def close(self) -> None:
        for context, _ in chain.from_iterable(self._free.values()):
            context.close()

    def _new(self, locale: str, width: int) -> tuple[BrowserContext, Page]:
        context = self._browser.new_context(locale=locale, viewport={"width": width, "height": 900})
        stays = context.new_page()
        stays.goto(f"{self._app.url}/healthz")
        return context, stays


@pytest.fixture(scope="package")
def contexts(chromium: Browser, process: App) -> Contexts:
    return Contexts(chromium, process)


@pytest.fixture
def visit(contexts: Contexts, lent: Lent, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """Opens the page for a new visitor. Whatever they do, no other host may get a request, and there may
    be no errors.
    """
    visitors = request.node.stash.setdefault(VISITORS, [])
    with ExitStack() as opened:

        def open_page(
            language: Language = "en",
            *,
            path: str = "",
            width: int = 1280,
            scheme: Scheme = "light",
            app: App | None = None,
        ) -> Visitor:
            url = (app or lent.app).url + path
            context = opened.enter_context(contexts.lent(LOCALES[language], width))
            visitors.append(Visitor(context, url, language, scheme))
            return visitors[-1]

        yield open_page
        foreign = [address for visitor in visitors for address in visitor.foreign_addresses]
        complaints = [complaint for visitor in visitors for complaint in visitor.complaints]
    assert foreign == []
    assert complaints == []


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    file = tmp_path / "travel.md"
    file.write_text(HANDBOOK, encoding="utf-8")
    return file


@pytest.fixture(scope="package")
def data_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Makes a data folder to copy, whose index `handbook` has one document with this name and text."""

    @cache
    def data_with(name: str, text: str) -> Path:
        folder, file = tmp_path_factory.mktemp("prepared"), tmp_path_factory.mktemp("documents") / name
        file.write_text(text, encoding="utf-8")
        with OpenAIServer() as server:
            settings = Settings(data_dir=folder, openai_base_url=server.base_url, embedding_model="test-embedding")
            with IndexStore(settings) as store:
                assert store.add("handbook", file, name).error is None
        return folder

    return data_with


@pytest.fixture
def app_with(lent: Lent, data_with: Callable[[str, str], Path], tmp_path: Path) -> Callable[[str, str], App]:
    """The app with one document that is already loaded."""

    def app_with(name: str, text: str) -> App:
        return lent.over(shutil.copytree(data_with(name, text), tmp_path / name / "data"))

    return app_with


@pytest.fixture
def loaded_app(app_with: Callable[[str, str], App]) -> App:
    """The app with the handbook in it."""
    return app_with("travel.md", HANDBOOK)


@pytest.fixture
def loaded(loaded_app: App, visit: Visit) -> Visitor:
    """A visitor of the app with the handbook."""
    return visit()


@dataclass(frozen=True)
class Answered:
    """A question that was answered before the page is opened."""

    question: str
    path: str
    """path of the page with its conversation"""


@pytest.fixture(scope="package")
def data_with_answer(data_with: Callable[[str, str], Path], tmp_path_factory: pytest.TempPathFactory):
    """Makes a data folder to copy, with the handbook and one answered question."""

    @cache
    def data_with_answer(question: str, answer: str, pipeline: str, seconds: float = 0) -> tuple[Path, str]:
        """Returns the folder and the id of its conversation. `seconds`: as if the model had needed so long."""
        folder = shutil.copytree(data_with("travel.md", HANDBOOK), tmp_path_factory.mktemp("answered") / "data")
        with OpenAIServer() as server, pytest.MonkeyPatch.context() as patched:
            if seconds:
                patched.setattr(RunAtWork, "_clock", lambda _: seconds if server.chats else 0.0)
            server.default = answer
            server.answer_when(lambda request: request.schema is not None, YES)
            settings = RagSettings(
                data_dir=folder, openai_base_url=server.base_url, openai_api_key=KEY, embedding_model="test-embedding"
            )
            with local_engine(settings) as engine:
                run = engine.ask(question, index="handbook", pipeline_name=pipeline)
                assert run.result().status == "finished"
        return folder, run.conversation_id

    return data_with_answer


@pytest.fixture
def answered(lent: Lent, data_with_answer, tmp_path: Path) -> Callable[..., Answered]:
    """The app with the handbook and one stored answer, so that the test does not wait for a run."""

    def answered(question: str, answer: str, pipeline: str = "self_rag", seconds: float = 0) -> Answered:
        data, conversation = data_with_answer(question, answer, pipeline, seconds)
        lent.over(shutil.copytree(data, tmp_path / "answered"))
        return Answered(question, f"/?c={conversation}")

    return answered
