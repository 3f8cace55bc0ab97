"""From enter to the first token of the answer on the page, compared with the engine's own time.

Page and engine are asked in turn in the same process. Each question starts a new conversation. The page measures its
own time, until the token is painted. "At best" is the fastest time on the page minus the fastest of the engine: other
work on the machine does not affect it.
"""

import statistics

from playwright.sync_api import Browser

from benchmarks.latency import QUESTION
from benchmarks.ui.browser import (
    WORDS,
    ask_engine,
    met,
    opened,
    pick_pipeline,
    take_time,
    time_taken,
    wait_for_the_end,
)
from tests.browser.app_process import App

PIPELINES = ("naive", "self_rag")

MOST = 0.3
"""seconds that the page may add"""


def measure(browser: Browser, app: App, rounds: int) -> str:
    lines = ["| first token | engine, s | page, s | added, ms | at best, ms |", "|---|--:|--:|--:|--:|"]
    added = []
    for pipeline in PIPELINES:
        of_engine, of_page = [], []
        for _ in range(rounds + 1):  # the first one also opens files and connections
            of_engine.append(ask_engine(app, QUESTION, pipeline).first)
            of_page.append(_seen(browser, app, pipeline))
        engine, page = statistics.median(of_engine[1:]), statistics.median(of_page[1:])
        added.append(page - engine)
        best = min(of_page) - min(of_engine)
        lines.append(f"| {pipeline} | {engine:.3f} | {page:.3f} | {added[-1] * 1000:.0f} | {best * 1000:.0f} |")
    worst = max(added)
    told = f"The page adds {worst * 1000:.0f} ms to the first token, which {met(worst, MOST)} {MOST * 1000:.0f} ms."
    return "\n".join((*lines, "", told))


def _seen(browser: Browser, app: App, pipeline: str) -> float:
    """Returns seconds."""
    page = opened(browser, app)
    pick_pipeline(page, pipeline)
    page.get_by_placeholder(WORDS["chat.placeholder"]).fill(QUESTION)
    take_time(page, "keydown", ".answer")
    page.keyboard.press("Enter")
    seconds = time_taken(page)
    wait_for_the_end(page)
    page.context.close()
    return seconds
