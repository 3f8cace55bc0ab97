"""How often a page reads the events of a run: the interval that the server sends to the browser."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from benchmarks.parts.tab import Tab, opened
from index_store.ingestion.results import IngestStatus
from index_store.store.index_store import IndexStore
from pages.widgets.chat.pace import AT_ONCE, OFTEN, SELDOM, pace
from rag.models.service.en import EN
from rag.settings import Settings
from tests.browser.app_process import App
from tests.pages.server.streamlit_process import SERVER, run
from tests.rag.verdicts import YES
from tests.servers import Answer, OpenAIServer

QUESTION = "Who approves the green car?"


def test_a_run_with_news_among_few_is_looked_at_often():
    assert pace(quiet=0, runs=1) == pace(quiet=0.5, runs=4) == OFTEN


def test_the_longer_nothing_comes_the_less_often_it_is_looked_at():
    paces = [pace(quiet=seconds, runs=1) for seconds in (1, 3, 4, 10, 1000)]
    assert paces == sorted(paces)
    assert paces[-1] == SELDOM


@pytest.mark.parametrize("runs", [20, 50, 200])
def test_many_runs_share_the_looks(runs):
    assert runs / pace(quiet=0, runs=runs) == pytest.approx(10, rel=0.05)


RACING_PAGE = """
import sys

from pages.widgets.chat.pace import look_every
import streamlit as st

the = sys.modules["shared"]

@st.fragment(run_every=1)
def fragment():
    the.looks += 1
    if the.looks == 1:
        look_every(0.4, at_once=[the.run])
    else:
        the.loop.call_soon_threadsafe(the.has_ended.wait)
        look_every(0.8, at_once=[the.run])
        the.run.append(the.end)
        the.has_ended.set()

fragment()
"""
"""What the server sends waits until the run has ended."""

RACING = """
from types import SimpleNamespace

from rag.runs.run.run import Run
from rag.trace.events import RunFinished, RunStarted, Totals

async def act(runtime):
    started = RunStarted(run_id="r", conversation_id="c", question="?", index="i", pipeline="naive", model="m", at=1)
    end = RunFinished(status="finished", answer="", outcome="answered", citations=(), totals=Totals())
    sys.modules["shared"] = SimpleNamespace(
        run=Run(started), end=end, looks=0, loop=asyncio.get_running_loop(), has_ended=threading.Event()
    )
    page = Connection()
    session = runtime.connect_session(page, {})
    runtime.handle_backmsg(session, BackMsg(rerun_script=ClientState()), client=page)
    await finished(1, page)
    fragment = next(each.auto_rerun.fragment_id for each in page.messages if each.HasField("auto_rerun"))
    by_interval = ClientState(fragment_id=fragment, is_auto_rerun=True)
    runtime.handle_backmsg(session, BackMsg(rerun_script=by_interval), client=page)
    async with asyncio.timeout(60):
        while page.got.count("auto_rerun") < 4:
            await asyncio.sleep(0.01)
    print(*(round(each.auto_rerun.interval, 2) for each in page.messages if each.HasField("auto_rerun")))


asyncio.run(main())
"""


def test_what_a_fragment_has_said_before_a_run_ends_does_not_keep_the_browser_from_looking_at_once(tmp_path):
    script = tmp_path / "page.py"
    script.write_text(RACING_PAGE, encoding="utf-8")
    done = run(SERVER + RACING, script)
    assert done.stdout.split() == ["1.0", "0.4", "0.8", str(AT_ONCE)], done.stderr


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    """It finds all passages relevant and all answers good, at once."""
    with OpenAIServer() as server:
        for instructions in (EN.relevance, EN.grounding, EN.usefulness):
            server.answer_when(lambda request, asked=instructions: asked in request.prompt, YES)
        yield server


@pytest.fixture(scope="module")
def app(server, tmp_path_factory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("app")
    service = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test", "EMBEDDING_MODEL": "test-embedding"}
    document = folder / "trains.md"
    document.write_text("# Trains\n\nThe green car needs the approval of a director.\n", encoding="utf-8")
    settings = {name.lower(): value for name, value in service.items()}
    with IndexStore(Settings(_env_file=None, data_dir=folder / "data", **settings)) as store:
        assert store.add("cars", document, document.name).status is IngestStatus.READY
    with App(folder, **service, WEB_SEARCH="off") as app:
        yield app


def test_a_browser_is_told_to_look_less_often_while_nothing_comes(app, server):
    async def slowest() -> float:
        async with opened(app.url) as tab:
            await tab.type(QUESTION)
            assert tab.pace == pytest.approx(OFTEN)
            return await until_slow(tab)

    async def until_slow(tab: Tab) -> float:
        async with asyncio.timeout(60):
            while (tab.pace or 0) < SELDOM:
                await asyncio.sleep(0.05)
        return tab.pace or 0

    server.default = Answer("Late.", delay=60)
    assert asyncio.run(slowest()) == SELDOM


def test_a_browser_is_told_to_look_at_once_when_the_answer_begins_and_ends_and_as_before_in_between(app, server):
    async def paces() -> list[float]:
        async with opened(app.url) as tab:
            await tab.type(QUESTION)
            await tab.read_answer()
            return tab.paces

    server.default = Answer("A director. " * 8, delay=3, token_seconds=0.15)
    told = [round(each, 2) for each in asyncio.run(paces())]
    begins, ends = told.index(AT_ONCE), len(told) - 1 - told[::-1].index(AT_ONCE)
    assert OFTEN in told[:begins]
    assert OFTEN in told[begins:ends]


def test_suggestions_come_without_another_redraw_of_the_page_and_end_the_looks(app, server):
    async def after_the_answer() -> tuple[int, float | None]:
        async with opened(app.url) as tab:
            await tab.type(QUESTION)
            await tab.read_answer()
            before = tab.redraws
            async with asyncio.timeout(60):
                while not any(key.startswith("follow-up-") for key in tab.page.buttons) or tab.pace:
                    await asyncio.sleep(0.05)
            return tab.redraws - before, tab.pace

    server.default = "A director [1]."
    suggestions = json.dumps({"questions": ["Who approves a taxi?"]})
    server.answer_when(lambda request: EN.follow_ups in request.prompt, Answer(suggestions, delay=2))
    assert asyncio.run(after_the_answer()) == (0, None)
