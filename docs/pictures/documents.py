"""Scenes of what is loaded: the Documents page, a document, a search."""

from collections.abc import Iterator

from playwright.sync_api import expect

from docs.pictures.scene import CHECKED, scene, show_page, wait_for_parts
from rag.text.language import Language
from tests.browser.visitor import Visitor

OPENED: dict[Language, str] = {"en": "Remote Work Policy", "ja": "出張旅費規程"}
"""titles of samples"""


@scene(1280, 1130)
def documents(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    visitor.show_documents()
    wait_for_parts(visitor)
    expect(visitor.table).to_be_visible()
    yield "images/documents.{lang}.png", visitor.page.screenshot()


@scene(1280)
def document(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    visitor.show_documents()
    wait_for_parts(visitor)
    visitor.find(OPENED[visitor.language], 1)
    visitor.open_row(1)
    wait_for_parts(visitor)
    yield "images/document.{lang}.png", visitor.page.screenshot()


@scene(1280)
def search(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    show_page(visitor, "search")
    field = visitor.page.get_by_placeholder(visitor.words["search.question"])
    field.fill(CHECKED[visitor.language])
    field.press("Enter")
    expect(visitor.page.locator(".hit").first).to_be_visible()
    wait_for_parts(visitor)
    yield "images/search.{lang}.png", visitor.page.screenshot()
