"""The Runs page over many stored runs compared with few: from the click on its link until it shows rows.

Two apps take turns. Their histories were filled in advance: runs without events, because the page reads none, four per
conversation.
"""

import statistics
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from sqlalchemy import insert

from benchmarks.ui.browser import PATIENCE, WORDS, met, opened, settle, take_time, time_taken
from rag.runs.history import schema
from tests.browser.app_process import App

FEW = 100
MOST = 1.5
"""longest time over many runs, as a multiple of that over few"""

A_CONVERSATION = 4
"""runs per conversation"""
BEGUN = 1_700_000_000.0
"""seconds since 1970"""
CELL = "[data-testid=stDataFrame] [role=gridcell]"


def measure(browser: Browser, folder: Path, rounds: int, many: int) -> str:
    seconds: dict[int, list[float]] = {FEW: [], many: []}
    with ExitStack() as open_:
        pages = {count: _page_over(count, browser, folder, open_) for count in seconds}
        for _ in range(rounds + 1):  # the first one also opens files and connections
            for count, page in pages.items():
                seconds[count].append(_open(page))
                expect(page.get_by_test_id("stMain").get_by_text(f"{count:,}")).to_be_visible()
    medians = {count: statistics.median(each[1:]) for count, each in seconds.items()}
    ratio = medians[many] / medians[FEW]
    lines = [f"| {count:,} runs | {median * 1000:.0f} |" for count, median in medians.items()]
    told = f"Over {many:,} runs the page opens in {ratio:.2f} of the time over {FEW}, which {met(ratio, MOST)} {MOST}."
    return "\n".join(("| Runs page | ms |", "|---|--:|", *lines, "", told))


def _page_over(count: int, browser: Browser, folder: Path, open_: ExitStack) -> Page:
    data = folder / f"of {count} runs"
    data.mkdir()
    _store(count, data)
    app = App(data, DATA_DIR=str(data), OPENAI_API_KEY="sk-benchmark", CHAT_MODEL="unasked", EMBEDDING_MODEL="unasked")
    app.start()
    open_.callback(app.stop)
    page = opened(browser, app)
    open_.callback(page.context.close)
    return page


def _store(count: int, data: Path) -> None:
    """Stores `count` finished runs of several kinds."""
    outcomes = ("confirmed", "answered", "unconfirmed", "not_in_documents")
    pipelines = ("naive", "hybrid", "self_rag")
    conversations = [
        {"id": f"{number:032x}", "title": f"Expenses {number}", "created_at": BEGUN + number * A_CONVERSATION,
         "updated_at": BEGUN + number * A_CONVERSATION}
        for number in range(-(-count // A_CONVERSATION))
    ]  # fmt: skip
    runs = [
        {
            "id": f"{number:032x}", "conversation_id": conversations[number // A_CONVERSATION]["id"],
            "question": f"Who approves expense {number}?", "index_name": f"index {number % 5}",
            "pipeline": pipelines[number % 3], "started_at": BEGUN + number, "status": "finished",
            "feedback": -1 if number % 50 == 0 else None, "seconds": number % 977 / 10, "tokens": number % 4999,
            "model_calls": number % 9, "outcome": outcomes[number % 4], "cause": ("none", "misread")[number % 4 == 2],
        }
        for number in range(count)
    ]  # fmt: skip
    database, _ = schema.open_history(schema.place(data, None))
    with database.begin() as connection:
        connection.execute(insert(schema.conversations), conversations)
        connection.execute(insert(schema.runs), runs)
    database.dispose()


def _open(page: Page) -> float:
    """Returns seconds."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=WORDS["app.search"]).click()
    expect(page.locator(CELL)).to_have_count(0, timeout=PATIENCE)
    settle(page)
    take_time(page, "click", CELL)
    page.get_by_test_id("stSidebar").get_by_role("link", name=WORDS["app.runs"]).click()
    seconds = time_taken(page)
    settle(page)
    return seconds
