"""The Documents page in a real browser: adding, showing and removing documents, and scripts in them never run."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Semaphore

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from index_store.base.errors import NoText
from index_store.base.settings.settings import Settings
from index_store.store.index_store import IndexStore
from tests.browser.app_process import App
from tests.browser.conftest import Lent
from tests.browser.seen import look
from tests.browser.visitor import LOADED, Visitor
from tests.helpers.looks import one_width
from tests.index_store.parsing.loaders.pdf_file import PdfFile, Text
from tests.servers import OpenAIServer
from tests.servers.site_server import SiteServer, html

HOSTILE = (
    "<html><head><title>Hostile</title></head><body><h1>Hostile</h1><p>Some words to be searched.</p>"
    "<script>document.title = 'RAN'</script><img src=x onerror=\"document.title = 'RAN'\">"
    "<svg onload=\"document.title = 'RAN'\"></svg><iframe src=\"javascript:parent.document.title = 'RAN'\"></iframe>"
    '<a id="a" href="javascript:document.title = \'RAN\'">link</a>'
    "<form id=f action=/><button>send</button></form></body></html>"
)


NAME = "note"
CUPS = 3
DECEIVING = "](javascript:alert(1)) ![p](https://elsewhere.example/p.png) :red[x] $x$"
PAGES = ("Trains are booked by Tanaka.", "Hotels cost 12,000 yen at most.", "Receipts go to the third floor.")
SHIFT_JIS = "社員証をなくしたときは総務課に届け出てください。"
DOCUMENTS = {
    **{f"cup-{number}.txt": f"Cup number {number} stands in the kitchen.".encode() for number in range(CUPS)},
    "kettle.md": b"# Kettle\n\nIt holds 1.7 litres.\n",
    "hostile.html": HOSTILE.encode(),
    "svg.html": (
        b'<svg xmlns="http://www.w3.org/2000/svg"><text>Words of a picture</text>'
        b"<script>document.documentElement.setAttribute('ran', '1')</script></svg>"
    ),
    "shift-jis.txt": SHIFT_JIS.encode("cp932"),
    "pages.pdf": PdfFile([[Text(50, 700, text)] for text in PAGES]).content(),
    "deceiving.html": f"<h1>{DECEIVING}</h1><p>Words.</p>".encode(),
}
"""content by file name"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A data folder with all DOCUMENTS, to be copied, and their ids by file name."""
    folder, files = tmp_path_factory.mktemp("prepared"), tmp_path_factory.mktemp("documents")
    ids = {}
    with OpenAIServer() as server:
        settings = Settings(data_dir=folder, openai_base_url=server.base_url, embedding_model="test-embedding")
        with IndexStore(settings) as store:
            for name, content in DOCUMENTS.items():
                (files / name).write_bytes(content)
                ids[name] = store.add("notes", files / name, name).document_id
    return folder, ids


@pytest.fixture
def stocked(lent: Lent, prepared: tuple[Path, dict[str, str]], tmp_path: Path) -> App:
    """The app with all DOCUMENTS in it."""
    return lent.over(shutil.copytree(prepared[0], tmp_path / "stocked"))


@pytest.fixture
def opened(stocked, prepared, visit) -> Callable[[str], Visitor]:
    """Opens the page of one document."""

    def opened(name: str) -> Visitor:
        visitor = visit(path=f"/documents?doc={prepared[1][name]}")
        expect(visitor.page.locator(".document h2")).to_be_visible(timeout=LOADED)
        visitor.settle()
        return visitor

    return opened


@pytest.fixture
def original(stocked, prepared, chromium: Browser) -> Iterator[Callable[[str], Page]]:
    """Shows the original file of one document."""
    context = chromium.new_context()

    def original(name: str) -> Page:
        page = context.new_page()
        page.goto(f"{stocked.url}/originals/{prepared[1][name]}")
        return page

    yield original
    context.close()


def test_files_are_dropped_listed_and_opened_in_the_readers_language_and_the_address_keeps_it(visit, tmp_path):
    good, scan = tmp_path / f"{NAME}.md", tmp_path / f"{NAME}-scan.pdf"
    good.write_text(
        "# Kettle\n\nThe kettle holds 1.7 litres.\n\n## Care\n\nDescale it every month.\n", encoding="utf-8"
    )
    scan.write_bytes(PdfFile([[]]).content())
    visitor = visit("ja")
    visitor.show_documents()
    expect(visitor.page.get_by_role("heading", name="文書", exact=True)).to_be_visible()
    visitor.drop(good, scan)
    job = visitor.page.locator(".job")
    for language in ("ja", "en"):
        if language != visitor.language:
            visitor.choose_language(language)
            expect(visitor.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
        for told in (visitor.words["job.ready_one"], NoText(name=scan.name).sentence(language)):
            expect(job.filter(has_text=told).first).to_be_visible()
    found = look(visitor, 1280)
    visitor.find(f"{NAME}.md", 1)
    visitor.open_row(1)
    expect(visitor.page.locator(".section")).to_have_count(2)
    visitor.page.reload()
    expect(visitor.page.locator(".chunk").first).to_contain_text("The kettle holds 1.7 litres.", timeout=LOADED)
    assert "lang=en" in visitor.page.url
    assert found + look(visitor, 1280) == []
    visitor.page.get_by_role("link", name=visitor.words["document.back"]).click()
    expect(visitor.table).to_be_visible(timeout=LOADED)
    visitor.sidebar.get_by_role("link", name="Chat").click()
    expect(visitor.composer).to_be_visible(timeout=LOADED)


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """One more file to add."""
    file = tmp_path / "kettle-2.md"
    file.write_text("# Another kettle\n\nThe kettle holds 1.7 litres.\n", encoding="utf-8")
    return file


def test_what_is_half_typed_stays_while_documents_come_in(stocked, visit, server, another, tmp_path):
    server.embeds = Semaphore(0)
    files = [another, tmp_path / f"{NAME}-1.txt", tmp_path / f"{NAME}-2.txt"]
    for file in files[1:]:
        file.write_text(f"Sentence of {file.name}.", encoding="utf-8")
    visitor = visit(path="/documents")
    visitor.dropzone.set_input_files(files)
    search = visitor.page.get_by_placeholder(visitor.words["table.search"])
    search.fill("kettle")
    expect(visitor.cancel.first).to_be_visible(timeout=LOADED)
    visitor.page.get_by_role("tab", name=visitor.words["adding.site"]).click()
    field = visitor.page.get_by_label(visitor.words["site.url"])
    server.embeds.release()
    field.press_sequentially("https://half.example", delay=60)
    server.embeds.release(len(files) - 1)  # at most one call for vectors for each file
    expect(visitor.page.get_by_role("progressbar")).to_have_count(0, timeout=2 * LOADED)
    expect(field).to_have_value("https://half.example")
    expect(field).to_be_focused()
    visitor.settle()
    expect(search).to_have_value("kettle")
    search.press("Enter")
    expect(visitor.rows).to_have_count(3)


@pytest.mark.soak  # without a browser: tests/pages/test_chat.py
def test_a_file_that_arrives_as_a_search_is_entered_is_taken(stocked, visit, another):
    visitor = visit(path="/documents")
    visitor.find("kettle", 1)
    search = visitor.page.get_by_placeholder(visitor.words["table.search"])
    search.fill(another.stem)
    # Both happen in one turn of the browser's event loop, so Streamlit sends both to its server together.
    search.evaluate(
        """search => XMLHttpRequest.prototype.send = new Proxy(XMLHttpRequest.prototype.send, {
            apply(send, request, given) {
                const enter = new KeyboardEvent("keydown", { key: "Enter", bubbles: true });
                request.addEventListener("load", () => search.dispatchEvent(enter));
                return send.apply(request, given);
            }
        })"""
    )
    visitor.dropzone.set_input_files(another)
    expect(visitor.rows.nth(1)).to_contain_text(another.name, timeout=LOADED)


def test_a_file_goes_where_it_was_dropped_though_another_index_is_picked_before_it_is_sent(visit, tmp_path):
    """As on a slow line."""
    visitor = visit(path="/documents")
    page, words = visitor.page, visitor.words
    for name in ("personnel", "rules"):  # the one that was made last is picked
        page.get_by_role("button", name=words["index.new"]).click()
        page.get_by_label(words["index.name"]).fill(name)
        page.get_by_role("button", name=words["index.create"]).click()
        expect(page.get_by_label(words["index.name"])).to_have_count(0)
        visitor.settle()
    uploads = []
    page.route("**/upload_file/**", lambda upload: uploads.append(upload))
    (tmp_path / "parking.md").write_text("# Parking\n\nIt is free.\n")
    with page.expect_request("**/upload_file/**", timeout=LOADED):
        visitor.dropzone.set_input_files(tmp_path / "parking.md")
    page.get_by_test_id("stMain").get_by_role("combobox").first.click()
    page.get_by_role("option", name="personnel").click()
    visitor.settle()
    uploads[0].continue_()
    expect(visitor.button("documents.dismiss").first).to_be_visible(timeout=LOADED)
    visitor.settle()
    page.get_by_test_id("stMain").get_by_role("combobox").first.click()
    expect(page.get_by_role("option", name="rules")).to_contain_text("1")


@pytest.mark.soak  # a question with an upload: tests/pages/test_chat.py
def test_a_file_that_is_dropped_as_another_is_taken_is_taken_too(visit, tmp_path):
    first = tmp_path / f"{NAME}-1.txt"
    first.write_text(f"Sentence of {first.name}.", encoding="utf-8")
    visitor = visit(path="/documents")
    uploads = []

    def hold_all_but_the_first(upload):
        uploads.append(upload)
        if len(uploads) == 1:
            upload.continue_()

    visitor.page.route("**/upload_file/**", hold_all_but_the_first)
    # The second file is dropped when the first is uploaded, but before the server knows about it; its own upload waits.
    # It is dropped again if no upload starts: Streamlit forgets to send the address for the upload if a run of the page
    # begins at the moment when the address is requested.
    visitor.page.evaluate(
        """name => {
            const dropped = new DataTransfer();
            dropped.items.add(new File([`Sentence of ${name}.`], name));
            let uploads = 0;
            const drop = () => {
                if (uploads > 1) return;
                const dropzone = document.querySelector("[data-testid=stMain] [data-testid=stFileUploader] input");
                dropzone.files = dropped.files;
                dropzone.dispatchEvent(new Event("change", { bubbles: true }));
                setTimeout(drop, 3000);
            };
            XMLHttpRequest.prototype.send = new Proxy(XMLHttpRequest.prototype.send, {
                apply(send, request, given) {
                    if (given[0] instanceof FormData && ++uploads === 1)
                        request.addEventListener("loadend", () => setTimeout(drop));
                    return send.apply(request, given);
                }
            });
        }""",
        f"{NAME}-2.txt",
    )
    with visitor.page.expect_request(lambda request: request.method == "PUT" and bool(uploads), timeout=LOADED):
        visitor.dropzone.set_input_files(first)
    visitor.find(NAME, 1)
    for upload in uploads[1:]:
        upload.continue_()
    visitor.find(NAME, 2)


@pytest.mark.soak  # going back in the chat: tests/browser/chat/test_conversations.py
def test_going_back_and_forth_in_the_browser_closes_and_opens_a_document(stocked, visit):
    visitor = visit(path="/documents")
    visitor.find("kettle", 1)
    visitor.open_row(1)
    visitor.page.go_back()
    expect(visitor.table).to_be_visible(timeout=LOADED)
    visitor.page.go_forward()
    expect(visitor.page.locator(".document h2")).to_have_text("Kettle", timeout=LOADED)


@pytest.fixture
def many(lent: Lent, tmp_path: Path) -> App:
    """The app with more documents than the table shows at once."""
    with OpenAIServer() as server:
        settings = Settings(
            data_dir=tmp_path / "many", openai_base_url=server.base_url, embedding_model="test-embedding"
        )
        with IndexStore(settings) as store:
            for number in range(25):
                (file := tmp_path / f"{number}.txt").write_text(f"Cup number {number}.", encoding="utf-8")
                assert store.add("notes", file, file.name).error is None
    return lent.over(tmp_path / "many")


PASSING = "Object.assign(document.createElement('p'), {id: 'passing', style: 'height: 13px; margin: 0'})"
"""stands above the list while that is drawn, as an element of the page before may on a busy machine"""

LATE = """
const late = document.createElement("style");
late.textContent = "[data-testid=stMainBlockContainer] { max-height: 300px; overflow: hidden }";
document.head.append(late);
setTimeout(() => late.remove(), 2000);
"""
"""the page has little of its height for two seconds, as on a busy machine"""


@pytest.mark.soak  # going back in the chat: tests/browser/chat/test_conversations.py
@one_width("en", 1280)
def test_the_list_is_shown_where_it_was_left_for_a_document_also_by_going_back(many, visit, language, width):
    visitor = visit(language, path="/documents", width=width)
    expect(visitor.rows.nth(1)).to_be_attached(timeout=LOADED)
    visitor.page.set_viewport_size({"width": width, "height": 500})
    visitor.settle()
    scrolled = "[...document.querySelectorAll('[data-testid=stMain], .dvn-scroller')]"
    places = f"{scrolled}.map(each => each.scrollTop).join()"
    above = visitor.table.bounding_box()["y"] - 150
    for go_back in (visitor.page.go_back, visitor.page.get_by_role("link", name=visitor.words["document.back"]).click):
        visitor.page.evaluate(f"{scrolled}.forEach((each, number) => each.scrollTo(0, [{above}, 210][number]))")
        left = visitor.page.evaluate(places)
        assert left.endswith(",210")
        assert not left.startswith("0,")
        place = visitor.table.bounding_box()
        visitor.page.mouse.click(place["x"] + 70, place["y"] + 35 * 7 + 18)  # `Visitor.row` would scroll
        expect(visitor.page.locator(".document h2")).to_be_in_viewport(timeout=LOADED)
        visitor.settle()
        visitor.page.evaluate(f"document.querySelector('[data-testid=stMainBlockContainer]').prepend({PASSING})")
        visitor.page.evaluate(f"() => {{{LATE}}}")
        go_back()
        visitor.page.wait_for_function(f"() => {places} === '{left}'")
        visitor.settle()
        visitor.page.evaluate("document.getElementById('passing').remove()")
        visitor.page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        assert visitor.page.evaluate(places) == left


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
def test_what_is_sought_stays_through_reloads_and_a_look_at_a_document_and_back_returns_to_each(stocked, visit):
    visitor = visit(path="/documents")
    search = visitor.page.get_by_placeholder(visitor.words["table.search"])

    def shows(words: str, count: int) -> None:
        expect(visitor.page).to_have_url(re.compile(f"q={words}(?!.*doc=)"), timeout=LOADED)
        expect(visitor.rows).to_have_count(count + 1, timeout=LOADED)
        visitor.settle()  # while the page is drawn, the field of before can stand beside the new one
        expect(search).to_have_value(words)

    visitor.find("kettle", 1)
    shows("kettle", 1)
    visitor.page.reload()
    shows("kettle", 1)
    visitor.open_row(1)
    visitor.page.get_by_role("link", name=visitor.words["document.back"]).click()
    shows("kettle", 1)
    visitor.page.reload()
    shows("kettle", 1)
    visitor.find("cup", CUPS)
    shows("cup", CUPS)
    visitor.page.go_back()
    shows("kettle", 1)
    visitor.page.go_back()
    expect(visitor.page.locator(".document h2")).to_have_text("Kettle", timeout=LOADED)


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
def test_documents_that_are_selected_are_removed_after_a_confirmation(stocked, visit):
    visitor = visit(path="/documents")
    visitor.find("cup", CUPS)
    visitor.select_row(1)
    visitor.select_row(3)
    visitor.button("table.remove", count=2).click()
    confirm = visitor.button("table.remove_really", count=2)
    expect(confirm).to_be_visible()
    told = visitor.page.get_by_test_id("stPopoverBody").inner_text()
    # The order of these documents is not defined.
    (kept,) = [name for name in DOCUMENTS if name.startswith("cup") and Path(name).stem not in told]
    confirm.click()
    visitor.find("cup", 1)
    visitor.open_row(1)
    expect(visitor.page.locator(".document")).to_contain_text(kept)


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
def test_a_site_is_fetched_listed_and_removed(visit):
    with SiteServer() as site:
        site.pages[f"/{NAME}/"] = html("Start", f"/{NAME}/next", text=f"The first page of {NAME}.")
        site.pages[f"/{NAME}/next"] = html("Next", text=f"The second page of {NAME}.")
        visitor = visit("ja", path="/documents")
        visitor.page.get_by_role("tab", name=visitor.words["adding.site"]).click()
        visitor.page.get_by_label(visitor.words["site.url"]).fill(site.url(f"/{NAME}/"))
        visitor.button("site.crawl").click()
        expect(visitor.button("documents.dismiss").first).to_be_visible(timeout=LOADED)
        visitor.find(NAME, 2)
        listed = visitor.page.locator(".site").filter(has_text=NAME)
        expect(listed).to_contain_text(visitor.words["site.pages"].format(count=2))
        row = visitor.page.locator("[class*=st-key-site-]").filter(has=listed).last
        row.get_by_role("button", name=visitor.words["site.remove"]).click()
        visitor.button("site.remove_really").click()
        expect(listed).to_have_count(0, timeout=LOADED)
        expect(visitor.table).to_have_count(0)


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
def test_a_job_is_cancelled(visit, server, tmp_path):
    server.embeds = Semaphore(0)
    file = tmp_path / f"{NAME}.txt"
    file.write_text("The kettle holds 1.7 litres.", encoding="utf-8")
    visitor = visit(path="/documents")
    visitor.dropzone.set_input_files(file)
    expect(visitor.cancel.first).to_be_visible(timeout=LOADED)
    visitor.settle()
    visitor.cancel.first.click()
    cancelled = visitor.page.locator(".job .summary").filter(has_text=visitor.words["job.cancelled"])
    expect(cancelled.first).to_be_visible(timeout=LOADED)


def test_an_uploaded_page_runs_nothing_on_our_origin(opened, stocked):
    visitor = opened("hostile.html")
    expect(visitor.page.locator(".section")).to_contain_text("Some words to be searched.")
    link = visitor.page.get_by_role("link", name=visitor.words["document.original"])
    answered = []  # a request that the policy blocks has no response
    context = visitor.page.context

    def note(response: Response) -> None:
        answered.append(response)

    context.on("response", note)
    with context.expect_page() as tab:
        link.click()
    shown = tab.value
    expect(shown.locator("h1")).to_have_text("Hostile")
    shown.wait_for_load_state()
    assert shown.url.startswith(f"{stocked.url}/originals/")
    shown.locator("#a").click()
    shown.locator("#f button").click()
    shown.wait_for_timeout(500)
    assert shown.title() == "Hostile"
    assert shown.evaluate("window.origin") == "null"
    context.remove_listener("response", note)
    # The page with the link may still load its own parts.
    assert [each.url for each in answered if each.frame.page != visitor.page] == [shown.url]


def test_a_picture_that_holds_a_script_is_never_shown(original):
    shown = original("svg.html")
    expect(shown.locator("body")).to_contain_text("Words of a picture")
    assert shown.locator("[ran]").count() == 0


@pytest.mark.soak  # without a browser: tests/pages/server/test_originals.py
def test_text_in_shift_jis_is_shown_right(original):
    expect(original("shift-jis.txt").locator("body")).to_contain_text(SHIFT_JIS)


@pytest.mark.soak  # a citation's does too: tests/pages/widgets/answer/test_answer.py
def test_a_page_number_leads_to_the_page_of_the_pdf(opened):
    visitor = opened("pages.pdf")
    link = visitor.page.locator(".section header a").last
    expect(link).to_have_attribute("href", re.compile(r"^originals/\w{32}#page=3$"))
    expect(link).to_have_attribute("target", "_blank")


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
def test_a_title_made_to_deceive_is_shown_letter_for_letter(opened):
    visitor = opened("deceiving.html")
    expect(visitor.page.locator(".document h2")).to_have_text(DECEIVING)
    expect(visitor.page.locator(".document a[href^=javascript]")).to_have_count(0)


@pytest.mark.soak  # from a hit, whose card is the same: tests/browser/documents/test_search_page.py
def test_a_citation_leads_to_its_document(answered, visit):
    loaded = visit(path=answered("Who approves the green car?", "A director approves it [1].").path)
    loaded.page.locator(".answer .cite").click()
    card = loaded.page.locator(".passage-card:popover-open")
    with loaded.page.context.expect_page() as tab:
        card.get_by_role("link", name=loaded.words["chat.open_document"]).click()
    expect(tab.value.locator(".section")).to_have_count(1, timeout=LOADED)
    expect(tab.value.locator(".document")).to_contain_text("travel.md")
    original = card.get_by_role("link", name=loaded.words["chat.open_original"])
    expect(original).to_have_attribute("href", re.compile("^originals/"))


@one_width("ja", 390)
def test_nothing_is_wider_than_the_screen(stocked, visit, language, width):
    visitor = visit(language, path="/documents", width=width)
    expect(visitor.table).to_be_visible(timeout=LOADED)
    assert visitor.width <= width
    visitor.find("kettle", 1)
    visitor.open_row(1)
    assert visitor.width <= width


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
def test_an_index_is_made_used_and_deleted(visit, tmp_path):
    file: Path = tmp_path / f"{NAME}.txt"
    file.write_text("The lamp is green.", encoding="utf-8")
    visitor = visit(path="/documents")
    visitor.button("index.new").click()
    visitor.page.get_by_label(visitor.words["index.name"]).fill(NAME)
    visitor.button("index.create").click()
    picker = visitor.page.locator(".st-key-indexes").get_by_role("combobox")
    expect(picker).to_have_value(re.compile(NAME))
    visitor.drop(file)
    visitor.page.reload()
    expect(picker).to_have_value(re.compile(rf"{NAME} .*1 "), timeout=LOADED)
    visitor.settle()
    visitor.button("index.delete").click()
    visitor.button("index.delete_really").click()
    expect(picker).to_have_count(0, timeout=LOADED)
    expect(visitor.table).to_have_count(0)


@pytest.mark.soak  # with a button: tests/pages/test_documents.py
def test_enter_takes_the_name_of_an_index(visit):
    visitor = visit(path="/documents")
    picker, name = visitor.page.locator(".st-key-indexes").get_by_role("combobox"), visitor.words["index.name"]
    visitor.button("index.new").click()
    visitor.page.get_by_label(name).fill("travel")
    visitor.page.get_by_label(name).press("Enter")
    expect(picker).to_have_value(re.compile("travel"))
    visitor.settle()
    visitor.button("index.manage").click()
    visitor.page.get_by_label(name).fill("expenses")
    visitor.page.get_by_label(name).press("Enter")
    expect(picker).to_have_value(re.compile("expenses"))


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
def test_what_came_of_a_retry_of_all_that_failed_is_shown_at_once(loaded, tmp_path):
    (empty := tmp_path / "empty.txt").touch()
    loaded.show_documents()
    loaded.drop(empty)
    loaded.dismiss_jobs()
    loaded.button("table.retry_all_one").click()
    expect(loaded.page.locator(".job")).to_contain_text("empty.txt")


@pytest.mark.soak  # without a browser: tests/pages/test_documents.py
def test_the_form_for_a_site_stays_open_when_the_language_changes(visit):
    visitor = visit("en", path="/documents")
    visitor.page.get_by_role("tab", name=visitor.words["adding.site"]).click()
    visitor.settle()
    address = visitor.page.get_by_label(visitor.words["site.url"])
    address.fill("https://half.example")
    visitor.page.get_by_text(visitor.words["site.options"]).click()
    visitor.page.get_by_label(visitor.words["site.include"]).fill("/docs/*")
    for language in ("ja", "en"):
        visitor.choose_language(language)
        tab = visitor.page.get_by_role("tab", name=visitor.words["adding.site"])
        expect(tab).to_have_attribute("aria-selected", "true", timeout=LOADED)
        expect(visitor.page.get_by_label(visitor.words["site.url"])).to_have_value("https://half.example")
        include = visitor.page.get_by_label(visitor.words["site.include"])
        expect(include).to_be_visible()
        expect(include).to_have_value("/docs/*")
