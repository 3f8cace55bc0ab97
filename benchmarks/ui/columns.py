"""The Compare page: four columns at the same time compared with each alone.

The time is from the click to the differences below the columns. A column alone is shown next to a finished answer,
which is not asked again.
"""

import statistics
import time

from playwright.sync_api import Browser, Page, expect

from benchmarks.latency import QUESTION
from benchmarks.people import processor_seconds
from benchmarks.ui.browser import PATIENCE, WORDS, met, opened, settle
from tests.browser.app_process import App

COMPARED = ("naive", "hybrid", "self_rag", "corrective")
"""default pipelines of the columns"""

MOST = 1.2
"""longest time of all together, as a multiple of the slowest alone"""


def measure(browser: Browser, app: App, rounds: int) -> str:
    page = opened(browser, app)
    page.get_by_placeholder(WORDS["chat.placeholder"]).fill(QUESTION)
    page.keyboard.press("Enter")
    beside = page.get_by_role("link", name=WORDS["compare.with"])
    expect(beside).to_be_visible(timeout=PATIENCE)
    run = str(beside.get_attribute("href")).partition("runs=")[2].partition("&")[0]
    alone: dict[str, list[float]] = {name: [] for name in COMPARED}
    together: list[float] = []
    used: list[float] = []
    for _ in range(rounds):
        for name, seconds in alone.items():
            page.goto(f"{app.url}/compare?lang=en&runs={run}")
            settle(page)
            page.get_by_test_id("stMain").get_by_role("combobox").first.click()
            page.get_by_role("option", name=WORDS[f"pipeline.{name}"], exact=True).click()
            settle(page)
            seconds.append(_compare(page))
        page.goto(f"{app.url}/compare?lang=en")
        settle(page)
        page.get_by_role("radio", name=str(len(COMPARED)), exact=True).click()
        page.get_by_role("textbox", name=WORDS["compare.question"]).fill(QUESTION)
        settle(page)
        before = processor_seconds(app)
        together.append(_compare(page))
        used.append(processor_seconds(app) - before)
    page.context.close()
    medians = {name: statistics.median(seconds) for name, seconds in alone.items()}
    slowest = max(medians, key=medians.__getitem__)
    ratio = statistics.median(together) / medians[slowest]
    lines = [f"| {name} alone | {seconds:.2f} |" for name, seconds in medians.items()]
    return "\n".join(
        (
            "| columns | seconds |",
            "|---|--:|",
            *lines,
            f"| all {len(COMPARED)} | {statistics.median(together):.2f} |",
            "",
            f"{len(COMPARED)} columns take {ratio:.2f} of the slowest alone, which "
            f"{met(ratio, MOST)} {MOST}; the app has "
            f"{statistics.median(used):.2f} s of a processor meanwhile.",
        )
    )


def _compare(page: Page) -> float:
    """Returns seconds."""
    begun = time.perf_counter()
    page.get_by_role("button", name=WORDS["compare.begin"]).click()
    page.wait_for_selector(".st-key-compare-page .costs", timeout=PATIENCE)
    return time.perf_counter() - begun
