"""A visitor who changes a step."""

from playwright.sync_api import Locator, expect

from tests.browser.visitor import LOADED, Visitor


def open_form(visitor: Visitor, step: str) -> Locator:
    """Opens the trace of the last answer and the form below a step; returns the button that starts the fork."""
    visitor.open(visitor.traces.last)
    visitor.open(visitor.step(step))
    fold = visitor.page.get_by_test_id("stExpander").locator("summary").filter(has_text=visitor.words["change.fold"])
    visitor.open(fold.locator("visible=true").last)
    run_on = visitor.button("change.run_on").locator("visible=true")
    expect(run_on).to_be_visible(timeout=LOADED)
    visitor.settle()
    return run_on
