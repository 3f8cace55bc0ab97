"""Processor use while a long trace is streamed: Self-RAG whose answers are never useful, so it loops until its limits.

The report has the processor time of the app (all threads of its process) from enter to the end of the run, divided by
these seconds. It also has the same question asked of the engine without a page, and the browser with all its processes.
"""

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.parts.fixed_speed import NEVER_SERVED
from benchmarks.parts.machine import processor_seconds_of
from benchmarks.people import processor_seconds
from benchmarks.ui.browser import WORDS, ask_engine, met, opened, pick_pipeline, wait_for_the_end
from tests.browser.app_process import App

PIPELINE = "self_rag"

MOST = 0.1
"""largest part of one core"""


def measure(browser: Browser, app: App, rounds: int) -> str:
    app_shares, engine_shares, browser_shares, streamed = [], [], [], []
    for _ in range(rounds + 1):  # the first one also opens files and connections
        before = processor_seconds(app)
        asked = ask_engine(app, NEVER_SERVED, PIPELINE)
        engine_shares.append((processor_seconds(app) - before) / asked.total)
        page = opened(browser, app)
        pick_pipeline(page, PIPELINE)
        page.get_by_placeholder(WORDS["chat.placeholder"]).fill(NEVER_SERVED)
        before, drawn, begun = processor_seconds(app), _of_chromium(), time.perf_counter()
        page.keyboard.press("Enter")
        wait_for_the_end(page)
        streamed.append(time.perf_counter() - begun)
        app_shares.append((processor_seconds(app) - before) / streamed[-1])
        browser_shares.append((_of_chromium() - drawn) / streamed[-1])
        page.context.close()
    share = statistics.median(app_shares[1:])
    return "\n".join(
        (
            "| trace | of one core |",
            "|---|--:|",
            f"| the engine without a page | {statistics.median(engine_shares[1:]):.1%} |",
            f"| the app with its page | {share:.1%} |",
            f"| Chromium | {statistics.median(browser_shares[1:]):.1%} |",
            "",
            f"A trace of {asked.events} events streams for {statistics.median(streamed[1:]):.1f} s "
            f"at {share:.1%} of one core, which {met(share, MOST)} {MOST:.0%}.",
        )
    )


def _of_chromium() -> float:
    """Processor seconds of all its processes so far."""
    return sum(
        processor_seconds_of(process)
        for process in _family(str(os.getpid()))
        if "headless" in Path(f"/proc/{process}/cmdline").read_text()
    )


def _family(process: str) -> Iterator[str]:
    """The process, and all that it has started."""
    yield process
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from _family(child)
