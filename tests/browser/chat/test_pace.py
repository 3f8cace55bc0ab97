"""How often a browser is told to look, on the server of this folder: a tab without a browser reads the intervals."""

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

import pytest

from benchmarks.parts.tab import Tab, opened
from pages.widgets.chat.pace import AT_ONCE, OFTEN, SELDOM
from rag.models.service.en import EN
from tests.servers import Answer

QUESTION = "Who approves the green car?"
Result = TypeVar("Result")


def run(coroutine: Coroutine[None, None, Result]) -> Result:
    """In a thread of its own: in this one, Playwright's loop may be running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


@pytest.mark.soak  # while an answer comes: the test below
def test_a_browser_is_told_to_look_less_often_while_nothing_comes(loaded_app, server):
    async def slowest() -> float:
        async with opened(loaded_app.url) as tab:
            await tab.type(QUESTION)
            assert tab.pace == pytest.approx(OFTEN)
            slow = await until_slow(tab)
            answer.until.set()
            await tab.read_answer()
            return slow

    async def until_slow(tab: Tab) -> float:
        async with asyncio.timeout(60):
            while (tab.pace or 0) < SELDOM:
                await asyncio.sleep(0.05)
        return tab.pace or 0

    server.default = answer = Answer("A director. Late.", until=Event())
    assert run(slowest()) == SELDOM


def test_a_browser_is_told_to_look_at_once_when_the_answer_begins_and_ends_and_as_before_in_between(loaded_app, server):
    async def paces() -> list[float]:
        async with opened(loaded_app.url) as tab:
            await tab.type(QUESTION)
            await tab.read_answer()
            return tab.paces

    server.default = Answer("A director. " * 8, delay=3, token_seconds=0.15)
    told = [round(each, 2) for each in run(paces())]
    begins, ends = told.index(AT_ONCE), len(told) - 1 - told[::-1].index(AT_ONCE)
    assert OFTEN in told[:begins]
    assert OFTEN in told[begins:ends]


def test_suggestions_come_without_another_redraw_of_the_page_and_end_the_looks(loaded_app, server):
    async def after_the_answer() -> tuple[int, float | None]:
        async with opened(loaded_app.url) as tab:
            await tab.type(QUESTION)
            await tab.read_answer()
            before = tab.redraws
            async with asyncio.timeout(60):
                while not any(key.startswith("follow-up-") for key in tab.page.buttons) or tab.pace:
                    await asyncio.sleep(0.05)
            return tab.redraws - before, tab.pace

    loaded_app.renew(SUGGEST_FOLLOW_UPS="service")
    server.default = "A director [1]."
    suggestions = json.dumps({"questions": ["Who approves a taxi?"]})
    server.answer_when(lambda request: EN.follow_ups in request.prompt, Answer(suggestions, delay=2))
    assert run(after_the_answer()) == (0, None)
