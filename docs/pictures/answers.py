"""Scenes of answers: asked, checked against their sources, by each pipeline, side by side, shared."""

from collections.abc import Iterator

from playwright.sync_api import expect

from docs.pictures.scene import (
    ANSWERED,
    CHECKED,
    ask,
    bring_up,
    moving,
    run_of,
    scene,
    show_page,
    wait_for_the_end,
    whole,
)
from pages import samples
from rag.pipelines import PIPELINES
from tests.browser.visitor import Visitor


@scene()
def answer(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    """A question on its way, moving, and what became of it: a citation, grades."""
    visitor.pick_pipeline("self_rag")
    visitor.composer.fill(CHECKED[visitor.language])
    visitor.composer.press("Enter")
    frames = [visitor.page.screenshot()]
    while not visitor.button("chat.again").is_visible():
        visitor.page.wait_for_timeout(700)
        frames.append(visitor.page.screenshot())
    wait_for_the_end(visitor)
    yield "images/answer.{lang}.webp", moving([*frames, visitor.page.screenshot()])
    visitor.page.locator(".answer .cite").first.click()
    expect(visitor.page.locator(":popover-open")).to_be_visible()
    yield "images/citation.{lang}.png", visitor.page.screenshot()
    visitor.page.keyboard.press("Escape")
    visitor.open(visitor.traces.last)
    visitor.open(visitor.step("grade_documents"))
    bring_up(visitor.step("grade_documents"))
    yield "images/trace.{lang}.png", visitor.page.screenshot()


@scene(1280)
def compare(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    """The same question through naive, hybrid and self_rag, and what differs."""
    show_page(visitor, "compare")
    visitor.page.get_by_role("radio", name="3", exact=True).click()
    visitor.settle()
    visitor.page.get_by_role("textbox", name=visitor.words["compare.question"]).fill(CHECKED[visitor.language])
    visitor.page.get_by_role("button", name=visitor.words["compare.begin"]).click()
    differences = visitor.page.get_by_role("heading", name=visitor.words["compare.differences"])
    expect(differences).to_be_visible(timeout=ANSWERED)
    visitor.settle()
    visitor.page.mouse.move(0, 0)
    yield "images/compare.{lang}.png", visitor.page.screenshot()
    bring_up(differences)
    yield "images/differences.{lang}.png", visitor.page.screenshot()


@scene(1280)
def fork(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    """The passages that an answer rests on no longer count as relevant, and what comes of it."""
    ask(visitor, CHECKED[visitor.language], "self_rag")
    visitor.open(visitor.traces.last)
    row = visitor.step("grade_documents")
    visitor.open(row)
    fold = visitor.page.get_by_test_id("stExpander").locator("summary").filter(has_text=visitor.words["change.fold"])
    visitor.open(fold.locator("visible=true").last)
    passages = visitor.page.get_by_test_id("stCheckbox").locator("visible=true")
    expect(passages.first).to_be_visible()  # the browser fetches the code of its first checkbox now
    visitor.settle()
    for passage in passages.filter(has=visitor.page.locator("input:checked")).all():
        passage.locator("label").click()
        visitor.settle()
    visitor.page.mouse.move(0, 0)
    yield "images/change.{lang}.png", whole(visitor, row.locator("xpath=.."))
    visitor.button("change.run_on").locator("visible=true").click()
    differences = visitor.page.get_by_role("heading", name=visitor.words["compare.differences"])
    expect(differences).to_be_visible(timeout=ANSWERED)
    visitor.settle()
    visitor.page.mouse.move(640, 400)
    visitor.page.mouse.wheel(0, -100_000)  # not by script: only a person's move ends the scrolling to the changed step
    visitor.page.wait_for_timeout(1000)
    visitor.page.mouse.move(0, 0)
    yield "images/fork.{lang}.png", visitor.page.screenshot()


@scene()
def share(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    """The link to an answer, just made."""
    ask(visitor, CHECKED[visitor.language], "naive")
    run_of(visitor).get_by_role("button", name=visitor.words["share.title"]).click()
    visitor.button("share.make").click()
    expect(visitor.page.get_by_test_id("stCode")).to_be_visible()
    visitor.settle()
    visitor.page.mouse.move(0, 0)
    yield "images/share.{lang}.png", visitor.page.screenshot()


@scene()
def pipelines(visitor: Visitor) -> Iterator[tuple[str, bytes]]:
    """A run of each, its steps in view."""
    for name in PIPELINES:
        asked = next(
            (each.text for each in samples.questions() if (each.pipeline, each.language) == (name, visitor.language)),
            CHECKED[visitor.language],
        )
        visitor.button("sidebar.new_chat").click()
        ask(visitor, asked, name)
        visitor.open(visitor.page.get_by_test_id("stExpander").locator("summary").first)
        yield f"pipelines/images/{name}.{{lang}}.png", whole(visitor, run_of(visitor))
