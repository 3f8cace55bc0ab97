"""Sharing in real browsers: a link that another person reads until it is revoked, and a file that opens offline."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.errors import NothingOfThisName, UnknownShare
from rag.runs.export.export import Export
from tests.browser.asking import script
from tests.browser.runs.sharing import head, make_link, open_sharing
from tests.browser.visitor import LOADED, Visitor, boxes
from tests.helpers.handbook import HANDBOOK
from tests.helpers.looks import one_language, one_width

HOSTILE = (
    "<img src=https://elsewhere.example/x.png onerror=alert(1)> ![x](https://elsewhere.example/y.png) [a](javascript:x)"
)
QUESTION = f"Who approves the green car? {HOSTILE}"
ANSWER = "A director approves the green car [1]."
HOSTILE_ANSWER = (
    f"A director approves the green car [1].\n\n{HOSTILE}\n\n<script src=https://elsewhere.example/z.js></script>"
)
OFFLINE_WIDTHS = (390, 1280)


@one_width("en", 1280)
def test_a_link_is_read_by_another_person_until_it_is_revoked(answered, visit, language, width):
    owner = visit(language, path=answered(QUESTION, ANSWER).path, width=width)
    open_sharing(owner, head(owner))
    link = make_link(owner)
    assert link.startswith(owner.page.evaluate("location.origin") + "/shared?share=")
    assert owner.width <= width

    reader = visit(language, width=width)
    reader.page.goto(link)
    expect(reader.questions).to_have_text(QUESTION, timeout=LOADED)
    expect(reader.answers).to_contain_text("A director approves")
    expect(reader.composer).to_have_count(0)
    expect(reader.page.get_by_test_id("stFeedback")).to_have_count(0)
    expect(reader.button("chat.again")).to_have_count(0)
    expect(reader.page.get_by_text(reader.words["sidebar.new_chat"])).to_have_count(0)
    reader.open(reader.traces)
    expect(reader.step("retrieve")).to_be_visible(timeout=LOADED)
    expect(reader.page.locator(".run-graph .drawing")).to_be_visible()
    assert reader.width <= width

    owner.settle()
    owner.page.get_by_role("button", name=owner.words["share.revoke"]).click()
    expect(owner.page.get_by_test_id("stCode")).to_have_count(0, timeout=LOADED)
    refused = reader.page.get_by_text(UnknownShare().sentence(language))
    expect(refused).to_be_visible(timeout=LOADED)  # without any action of the reader
    expect(reader.questions).to_have_count(0)
    reader.page.reload()
    expect(refused).to_be_visible(timeout=LOADED)


@pytest.mark.soak  # in the chat: tests/browser/chat/test_answers.py
@one_width("en", 390)
def test_the_reader_of_a_link_sees_formulae_and_copies_code(answered, visit, language, width):
    owner = visit(language, path=answered(QUESTION, f"{ANSWER} $\\frac{{a}}{{b}}$\n\n```\na = b\n```").path)
    open_sharing(owner, head(owner))
    reader = visit(language, width=width)
    reader.page.context.grant_permissions(["clipboard-write"])
    reader.page.goto(make_link(owner))
    expect(reader.answers.locator("math mfrac")).to_be_visible(timeout=LOADED)
    copy = reader.answers.locator(".code .copy")
    copy.click()
    expect(copy).to_have_text(reader.words["chat.copied"])


@pytest.mark.soak
@one_language("ja")
def test_what_was_deleted_in_another_tab_goes_from_the_page_on_which_it_was_about_to_be_shared(
    answered, visit, language, tmp_path
):
    path = answered(QUESTION, ANSWER).path
    deleting, watching, pressing = (visit(language, path=path) for _ in range(3))
    for visitor in (watching, pressing):
        expect(visitor.questions).to_have_count(1, timeout=LOADED)
        open_sharing(visitor, head(visitor))
    # This page no longer refreshes itself, so the button stays.
    pressing.page.evaluate("for (let timer = setTimeout(() => 0); timer; timer--) clearTimeout(timer)")
    deleted = path.partition("c=")[2]
    deleting.delete_conversation()
    expect(watching.text("empty.title")).to_be_visible(timeout=LOADED)
    file = saved(pressing, "JSON", tmp_path)
    assert file.read_text(encoding="utf-8") == NothingOfThisName(name=deleted).sentence(language)


@pytest.mark.soak  # without a browser: tests/pages/test_share.py
def test_the_list_of_links_is_reached_from_an_answer_and_ends_one(answered, visit):
    visitor = visit(path=answered(QUESTION, ANSWER).path)
    open_sharing(visitor, visitor.page.get_by_test_id("stChatMessage").last)
    link = make_link(visitor)
    visitor.page.get_by_role("link", name=visitor.words["share.all"]).click()
    expect(visitor.page.get_by_role("heading", name=visitor.words["share.all"])).to_be_visible(timeout=LOADED)
    visitor.settle()  # until then, a button of the same name may still be there on the page that was left
    visitor.page.get_by_role("button", name=visitor.words["share.revoke"]).click()
    revoked = re.compile("^" + visitor.words["share.revoked"].partition(" ")[0])
    expect(visitor.page.get_by_text(revoked)).to_be_visible(timeout=LOADED)
    visitor.page.goto(link)
    expect(visitor.page.get_by_text(UnknownShare().sentence("en"))).to_be_visible(timeout=LOADED)


@pytest.mark.soak  # the focus of other buttons: tests/browser/runs/test_runs_page.py
def test_a_link_that_was_revoked_says_so_in_one_line_and_the_focus_goes_to_the_next(answered, visit):
    visitor = visit("ja", path=answered("当日の取り消しはどうなりますか?" * 5, ANSWER).path)
    open_sharing(visitor, head(visitor))
    for _ in range(2):
        make_link(visitor)
        visitor.settle()
    visitor.page.goto(visitor.page.url.replace("/?", "/shares?"))
    revoke = visitor.button("share.revoke")
    expect(revoke).to_have_count(2, timeout=LOADED)
    visitor.settle()
    revoke.first.focus()
    keyboard = visitor.page.keyboard
    keyboard.down("Enter")
    expect(revoke).to_have_count(1, timeout=LOADED)
    visitor.page.wait_for_timeout(300)
    keyboard.down("Enter")  # it is held down, so it is told again
    keyboard.up("Enter")
    expect(revoke).to_be_focused()
    visitor.settle()
    told, button = boxes(visitor.page.get_by_text(re.compile("^取り消し 20")).or_(revoke))
    assert told["right"] == pytest.approx(button["right"], abs=2)


def saved(visitor: Visitor, name: str, folder: Path) -> Path:
    with visitor.page.expect_download(timeout=LOADED) as download:
        visitor.page.get_by_test_id("stPopoverBody").get_by_role("button", name=name).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


@pytest.fixture
def offline(chromium: Browser) -> Iterator[Page]:
    """A page without network and scripts. If it requests anything or logs a message, the test fails."""
    context = chromium.new_context(offline=True, java_script_enabled=False)
    page, asked, complaints = context.new_page(), [], []
    page.on("request", lambda request: None if request.is_navigation_request() else asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert [each for each in asked if not each.startswith("data:")] == []
    assert complaints == []


@one_language("ja")
def test_a_saved_file_opens_without_network_and_scripts_and_shows_all(
    app_with, visit, server, language, tmp_path, offline
):
    visitor = visit(language, app=app_with("travel.md", f"{HANDBOOK}\n\n## {HOSTILE}\n\n{HOSTILE} </style>\n"))
    script(server, QUESTION[:20], HOSTILE_ANSWER)
    visitor.ask(QUESTION)
    visitor.wait_for_the_end()
    open_sharing(visitor, visitor.page.get_by_test_id("stChatMessage").last)
    words = visitor.words
    file = saved(visitor, words["export.html"], tmp_path)
    for width in OFFLINE_WIDTHS:
        for scheme in ("light", "dark"):
            offline.set_viewport_size({"width": width, "height": 900})
            offline.emulate_media(color_scheme=scheme)
            offline.goto(file.as_uri())
            expect(offline.locator("h2.question")).to_have_text(QUESTION)
            expect(offline.locator(".answer")).to_contain_text("onerror=alert(1)")
            expect(offline.locator("img, script, iframe")).to_have_count(0)
            expect(offline.locator(".run-graph .drawing").first).to_be_visible()
            assert offline.evaluate("document.documentElement.scrollWidth") <= width

            row = offline.locator("details.row").filter(has_text=words["step.grade_documents"])
            expect(row.locator(".passage").first).not_to_be_visible()
            row.locator("summary").first.click()
            expect(row.locator(".passage").first).to_be_visible()
            offline.locator(".drawing a.node").filter(has_text=words["step.retrieve"]).click()
            expect(offline.locator("#run-1-retrieve-1 .passage").first).to_be_in_viewport()
            offline.locator(".answer .cite").first.click()
            expect(offline.locator(".passage-card .cited").first).to_be_visible()


@pytest.mark.soak  # a short answer on paper is tested below
def test_on_paper_long_tables_and_code_are_whole(answered, visit):
    wide = "| " + " | ".join(f"column {number}" for number in range(12)) + " |\n" + "|---" * 12 + "|\n"
    rows = "".join("| " + " | ".join(["12345"] * 12) + " |\n" for _ in range(30))
    code = "\n".join(f"line {number}" for number in range(60)) + " and so on" * 30
    visitor = visit(path=answered(QUESTION, f"{ANSWER}\n\n{wide}{rows}\n```\n{code}\n```\n").path)
    parts = visitor.answers.locator("table, pre")
    expect(parts).to_have_count(2, timeout=LOADED)
    is_cut = "all => all.map(each => each.scrollHeight > each.clientHeight || each.scrollWidth > each.clientWidth)"
    assert parts.evaluate_all(is_cut) == [True, True]
    visitor.page.emulate_media(media="print")
    assert parts.evaluate_all(is_cut) == [False, False]
    assert visitor.answers.evaluate("each => each.scrollWidth <= each.clientWidth")


def test_on_paper_are_questions_and_answers_without_the_titles_of_other_conversations_and_without_controls(
    answered, visit
):
    visitor = visit(path=answered(QUESTION, ANSWER).path)
    expect(visitor.answers).to_have_count(1, timeout=LOADED)
    on_screen = visitor.page.get_by_test_id("stMain").bounding_box()["x"]
    visitor.page.emulate_media(media="print")
    for shown in (visitor.questions, visitor.answers):
        expect(shown).to_be_visible()
    for control in (visitor.sidebar, visitor.composer, visitor.button("chat.again"), head(visitor)):
        expect(control).to_be_hidden()
    assert visitor.page.get_by_test_id("stMain").bounding_box()["x"] == 0 < on_screen


@pytest.mark.soak  # a page is saved above; what is in the files: tests/rag/runs/export
def test_markdown_and_json_are_saved_under_the_name_of_their_question(answered, visit, tmp_path):
    visitor = visit(path=answered(QUESTION, ANSWER).path)
    open_sharing(visitor, head(visitor))
    markdown, stored = saved(visitor, "Markdown", tmp_path), saved(visitor, "JSON", tmp_path)
    assert markdown.name.startswith(QUESTION[:25])
    assert "[^1]:" in markdown.read_text(encoding="utf-8")
    assert Export.from_json(stored.read_text(encoding="utf-8")).runs[0].started.question == QUESTION
