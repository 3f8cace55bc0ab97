"""A page that is opened by its address, from its first moment, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LOCALES
from tests.browser.visitor import LOADED

NOTE_STYLE = """
window.styled = [];
(function note() {
    if (document.querySelector('.stApp')) {
        const rules = [...document.styleSheets].flatMap(each => [...each.cssRules]);
        window.styled.push(rules.some(each => each.selectorText?.includes('.passage-card')));
    }
    requestAnimationFrame(note);
})();
"""
"""whether our style sheet is there, in each frame from the first one in which Streamlit has drawn anything"""


@pytest.mark.soak  # without a browser: tests/pages/server/test_page_shell.py
def test_nothing_is_drawn_before_the_style_sheet_is_there(contexts, app):
    with contexts.lent(LOCALES["ja"], 1280) as context:
        page = context.new_page()
        page.add_init_script(NOTE_STYLE)
        page.goto(f"{app.url}/runs")
        expect(page.get_by_role("heading", name="実行履歴")).to_be_visible(timeout=LOADED)
        styled = page.evaluate("() => window.styled")
        assert styled
        assert all(styled)
