"""What can be seen of a page, and whether it can be read."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Locator, expect

from pages.texts import texts
from tests.browser.visitor import SCHEMES, Visitor, show_in

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


def expect_open(row: Locator) -> None:
    expect(row.locator("xpath=..")).to_have_attribute("open", "")
    expect(row).to_be_in_viewport()
    expect(row).to_be_focused()


def contrast(each: Locator) -> float:
    """The contrast of its text with the background, as WCAG defines it, at the end of all transitions."""
    return each.evaluate(
        """each => {
            document.getAnimations().filter(each => each instanceof CSSTransition).forEach(each => each.finish());
            const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
            const light = colour => {
                canvas.fillStyle = colour;
                canvas.fillRect(0, 0, 1, 1);
                const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255)
                    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
                return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
            };
            const style = getComputedStyle(each);
            const [low, high] = [light(style.color), light(style.backgroundColor)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        }"""
    )
