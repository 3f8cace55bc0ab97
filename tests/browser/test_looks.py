"""Every page that shows a run can be read: it has the right language, enough contrast, and is not too wide."""

import json
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from rag.models.service.en import EN
from rag.models.service.ja import JA
from tests.browser.asking import script
from tests.browser.runs.comparing import begin, differences
from tests.browser.runs.sharing import head, make_link, open_sharing
from tests.browser.seen import look
from tests.browser.visitor import LOADED
from tests.helpers.handbook import YES
from tests.helpers.looks import one_width

QUESTION = {"ja": "グリーン車は誰が承認しますか？", "en": "Who approves the green car?"}
EDITED = {"ja": "日当はいくらですか？", "en": "How much is the allowance?"}
SUGGESTED = {"ja": "宿泊費の上限はいくらですか？", "en": "What is the limit for a hotel?"}
ANSWER = {"ja": "部長が承認します[1]。" * 10, "en": "A director approves it [1]. " * 6}


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
    expect(visitor.button("playback.pause")).to_be_visible(timeout=LOADED)
    visitor.settle()  # what is still drawn moves the button from under the pointer
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
