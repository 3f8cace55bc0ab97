"""Every page that shows a run can be read: it has the right language, enough contrast, and is not too wide."""

import json
import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from pages.texts import texts
from rag.models.service.en import EN
from rag.models.service.ja import JA
from tests.browser.asking import script
from tests.browser.conftest import YES
from tests.browser.runs.test_compare_page import begin, differences
from tests.browser.runs.test_share import head, make_link, open_sharing
from tests.browser.visitor import LOADED, SCHEMES, Visitor, show_in
from tests.looks import one_width

QUESTION = {"ja": "グリーン車は誰が承認しますか？", "en": "Who approves the green car?"}
EDITED = {"ja": "日当はいくらですか？", "en": "How much is the allowance?"}
SUGGESTED = {"ja": "宿泊費の上限はいくらですか？", "en": "What is the limit for a hotel?"}
ANSWER = {"ja": "部長が承認します[1]。" * 10, "en": "A director approves it [1]. " * 6}

LEAST_CONTRAST = 4.5
"""required by WCAG AA, for text of any size"""

FAINT = """least => {
    if (!document.querySelector("[data-test-script-state=notRunning]")) return null;
    document.getAnimations().filter(each => each instanceof CSSTransition).forEach(each => each.finish());
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const parts = colour => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, below) => [0, 1, 2].map(n => top[n] * top[3] + below[n] * (1 - top[3]));
    const light = colour => colour.map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, n) => sum + part * [0.2126, 0.7152, 0.0722][n], 0);
    const faint = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const each = walker.currentNode.parentElement, told = walker.currentNode.textContent.trim();
        if (!told || !each.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        if (each.closest("script, style, textarea, :disabled, [aria-disabled=true]")) continue;
        if (each.closest("[data-testid=stSidebar], [data-testid=stIconMaterial]")) continue;
        const { width, height } = each.getBoundingClientRect();
        if (width < 4 || height < 4) continue;
        const above = [];
        for (let one = each; one; one = one.parentElement) above.push(one);
        let behind = parts(getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "#000" : "#fff");
        for (const one of above.reverse()) behind = over(parts(getComputedStyle(one).backgroundColor), behind);
        const colour = parts(getComputedStyle(each).color);
        for (const one of above) colour[3] *= getComputedStyle(one).opacity;
        const [low, high] = [light(over(colour, behind)), light(behind)].sort((a, b) => a - b);
        const ratio = (high + 0.05) / (low + 0.05);
        if (ratio < least) faint.set(told.slice(0, 40), ratio.toFixed(2));
    }
    return [...faint].map(([told, ratio]) => `${told}: ${ratio}`);
}"""
"""Texts on the page whose contrast with the background is less than `least`, with the final values of all transitions.
Null while the script of the page runs: texts that are to be replaced are faint until then.
"""


def foreign_words(visitor: Visitor) -> list[str]:
    """Texts of the other language that are shown on the page."""
    ours, others = visitor.words, texts("en" if visitor.language == "ja" else "ja")
    shown = visitor.page.get_by_test_id("stMain").inner_text()
    least = 12 if visitor.language == "ja" else 4  # characters: a shorter text may be part of another word
    whole = [each for key, each in others.items() if each != ours[key] and "{" not in each and len(each) >= least]
    return [each for each in whole if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", shown)]


def look(visitor: Visitor, width: int) -> list[str]:
    """What can't be read on this page, in light and dark colours."""
    visitor.settle()
    page = urlsplit(visitor.page.url).path
    found = [f"{page}: foreign: {each}" for each in foreign_words(visitor)]
    for scheme in SCHEMES:
        show_in(scheme, visitor.page)
        visitor.page.wait_for_timeout(200)
        if visitor.width > width:
            found.append(f"{page}: {visitor.width} pixels wide")
        found += [f"{page}, {scheme}: faint: {each}" for each in faint(visitor)]
    return found


def faint(visitor: Visitor) -> list[str]:
    # The script runs again when the colours change, and at any time where a page looks for news.
    while (found := visitor.page.evaluate(FAINT, LEAST_CONTRAST)) is None:
        visitor.settle()
    return found


@pytest.fixture
def answering(server):
    """A model that answers and suggests follow-ups, in the language of the question."""
    server.answer_when(lambda request: request.schema is not None, YES)
    for language, words in (("ja", JA), ("en", EN)):
        reply = json.dumps({"questions": [SUGGESTED[language]]})
        server.answer_when(lambda request, words=words: words.follow_ups in request.prompt, reply)
        for asked in (QUESTION[language], EDITED[language]):
            script(server, asked, ANSWER[language])


@pytest.mark.usefixtures("answering")
@one_width("ja", 390)
def test_a_run_can_be_read_on_every_page(answered, lent, visit, language, width):
    path = answered(QUESTION[language], ANSWER[language], seconds=60).path
    lent.app.renew(SUGGEST_FOLLOW_UPS="service")
    visitor = visit(language, path=path, width=width)
    visitor.page.locator('[class*="st-key-sign-edit-"] button >> visible=true').last.click()
    visitor.page.locator('[class*="st-key-wording-"] textarea').fill(EDITED[language])
    visitor.page.get_by_role("button", name=visitor.words["chat.ask"], exact=True).click()
    expect(visitor.page.get_by_text("2/2", exact=True)).to_be_visible(timeout=LOADED)
    visitor.wait_for_the_end()
    expect(visitor.page.get_by_role("button", name=SUGGESTED[language])).to_be_visible(timeout=LOADED)
    visitor.settle()
    visitor.page.get_by_test_id("stFeedback").get_by_role("radio").last.click()
    expect(visitor.page.get_by_placeholder(visitor.words["chat.reason"])).to_be_visible()
    found = look(visitor, width)

    open_sharing(visitor, head(visitor))
    link = make_link(visitor)
    found += look(visitor, width)
    origin = visitor.page.evaluate("location.origin")
    visitor.page.goto(f"{origin}/shared?{urlsplit(link).query}")
    expect(visitor.questions).to_have_count(1, timeout=LOADED)  # the branch on the page
    found += look(visitor, width)
    visitor.page.goto(f"{origin}/shares")
    expect(visitor.button("share.revoke")).to_be_visible(timeout=LOADED)
    found += look(visitor, width)

    visitor.page.goto(f"{origin}/runs")
    expect(visitor.rows.nth(1)).to_contain_text(EDITED[language], timeout=LOADED)
    found += look(visitor, width)
    visitor.row(2, 70)  # the run that can be played for long
    expect(visitor.questions).to_have_text([QUESTION[language]], timeout=LOADED)
    visitor.settle()
    visitor.open(visitor.step("grade_documents"))
    opened = visitor.step("grade_documents").locator("xpath=ancestor::*[@data-testid='stExpander'][1]")
    visitor.open(opened.get_by_test_id("stExpander").locator("summary").first)
    for folded in (".passage", ".how"):
        opened.locator(f"{folded} > summary").first.click()
    expect(opened.locator(".calls pre").first).to_be_attached(timeout=LOADED)
    visitor.open(visitor.step("retrieve"))
    expect(visitor.page.get_by_role("link", name=visitor.words["detail.look_at_search"])).to_be_visible()
    visitor.page.locator(".answer .cite").first.click()
    expect(visitor.page.locator(".passage-card:popover-open").get_by_role("link")).to_have_count(2)
    found += look(visitor, width)
    visitor.page.keyboard.press("Escape")
    visitor.button("playback.play").click()
    visitor.button("playback.pause").click()
    expect(visitor.button("playback.go_on")).to_be_visible(timeout=LOADED)
    found += look(visitor, width)

    visitor.page.goto(f"{origin}/compare")
    expect(visitor.page.get_by_role("textbox", name=visitor.words["compare.question"])).to_be_visible(timeout=LOADED)
    found += look(visitor, width)
    begin(visitor, QUESTION[language])
    expect(differences(visitor)).to_be_visible(timeout=LOADED)
    found += look(visitor, width)
    assert found == []
