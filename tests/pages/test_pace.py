"""How often a page looks at a run, as the server tells a browser."""

import asyncio

import pytest

from benchmarks.tab import Tab, opened
from index_store.ingestion.results import IngestStatus
from index_store.store import IndexStore
from pages.widgets.chat.pace import OFTEN, SELDOM, pace
from rag.settings import Settings
from tests.browser.app_process import App
from tests.servers import Answer, OpenAIServer

QUESTION = "Who approves the green car?"


def test_a_run_with_news_among_few_is_looked_at_often():
    assert pace(quiet=0, runs=1) == pace(quiet=0.5, runs=5) == OFTEN


def test_the_longer_nothing_comes_the_less_often_it_is_looked_at():
    paces = [pace(quiet=seconds, runs=1) for seconds in (1, 3, 4, 10, 1000)]
    assert paces == sorted(paces)
    assert paces[-1] == SELDOM


@pytest.mark.parametrize("runs", [20, 50, 200])
def test_many_runs_share_the_looks(runs):
    assert runs / pace(quiet=0, runs=runs) == pytest.approx(25, rel=0.05)


def test_a_browser_is_told_to_look_less_often_while_nothing_comes(tmp_path):
    async def slowest(url: str) -> float:
        async with opened(url) as tab:
            await tab.type(QUESTION)
            assert tab.pace == pytest.approx(OFTEN)
            return await until_slow(tab)

    async def until_slow(tab: Tab) -> float:
        async with asyncio.timeout(60):
            while (tab.pace or 0) < SELDOM:
                await asyncio.sleep(0.05)
        return tab.pace or 0

    with OpenAIServer() as server:
        server.default = Answer("Late.", delay=60)
        service = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test", "EMBEDDING_MODEL": "test-embedding"}
        document = tmp_path / "trains.md"
        document.write_text("# Trains\n\nThe green car needs the approval of a director.\n", encoding="utf-8")
        settings = {name.lower(): value for name, value in service.items()}
        with IndexStore(Settings(_env_file=None, data_dir=tmp_path / "data", **settings)) as store:
            assert store.add("cars", document, document.name).status is IngestStatus.READY
        app = App(tmp_path, **service, WEB_SEARCH="off")
        app.start()
        try:
            assert asyncio.run(slowest(app.url)) == SELDOM
        finally:
            app.stop()
