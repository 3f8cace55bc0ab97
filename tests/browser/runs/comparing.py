"""A visitor who compares two answers."""

from uuid import uuid4

from playwright.sync_api import Locator, expect

from tests.browser.visitor import LOADED, Visitor


def new_question() -> str:
    return f"Who approves the green car of department {uuid4().hex[:8]}?"


def heads(visitor: Visitor) -> Locator:
    return visitor.page.locator("[data-testid=stMain] .column-head:has(small)")


def differences(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("heading", name=visitor.words["compare.differences"])


def begin(visitor: Visitor, question: str) -> None:
    field = visitor.page.get_by_role("textbox", name=visitor.words["compare.question"])
    field.fill(question)
    visitor.page.get_by_role("button", name=visitor.words["compare.begin"]).click()
    expect(heads(visitor)).to_have_count(2, timeout=LOADED)
