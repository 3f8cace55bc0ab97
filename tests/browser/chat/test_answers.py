"""Answers in a real browser: formulae, tables, code, copying, branches, titles, ratings and follow-ups."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from rag.models.service.en import EN
from rag.models.service.ja import JA
from tests.browser.visitor import LOADED, Visitor, boxes
from tests.helpers.looks import one_language, one_look, one_width
from tests.servers import Answer, OpenAIServer

ASKED = {"ja": "国内出張の日当はいくらですか？", "en": "Who approves the green car?"}
EDITED = {"ja": "海外出張の日当はいくらですか？", "en": "Who approves a hotel?"}
SUGGESTED = {"ja": "宿泊費の上限はいくらですか？", "en": "Until when is a trip reported?"}
CODE = "print('" + "a long line of code " * 12 + "')"
ANSWER = (
    "A ticket is $5 and a pass $10, by $x^2 + y_1$ [1].\n\n$$\nP(A) = \\frac{1}{\\sum_{i=1}^{n} "
    + " + ".join(f"x_{{{number}}}" for number in range(60))
    + "}\n$$\n\n| "
    + " | ".join(f"Column {number}" for number in range(12))
    + " |\n|"
    + "---|" * 12
    + "\n"
    + ("| words [1] " * 12 + "|\n") * 30
    + f"\n```python\n{CODE}\n```\n\nIt ends so: $\\href{{javascript:alert(1)}}{{z}}$."
)


def script(server: OpenAIServer) -> None:
    server.default = Answer(ANSWER, token_seconds=0)
    for language, words in (("ja", JA), ("en", EN)):
        reply = json.dumps({"questions": [SUGGESTED[language]]})
        server.answer_when(lambda request, words=words: words.follow_ups in request.prompt, reply)


@pytest.fixture
def asked(answered) -> Callable[[str], str]:
    """Returns the path of a conversation with the long answer."""
    return lambda language: answered(ASKED[language], ANSWER, "naive").path


def ask(visitor: Visitor) -> None:
    visitor.pick_pipeline("naive")
    visitor.ask(ASKED[visitor.language])
    visitor.wait_for_the_end()


def pressable(visitor: Visitor, beginning: str):
    """The button whose key begins with this text."""
    return visitor.page.locator(f'[class*="st-key-{beginning}"] button >> visible=true').last


@one_look("ja", 1280, "dark")
def test_formulae_are_drawn_and_what_is_wide_scrolls_within_itself(asked, visit, language, width, scheme):
    visitor = visit(language, path=asked(language), width=width, scheme=scheme)
    answer = visitor.answers.last
    expect(answer.locator("math")).to_have_count(3)
    expect(answer.locator("math[display=block] mfrac")).to_be_visible()
    expect(answer).to_contain_text("A ticket is $5 and a pass $10, by")
    assert answer.locator("math [href]").count() == 0
    assert visitor.width <= width
    for wide in ("table", "pre", ".formula.apart"):
        scrolls = answer.locator(wide).evaluate("each => each.scrollWidth > each.clientWidth")
        assert scrolls or (wide == ".formula.apart" and width > 400), wide
    table = answer.locator("table")
    assert table.evaluate("each => each.scrollHeight > each.clientHeight")
    answer.locator("p .cite").first.click()
    expect(visitor.page.locator(".passage-card:popover-open")).to_be_visible()


@one_width("en", 390)
def test_answers_and_code_are_copied_and_where_the_clipboard_is_refused_the_text_is_selected(
    asked, visit, language, width
):
    visitor = visit(language, path=asked(language), width=width)
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.answers.last.locator(".code .copy").click()
    expect(visitor.answers.last.locator(".code .copy")).to_have_text(visitor.words["chat.copied"])
    assert visitor.page.evaluate("navigator.clipboard.readText()") == f"{CODE}\n"
    whole = visitor.page.locator(".copying .copy")
    whole.click()
    expect(whole).to_have_text(visitor.words["chat.copied"])
    copied = visitor.page.evaluate("navigator.clipboard.readText()")
    assert ASKED[language] in copied
    assert "[^1]: **" in copied
    expect(whole).to_have_text(visitor.words["chat.copy"], timeout=LOADED)
    visitor.page.context.clear_permissions()
    visitor.page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")  # as without TLS
    whole.click()
    expect(whole).to_have_text(visitor.words["chat.copy_refused"])
    expect(visitor.page.locator(".copying textarea")).to_be_visible()
    assert visitor.page.evaluate("document.getSelection().toString()") == copied
    assert visitor.width <= width


@one_language("en")
def test_what_can_be_done_with_an_answer_stands_in_one_line(answered, visit, language):
    visitor = visit(language, path=answered(ASKED[language], "A director [1].", "naive").path, width=1280)
    share = f"↗ {visitor.words['share.title']}"
    actions = visitor.page.locator('[class*="st-key-actions-"]')
    expect(actions.get_by_role("button", name=share)).to_be_visible(timeout=LOADED)
    visitor.settle()  # till then, some of them may not be drawn yet
    shown = actions.locator("button, a").filter(visible=True)
    told = shown.all_inner_texts()
    assert told[-1].startswith(share)
    first, *others = boxes(shown)
    below = first["y"] + first["height"]
    assert [words for words, box in zip(told[1:], others, strict=True) if box["y"] >= below] == []


@pytest.mark.soak  # without a browser: tests/pages/widgets/chat/conversation/test_shown.py
@one_width("ja", 390)
def test_an_edited_question_keeps_the_earlier_one_a_press_away_and_a_reload_keeps_the_place(
    answered, visit, language, width
):
    visitor = visit(language, path=answered(ASKED[language], "A director [1].", "naive").path, width=width)
    pressable(visitor, "sign-edit-").click()
    wording = visitor.page.locator('[class*="st-key-wording-"] textarea')
    expect(wording).to_be_focused()
    wording.fill(EDITED[language])
    visitor.page.get_by_role("button", name=visitor.words["chat.ask"], exact=True).click()
    expect(visitor.questions).to_have_text([EDITED[language]], timeout=LOADED)
    visitor.wait_for_the_end()
    expect(visitor.page.get_by_text("2/2", exact=True)).to_be_visible()
    pressable(visitor, "sign-before-").click()
    expect(visitor.questions).to_have_text([ASKED[language]])
    visitor.settle()
    expect(visitor.page).to_have_url(re.compile(r"[?&]b="))
    visitor.page.reload()
    expect(visitor.questions).to_have_text([ASKED[language]], timeout=LOADED)
    expect(visitor.page.get_by_text("1/2", exact=True)).to_be_visible()
    visitor.settle()
    pressable(visitor, "sign-after-").click()
    expect(visitor.questions).to_have_text([EDITED[language]])
    assert visitor.width <= width


@pytest.mark.soak  # without a browser: tests/pages/test_chat_extras.py
def test_a_title_a_reason_and_a_suggestion_are_there_after_a_reload(loaded_app, visit, server):
    loaded_app.renew(SUGGEST_FOLLOW_UPS="service")
    script(server)
    visitor = visit()
    ask(visitor)
    suggested = visitor.page.get_by_role("button", name=SUGGESTED["en"])
    expect(suggested).to_be_visible(timeout=LOADED)
    visitor.settle()
    pressable(visitor, "sign-rename-").click()
    title = visitor.sidebar.locator('[class*="st-key-title-"] input')
    title.fill("Trains <b>2026</b>")
    title.press("Enter")
    expect(visitor.sidebar.get_by_role("button", name="Trains <b>2026</b>")).to_be_visible()
    visitor.settle()
    visitor.page.locator('[class*="st-key-feedback-"] button >> visible=true').last.click()
    reason = visitor.page.locator('[class*="st-key-reason-"] input')
    reason.fill("It names no year.")
    reason.press("Enter")
    expect(visitor.text("chat.reason_kept")).to_be_visible()
    visitor.page.reload()
    expect(visitor.page.locator('[class*="st-key-reason-"] input')).to_have_value("It names no year.", timeout=LOADED)
    expect(visitor.sidebar.get_by_role("button", name="Trains <b>2026</b>")).to_be_visible()
    visitor.settle()
    suggested.click()
    expect(visitor.questions).to_have_count(2, timeout=LOADED)
    visitor.wait_for_the_end()
    expect(visitor.questions.last).to_have_text(SUGGESTED["en"])


def test_what_is_selected_and_copied_has_the_brackets_of_its_markers(answered, visit):
    visitor = visit(path=answered("What is the allowance?", "It is 2,500 yen [1].").path)
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.answers.evaluate("answer => getSelection().selectAllChildren(answer)")
    visitor.page.keyboard.press("Control+C")
    plain, rich = visitor.page.evaluate(
        "navigator.clipboard.read().then(([copied]) => Promise.all("
        "['text/plain', 'text/html'].map(kind => copied.getType(kind).then(part => part.text()))))"
    )
    assert plain.strip() == "It is 2,500 yen [1]."
    assert "<button" in rich
    assert "font-size: 0px" not in rich
