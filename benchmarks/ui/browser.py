"""What the parts share: a page in Chromium, and times that are taken in the page itself."""

import json
import urllib.request
from dataclasses import dataclass

from playwright.sync_api import Browser, Page, expect

from pages.texts import texts
from tests.browser.app_process import App

SERVED = "benchmarks/ui/served.py"

PATIENCE = 120_000
"""milliseconds"""

WORDS = texts("en")

_TAKE_TIME = """([event, selector]) => {
  window.taken = new Promise(resolve => addEventListener(event, () => {
    const begun = performance.now();
    const observer = new MutationObserver(() => {
      if (![...document.querySelectorAll(selector)].some(each => each.textContent.trim())) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(performance.now() - begun));
    });
    observer.observe(document, { subtree: true, childList: true, characterData: true });
  }, { capture: true, once: true }));
}"""


@dataclass(frozen=True)
class Asked:
    """What the engine says of a question that it was asked without a page."""

    first: float
    """seconds until the first piece of the answer"""
    total: float
    """seconds"""
    events: int
    """of its trace, tokens apart"""


def opened(browser: Browser, app: App, path: str = "") -> Page:
    """In a context of its own, which whoever closes the page closes too."""
    page = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"{app.url}/{path}")
    settle(page)
    return page


def settle(page: Page) -> None:
    """Until the script of the page has come to its end."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible(timeout=PATIENCE)


def take_time(page: Page, event: str, selector: str) -> None:
    """From the next `event` of the document until something that `selector` finds is painted with words in it."""
    page.evaluate(_TAKE_TIME, [event, selector])


def time_taken(page: Page) -> float:
    """Seconds, once that is there."""
    milliseconds: float = page.evaluate("window.taken")
    return milliseconds / 1000


def pick_pipeline(page: Page, name: str) -> None:
    page.get_by_test_id("stBottom").get_by_role("combobox").last.click()
    page.get_by_role("option", name=WORDS[f"pipeline.{name}"], exact=True).click()
    settle(page)


def wait_for_the_end(page: Page) -> None:
    """Of the last run of a conversation."""
    expect(page.get_by_role("button", name=WORDS["chat.again"]).last).to_be_visible(timeout=PATIENCE)
    settle(page)


def ask_engine(app: App, question: str, pipeline: str) -> Asked:
    """In the process of the app, which is to be SERVED."""
    body = json.dumps({"question": question, "pipeline": pipeline}).encode()
    with urllib.request.urlopen(f"{app.url}/ask", data=body, timeout=PATIENCE / 1000) as answer:
        return Asked(**json.load(answer))


def met(measured: float, most: float) -> str:
    return "meets" if measured <= most else "misses"
