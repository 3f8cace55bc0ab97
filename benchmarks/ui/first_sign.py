"""From enter to the first reaction of the page while the embedded chat model still has to start, with and without
PRELOAD.

The reaction is the line of the run that has started. With PRELOAD, the model begins to start with the page. Each app
was started just before, and this is its first page. With PRELOAD, the page must say that the model is starting before
anything is asked.
"""

import statistics
from pathlib import Path

from playwright.sync_api import Browser, expect

from benchmarks.latency import QUESTION
from benchmarks.parts.settings import with_own_data
from benchmarks.people import loaded
from benchmarks.ui.browser import PATIENCE, WORDS, met, opened, take_time, time_taken
from tests.browser.app_process import App

MOST = 1.0
"""seconds"""

LINE = "[data-testid=stChatMessage] [data-testid=stExpander] summary"

STARTING = WORDS["chat.starting_model"].partition("{")[0]


def measure(browser: Browser, folder: Path, rounds: int, documents: int | None) -> str:
    data = loaded(folder / "for the embedded model", documents)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(rounds):
        for preload, taken in seconds.items():
            app = App(data.parent, PRELOAD=str(preload).lower(), **_embedded(data))
            taken.append(_ask(browser, app, is_told=preload))
    medians = {preload: statistics.median(taken) for preload, taken in seconds.items()}
    lines = [
        f"| {'being started since the page was opened' if preload else 'not yet started'} | {median:.2f} | "
        f"{max(seconds[preload]):.2f} |"
        for preload, median in medians.items()
    ]
    worst = max(medians.values())
    told = f"The first sign of life comes within {worst:.2f} s, which {met(worst, MOST)} {MOST:g} s."
    return "\n".join(("| the embedded model is | first sign, s | at most, s |", "|---|--:|--:|", *lines, "", told))


def _embedded(data: Path) -> dict[str, str]:
    return {
        "DATA_DIR": str(data),
        "CHAT_MODEL": "embedded",
        "EMBEDDED_MODEL": str(with_own_data(data).embedded_model),
        "EMBEDDING_MODEL": "embedded",
        "WEB_SEARCH": "off",
    }


def _ask(browser: Browser, app: App, *, is_told: bool) -> float:
    """Returns seconds. `is_told`: whether the page must say that the model is starting."""
    app.start()
    try:
        page = opened(browser, app)
        if is_told:
            expect(page.get_by_text(STARTING)).to_be_visible(timeout=PATIENCE)
        page.get_by_placeholder(WORDS["chat.placeholder"]).fill(QUESTION)
        take_time(page, "keydown", LINE)
        page.keyboard.press("Enter")
        seconds = time_taken(page)
        page.context.close()
    finally:
        app.kill()  # the model may still be starting, and a normal end would wait for it
    return seconds
