"""Files that are uploaded in the sidebar or with a question, in a real browser; some can't be loaded."""

import re
from threading import Semaphore

import pytest
from playwright.sync_api import expect

from index_store.base.errors import EmptyDocument, NoText, UnknownKind
from index_store.base.settings.settings import MEGABYTE
from index_store.parsing.loaders.formats import LOADABLE
from pages.server.upload_limit import TooMuchAtOnce
from tests.browser.asking import script
from tests.browser.documents.uploads import held
from tests.browser.visitor import LOADED
from tests.helpers.waiting import eventually
from tests.index_store.parsing.loaders.pdf_file import PdfFile


@pytest.mark.soak  # without a browser: tests/pages/test_chat.py
def test_a_file_uploaded_in_the_sidebar_is_added_and_counted(visit, tmp_path):
    file = tmp_path / "note.txt"
    file.write_text("The kettle of the kitchen holds 1.7 litres.", encoding="utf-8")
    visitor = visit("ja")
    visitor.upload(file)
    expect(visitor.text("job.ready_one").last).to_be_visible()
    visitor.upload(file)
    expect(visitor.text("job.unchanged_one").last).to_be_visible()
    picker = visitor.index_picker  # the second upload has drawn it again, so it counts the first file
    before = int("".join(filter(str.isdigit, picker.input_value())))
    another = tmp_path / "second.md"
    another.write_text("# Toaster\n\nThe toaster of the kitchen has two slots.", encoding="utf-8")
    visitor.upload(another)
    expect(picker).to_have_value(re.compile(rf"\D{before + 1}\D"))


@pytest.mark.soak  # other odd names: tests/browser/test_hostile_names.py
def test_a_quotation_mark_in_the_name_of_a_file_is_shown_as_it_is(visit, tmp_path):
    """The browser sends it as %22."""
    file = tmp_path / 'The "final" minutes.txt'
    file.write_text("The kettle of the kitchen holds 1.7 litres.", encoding="utf-8")
    visitor = visit()
    visitor.upload(file)
    visitor.show_documents()
    expect(visitor.rows.nth(1)).to_contain_text(file.name)


@pytest.mark.soak  # without a browser: tests/pages/test_chat.py
def test_as_soon_as_the_first_document_is_ready_the_page_offers_to_ask_while_others_are_added(visit, server, tmp_path):
    server.embeds = Semaphore(0)
    short, long = tmp_path / "kettle.md", tmp_path / "log.txt"
    short.write_text("# Kettle\n\nThe kettle of the kitchen holds 1.7 litres.", encoding="utf-8")
    long.write_text("\n\n".join(f"On day {day} nothing happened. " * 20 for day in range(3000)), encoding="utf-8")
    visitor = visit()
    visitor.sidebar.locator("input[type=file]").set_input_files([short, long])
    expect(visitor.text("empty.adding")).to_be_visible(timeout=LOADED)
    server.embeds.release()  # for the short file; the long one needs many calls for vectors
    expect(visitor.text("empty.ask")).to_be_visible(timeout=LOADED)
    expect(visitor.index_picker).to_have_value(re.compile(r"\b1 document\b"))
    visitor.cancel.last.click()  # on a slow machine, the files may be two jobs
    expect(visitor.button("documents.dismiss").last).to_be_visible(timeout=LOADED)


def test_a_file_dropped_with_a_question_is_what_the_answer_comes_from_and_leaves_the_memory(
    app, visit, server, tmp_path
):
    file = tmp_path / "garden.md"
    file.write_text("# Garden\n\nThe gardener comes on the second Thursday of a month.\n", encoding="utf-8")
    question = "When does the gardener come?"
    script(server, question, "On the second Thursday [1].")
    visitor = visit()
    before = held(app)
    visitor.ask(question, file)
    visitor.wait_for_the_end()
    assert eventually(lambda: held(app) <= before)
    visitor.page.locator(".answer .cite").click()
    card = visitor.page.locator(".passage-card:popover-open")
    expect(card).to_contain_text("garden.md")
    expect(card.locator(".cited")).to_contain_text("The gardener comes on the second Thursday of a month.")
    visitor.open(visitor.traces)
    expect(visitor.step("add_documents")).to_contain_text(visitor.words["job.ready_one"])


@pytest.mark.soak  # on its page: tests/browser/documents/test_documents_page.py
def test_a_file_that_cannot_be_loaded_is_told_in_one_sentence_and_nothing_is_lost(loaded, tmp_path):
    empty, unknown, blank = (tmp_path / name for name in ("empty.txt", "picture.xyz", "scan.pdf"))
    empty.touch()
    unknown.write_bytes(b"\x00\x01\x02 not a document")
    blank.write_bytes(PdfFile([[]]).content())
    before = loaded.index_picker.input_value()
    loaded.upload(empty, unknown, blank)
    expect(loaded.index_picker).to_have_value(before)
    for language in ("en", "ja"):
        if language != loaded.language:
            loaded.choose_language(language)
        expect(loaded.text("job.failed", count=3).last).to_be_visible()
        for error in (
            EmptyDocument(name=empty.name),
            UnknownKind(name=unknown.name, known=" ".join(LOADABLE)),
            NoText(name=blank.name),
        ):
            expect(loaded.page.get_by_text(error.sentence(language)).last).to_be_visible()
        expect(loaded.page.get_by_text("Traceback")).to_have_count(0)


@pytest.mark.soak  # one that the server refuses is tested below
def test_a_file_that_the_browser_refuses_for_its_size_is_told_in_the_language_of_the_page(loaded, tmp_path):
    file = tmp_path / "scans.pdf"
    with file.open("wb") as sparse:
        sparse.truncate(201 * MEGABYTE)
    for place in (loaded.sidebar, loaded.page.get_by_test_id("stChatInput")):
        place.locator("input[type=file]").set_input_files(file)
    for language in ("en", "ja"):
        loaded.choose_language(language)
        told = loaded.words["label.too_large"].format(label="200.0MB")
        for place in (loaded.sidebar, loaded.page.get_by_test_id("stChatInput")):
            expect(place.get_by_role("alert")).to_have_text(f"{loaded.words['label.error']}: {told}")
            place.get_by_test_id("stFileChip").hover()
            expect(loaded.page.get_by_test_id("stTooltipErrorContent")).to_have_text(told)
        expect(
            loaded.page.get_by_test_id("stChatInput").get_by_title(loaded.words["label.retry_upload"])
        ).to_be_visible()


@pytest.mark.parametrize("status", [TooMuchAtOnce.status, pytest.param(502, marks=pytest.mark.soak)])
def test_a_file_that_the_server_refuses_is_told_what_to_do_in_the_language_of_the_page(loaded, tmp_path, status):
    file = tmp_path / "note.md"
    file.write_text("# Note\n\nThe gardener comes on Thursday.\n", encoding="utf-8")
    loaded.page.route("**/_stcore/upload_file/**", lambda route: route.fulfill(status=status))
    loaded.sidebar.locator("input[type=file]").set_input_files(file)
    for language in ("en", "ja"):
        loaded.choose_language(language)
        error, other = (loaded.words[f"label.{each}"] for each in ("error", "not_sent"))
        told = TooMuchAtOnce().sentence(language) if status == TooMuchAtOnce.status else other
        expect(loaded.sidebar.get_by_role("alert")).to_have_text(f"{error}: {told}")
    loaded.complaints.clear()  # the browser's own, of the status
