"""Scenes of the four prepared faults: each asked, and opened on the Runs page, which names it."""

from collections.abc import Iterator

from playwright.sync_api import Locator, expect

from docs.pictures.scene import ask, scene, show_page
from pages.samples.faults import FAULTS, PIPELINE, Fault
from rag.trace.derived.cause import Cause
from tests.browser.visitor import LOADED, Visitor

TELLING: dict[Cause, str] = {
    "not_found": "retrieve",
    "graded_away": "grade_documents",
    "misread": "check_answer",
}
"""the step that shows what went wrong; of a document that is missing no step does"""


@scene(1280, loaded="faults")
def faults(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    for fault in FAULTS:
        pick_index(visitor, fault.index)
        ask(visitor, fault.questions[visitor.language], PIPELINE)
        show_page(visitor, "runs")
        yield from named_fault(visitor, fault)
        visitor.sidebar.get_by_role("link", name=visitor.words["app.chat"]).click()
        visitor.button("sidebar.new_chat").click()
        visitor.settle()
    show_page(visitor, "runs")
    table = visitor.table.bounding_box()
    height = table["y"] + table["height"] + 40 if table else 1000
    yield "images/runs.{lang}.png", visitor.page.screenshot(clip={"x": 0, "y": 0, "width": 1280, "height": height})


def pick_index(visitor: Visitor, name: str) -> None:
    visitor.index_picker.click()
    visitor.page.get_by_role("option", name=name).click()
    visitor.settle()


def named_fault(visitor: Visitor, fault: Fault) -> Iterator[tuple[str, bytes]]:
    """Of the latest run: the step that shows it, and what it is named."""
    visitor.row(1, 70)
    why = visitor.page.locator(".st-key-why")
    expect(why).to_be_visible(timeout=LOADED)
    expect(why.get_by_text(visitor.words[f"cause.{fault.cause}_note"])).to_be_visible()
    visitor.settle()
    if telling := TELLING.get(fault.cause):
        row = first_row(visitor, telling)
        visitor.open(row)
        detail = row.locator("xpath=..")
        unfold(detail)
        yield f"images/{fault.cause}-step.{{lang}}.png", detail.screenshot()
    unfold(why)
    yield f"images/{fault.cause}.{{lang}}.png", why.screenshot()


def first_row(visitor: Visitor, step: str) -> Locator:
    """Of a step at its first attempt."""
    title = visitor.page.locator("strong").get_by_text(visitor.words[f"step.{step}"], exact=True)
    return visitor.page.get_by_test_id("stExpander").locator("summary").filter(has=title).first


def unfold(place: Locator) -> None:
    """The first passage in it, where there is one, with the way to its grade."""
    passage = place.locator("details.passage").first
    if passage.count():
        passage.evaluate("each => [each, ...each.querySelectorAll('details')].forEach(fold => (fold.open = true))")
        passage.page.wait_for_timeout(500)
