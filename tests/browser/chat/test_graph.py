"""The graph of a run in a real browser: drawn live and afterwards; its nodes open the rows of the trace."""

import json
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, expect

from rag.models.service.en import EN
from tests.browser.asking import ENDLESS, ask, script
from tests.browser.seen import contrast, expect_open
from tests.browser.visitor import LOADED, SCHEMES, Visitor, show_in
from tests.helpers.looks import one_width

AGAIN = "Which approval does a seat in the green car of a train need?"
USELESS = json.dumps({"reason": "It does not say who.", "rating": 1})
CUT = """all => document.fonts.ready.then(() => all.map(each => [
    each.innerText, each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 5
]))"""
"""for each element: its text, and whether the text is cut off"""

ARROWS = """all => all.map(each => ["::before", "::after"]
    .filter(side => getComputedStyle(each, side).content.includes("↓")).length)"""
"""for each element: how many arrows stand beside it"""


def ask_in_a_loop(visitor: Visitor, server) -> None:
    """The first answer is not useful: the question is rewritten, and the steps run again."""
    question = f"Who approves the green car of department {uuid4().hex[:8]}?"
    script(server, question, "A director approves the green car [1].")
    server.answer_when(lambda request: EN.rewrite in request.prompt, AGAIN)
    server.answer_when(lambda request: EN.usefulness in request.prompt, USELESS, times=1)
    visitor.ask(question)
    visitor.wait_for_the_end()


def node(visitor: Visitor, name: str) -> Locator:
    return visitor.page.locator(".run-graph .node").filter(has_text=visitor.words[f"step.{name}"])


def pick_view(visitor: Visitor, name: str) -> None:
    visitor.page.get_by_role("radio", name=visitor.words[f"graph.{name}"], exact=True).click()


@one_width("en", 1280)
def test_a_run_that_went_round_is_drawn_and_its_nodes_open_their_rows(loaded_app, visit, server, language, width):
    visitor = visit(language, width=width)
    ask_in_a_loop(visitor, server)
    visitor.open(visitor.traces)
    drawing = visitor.page.locator(".run-graph .drawing")
    expect(drawing).to_be_visible()
    for looped in ("retrieve", "grade_documents", "generate", "check_answer"):
        expect(node(visitor, looped)).to_contain_text("×2")
    expect(drawing.locator(".reason").filter(has_text=visitor.words["decision.not_useful"])).to_be_visible()
    assert visitor.words["step.rewrite_question"] in drawing.get_by_role("img").get_attribute("aria-label")
    assert visitor.width <= width
    parts = visitor.page.locator(".run-graph :is(.node, .reason span)")
    assert [told for told, is_cut in parts.evaluate_all(CUT) if is_cut] == []

    for scheme in SCHEMES:
        show_in(scheme, visitor.page)
        for part in (node(visitor, "retrieve"), node(visitor, "decline"), drawing.locator(".reason span").first):
            assert contrast(part) >= 4.5

    visitor.settle()
    node(visitor, "grade_documents").click()
    expect_open(visitor.step("grade_documents"))
    node(visitor, "check_answer").focus()  # without a key, as a screen reader does
    visitor.page.wait_for_timeout(500)
    visitor.page.keyboard.press("Enter")
    expect_open(visitor.step("check_answer"))

    pick_view(visitor, "unrolled")
    steps = visitor.page.locator(".unrolled .node")
    expect(node(visitor, "grade_documents")).to_have_count(2)
    expect(steps.first).to_have_text(visitor.words["step.retrieve"])
    node(visitor, "grade_documents").first.click()
    first = visitor.page.get_by_test_id("stExpander").locator("summary").filter(has=visitor.page.locator("strong"))
    expect_open(first.filter(has_text=visitor.words["step.grade_documents"]).first)


@pytest.mark.soak  # without a browser: tests/pages/widgets/trace/test_graph.py
def test_one_arrow_leads_from_each_step_to_the_next_also_before_the_start(answered, visit, tmp_path):
    visitor = visit(path=answered("Who approves the green car?", "A director approves it [1].").path)
    file = tmp_path / "seats.txt"
    file.write_text("A seat in the green car costs 1,000 yen.", encoding="utf-8")
    visitor.ask("How much is it?", file)
    visitor.wait_for_the_end()
    visitor.open(visitor.traces.last)
    before = visitor.page.locator(".run-graph li")
    expect(before).to_have_text([visitor.words["step.add_documents"], visitor.words["step.standalone_question"]])
    assert before.evaluate_all(ARROWS) == [1, 1]
    pick_view(visitor, "unrolled")
    in_order = visitor.page.locator(".run-graph .unrolled li")
    expect(in_order.first).to_have_text(visitor.words["step.add_documents"])
    first, second, third, *_ = in_order.evaluate_all(ARROWS)
    assert (first, second, third) == (0, 1, 1)


@pytest.mark.soak  # what is chosen is tested below
def test_in_high_contrast_the_lines_and_the_markers_of_citations_are_there(answered, visit):
    visitor = visit(path=answered("Who approves the green car?", "A director approves it [1].").path)
    visitor.open(visitor.traces)
    visitor.page.emulate_media(forced_colors="active")
    expect(visitor.page.locator(".run-graph .lines").first).to_be_visible()
    page, *lines = visitor.page.locator("body, .run-graph .lines").evaluate_all(
        "all => all.map(each => getComputedStyle(each).backgroundColor)"
    )
    assert page not in lines
    assert visitor.answers.locator(".cite").evaluate("each => getComputedStyle(each).borderTopStyle") == "solid"


@pytest.mark.soak
def test_in_high_contrast_what_is_chosen_is_marked(answered, visit):
    visitor = visit("en", path=answered("Who approves the green car?", "A director approves it [1].").path)
    visitor.page.emulate_media(forced_colors="active")
    visitor.open(visitor.traces)
    visitor.page.get_by_test_id("stFeedback").get_by_role("radio").first.click()
    visitor.settle()
    background = "all => all.map(each => getComputedStyle(each).backgroundColor)"
    radios = visitor.page.get_by_role("radio")
    chosen, others = (radios.and_(visitor.page.locator(f"[aria-checked={each}]")) for each in ("true", "false"))
    expect(chosen).to_have_count(3)  # the language, the way a graph is drawn, and the thumb
    assert not set(chosen.evaluate_all(background)) & set(others.evaluate_all(background))
    visitor.show_documents()
    tabs = visitor.page.get_by_role("tab")
    assert len(set(tabs.evaluate_all(background))) == 2


@pytest.mark.soak  # what is chosen is tested above
def test_in_high_contrast_the_keyboards_place_is_marked(answered, visit):
    visitor = visit("en", path=answered("Who approves the green car?", "A director approves it [1].").path)
    visitor.page.emulate_media(forced_colors="active")
    visitor.settle()
    outline = "each => getComputedStyle(each).outlineStyle"
    again, seen = visitor.button("chat.again"), {}
    again.press("Tab")  # the browser marks a focus only if it was moved with the keyboard
    focused = visitor.page.locator(":focus")
    seen["button"] = focused.evaluate(outline)
    visitor.pipeline_picker.press("ArrowDown")
    option = visitor.page.locator("[role=option][data-focused]")
    seen["option"] = option.evaluate(outline)
    visitor.page.keyboard.press("Escape")
    visitor.traces.press("Shift+Tab")
    visitor.page.keyboard.press("Tab")
    expect(visitor.traces).to_be_focused()
    seen["fold"] = focused.evaluate(outline)
    assert seen == dict.fromkeys(["button", "option", "fold"], "solid")


def test_while_a_run_goes_on_its_node_is_marked_and_opens_its_row_too(loaded, server):
    ask(loaded, server, ENDLESS)
    expect(loaded.page.locator(".run-graph")).to_have_count(0)
    pick_view(loaded, "drawn")
    current = loaded.page.locator(".run-graph .current")
    expect(current).to_have_text([loaded.words["step.draft_answer"]])  # the passages are graded
    expect(current).to_have_attribute("aria-current", "step")
    loaded.settle()
    node(loaded, "retrieve").click()
    expect_open(loaded.step("retrieve"))
    loaded.page.wait_for_timeout(1000)
    expect_open(loaded.step("retrieve"))
    loaded.settle()
    loaded.stop.click()
    expect(loaded.text("chat.stopped")).to_be_visible(timeout=LOADED)
    loaded.open(loaded.traces)
    expect(node(loaded, "draft_answer")).to_have_class("node visited broken")
