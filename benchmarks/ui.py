"""How fast the pages are in a real Chromium, each measured beside something of the same run.

    python -m benchmarks.ui [PART ...] [--rounds 5]

The app runs as in `make run`, in a process of its own; the model behind it is a server of fixed cost in another one.
What each part measures stands at its function.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.latency import QUESTION, Speed, load
from benchmarks.people import processor_seconds, running
from pages.texts import texts
from tests.browser.app_process import App
from tests.browser.conftest import ARGUMENTS, installed_chromium

PATIENCE = 120_000
"""milliseconds"""

WORDS = texts("en")

COMPARED = ("naive", "hybrid", "self_rag", "corrective")
"""pipelines of the Compare page's columns where none are picked"""

MOST_COLUMNS = 1.2
"""how long four columns may take beside the slowest of them alone"""

Part = Callable[[Browser, App, int], str]


def opened(browser: Browser, app: App, path: str = "") -> Page:
    page = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"{app.url}/{path}")
    settle(page)
    return page


def settle(page: Page) -> None:
    """Until the script of the page has come to its end."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible(timeout=PATIENCE)


def columns(browser: Browser, app: App, rounds: int) -> str:
    """The Compare page: four columns at once, beside each of them alone, from the press to what differs below them.

    A column that is alone stands beside an answer that is there already, and is not asked again.
    """
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
            f"{'meets' if ratio <= MOST_COLUMNS else 'misses'} {MOST_COLUMNS}; the app has "
            f"{statistics.median(used):.2f} s of a processor meanwhile.",
        )
    )


def _compare(page: Page) -> float:
    """Seconds."""
    begun = time.perf_counter()
    page.get_by_role("button", name=WORDS["compare.begin"]).click()
    page.wait_for_selector(".st-key-compare-page .costs", timeout=PATIENCE)
    return time.perf_counter() - begun


PARTS: dict[str, Part] = {
    "columns": columns,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--documents", type=int, help="of the sample handbook, in the index; all of them")
    parser.add_argument("--delay", type=float, default=0.5, help="seconds before the first token of a call")
    parser.add_argument("--token-seconds", type=float, default=0.02, help="seconds a token")
    parser.add_argument("--tokens", type=int, default=60, help="tokens a call")
    options = parser.parse_args(arguments)
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    before = load()
    speed = Speed(options.delay, options.token_seconds, options.tokens)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), speed, options.documents) as app,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=ARGUMENTS)
        for name in options.parts or PARTS:
            print(f"{PARTS[name](browser, app, options.rounds)}\n", flush=True)
        browser.close()
    print(
        f"A call takes {options.delay * 1000:g} ms, then {options.token_seconds * 1000:g} ms a token, "
        f"{options.tokens} tokens. {os.cpu_count()} cores, Python {platform.python_version()}, {sys.platform}, "
        f"load average {before} before and {load()} after."
    )


if __name__ == "__main__":
    main()
