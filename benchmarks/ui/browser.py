"""What the parts share: a page in Chromium, and times that the page itself measures."""

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
    """The engine's report on a question asked without a page."""

    first: float
    """seconds until the first piece of the answer"""
    total: float
    """seconds"""
    events: int
    """number of events in its trace, without tokens"""


def opened(browser: Browser, app: App, path: str = "") -> Page:
    """A page in a new context. Whoever closes the page must close the context too."""
    page = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 900}).new_page()
    page.goto(f"{app.url}/{path}")
    settle(page)
    return page


def settle(page: Page) -> None:
    """Waits until the script of the page has ended."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_visible(timeout=PATIENCE)


def take_time(page: Page, event: str, selector: str) -> None:
    """Measures from the next `event` of the document until an element of `selector` is painted with text in it."""
    page.evaluate(_TAKE_TIME, [event, selector])


def time_taken(page: Page) -> float:
    """Waits until it is there; returns seconds."""
    milliseconds: float = page.evaluate("window.taken")
    return milliseconds / 1000


def pick_pipeline(page: Page, name: str) -> None:
    page.get_by_test_id("stBottom").get_by_role("combobox").last.click()
    page.get_by_role("option", name=WORDS[f"pipeline.{name}"], exact=True).click()
    settle(page)


def wait_for_the_end(page: Page) -> None:
    """Waits until the last run of a conversation has ended."""
    expect(page.get_by_role("button", name=WORDS["chat.again"]).last).to_be_visible(timeout=PATIENCE)
    settle(page)


def ask_engine(app: App, question: str, pipeline: str) -> Asked:
    """Asks in the process of the app, which must be SERVED."""
    body = json.dumps({"question": question, "pipeline": pipeline}).encode()
    with urllib.request.urlopen(f"{app.url}/ask", data=body, timeout=PATIENCE / 1000) as answer:
        return Asked(**json.load(answer))


def met(measured: float, most: float) -> str:
    return "meets" if measured <= most else "misses"
