"""A visitor who shares a conversation."""

from playwright.sync_api import Locator, expect

from tests.browser.visitor import LOADED, Visitor


def open_sharing(visitor: Visitor, place: Locator) -> None:
    place.get_by_role("button", name=visitor.words["share.title"]).click()
    expect(visitor.button("share.make")).to_be_visible(timeout=LOADED)
    visitor.settle()


def head(visitor: Visitor) -> Locator:
    return visitor.page.locator(".st-key-conversation-actions")


def make_link(visitor: Visitor) -> str:
    visitor.button("share.make").click()
    code = visitor.page.get_by_test_id("stCode").locator("code")
    expect(code).to_contain_text("share=", timeout=LOADED)
    return code.inner_text().replace("\n", "")
