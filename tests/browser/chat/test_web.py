"""A question about current events in a real browser: web search, the answer, and its source marked as from the web."""

import pytest
from playwright.sync_api import Page, expect

from pages.texts import texts
from tests.browser.asking import script
from tests.browser.visitor import LOADED
from tests.helpers.looks import one_width
from tests.servers import WebResult

SUNNY = WebResult(
    "東京の天気",
    "https://weather.example/tokyo",
    "今日の東京は晴れ、最高気温は18度です。<script>alert(1)</script>",
    published_date="Sat, 21 Nov 2026",
)
WEATHER = {"ja": "今日の東京の天気は?", "en": "What is the weather in Tokyo today?"}
SUN = {"ja": "今日の東京は晴れです[1]。", "en": "It is sunny in Tokyo today [1]."}
ROUTE = '{"reason": "It changes by the day.", "route": "web"}'


@pytest.mark.soak  # without a browser: tests/pages/test_runs.py, tests/pages/widgets/answer/test_answer.py
@one_width("ja", 390)
def test_the_weather_is_answered_from_the_web_and_its_source_opens_there(visit, server, tavily, language, width):
    tavily.default = [SUNNY]
    server.answer_when(lambda request: "route" in str(request.schema), ROUTE)
    script(server, WEATHER[language], SUN[language])
    visitor = visit(language, width=width)
    visitor.pick_pipeline("adaptive")
    expect(visitor.text("pipeline.adaptive_help")).to_be_visible()
    visitor.ask(WEATHER[language])
    visitor.wait_for_the_end()
    expect(visitor.answers.last).to_contain_text(SUN[language].split("[")[0].strip(), timeout=LOADED)
    assert tavily.queries[-1] == WEATHER[language]
    source = visitor.page.locator(".sources").last
    expect(source.locator(".web-mark")).to_have_text(texts(language)["web.mark"])
    expect(source).to_contain_text("weather.example · Sat, 21 Nov 2026")
    source.locator("button.cite.web").click()
    card = visitor.page.locator(".web-card:popover-open")
    expect(card).to_contain_text("<script>alert(1)</script>")
    link = card.get_by_role("link")
    expect(link).to_have_attribute("href", SUNNY.url)
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    assert no_sideways_scroll(visitor.page)
    visitor.page.keyboard.press("Escape")
    folded = visitor.page.get_by_test_id("stExpander").locator("summary")
    visitor.open(folded.filter(has_text=visitor.words["pipeline.adaptive"]).last)
    for step in ("route_question", "web_search", "refine", "generate"):
        expect(visitor.step(step)).to_be_visible(timeout=LOADED)
    expect(visitor.step("web_search")).to_contain_text("Tavily")
    visitor.open(visitor.step("web_search"))
    expect(visitor.page.locator(".detail details.passage:visible").last).to_contain_text(SUNNY.title)
    assert no_sideways_scroll(visitor.page)


def no_sideways_scroll(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
