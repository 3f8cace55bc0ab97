"""Uploads in the server's memory: their size is limited, and they are removed when a page has taken them."""

from pathlib import Path

import pytest

from tests.browser.asking import script
from tests.browser.documents.uploads import SEND, held
from tests.browser.visitor import LOADED
from tests.helpers.waiting import eventually

MEGABYTE = 1024 * 1024


@pytest.mark.soak  # a small one: tests/browser/documents/test_documents.py
def test_a_file_that_was_attached_to_a_question_leaves_the_memory(loaded_app, visit, server, tmp_path: Path):
    (tmp_path / "large.bin").write_bytes(bytes(5 * MEGABYTE))
    script(server, "Who approves the green car?", "A director [1].")
    visitor = visit()
    visitor.ask("Who approves the green car?", tmp_path / "large.bin")
    visitor.wait_for_the_end()
    assert eventually(lambda: held(loaded_app) < MEGABYTE)


def test_a_file_whose_page_is_left_before_it_is_sent_leaves_the_memory(loaded_app, visit, tmp_path: Path):
    (tmp_path / "large.bin").write_bytes(bytes(5 * MEGABYTE))
    visitor = visit()
    visitor.page.get_by_test_id("stChatInput").locator("input[type=file]").set_input_files(tmp_path / "large.bin")
    assert eventually(lambda: held(loaded_app) >= 5 * MEGABYTE)
    visitor.sidebar.get_by_role("link", name=visitor.words["app.search"]).click()
    assert eventually(lambda: held(loaded_app) < MEGABYTE)


def test_uploads_under_made_up_ids_fill_no_more_memory_than_a_tab_may_have(app, visit, tmp_path: Path):
    visitor = visit()
    (tmp_path / "parking.md").write_text("# Parking\n\nIt is free.\n")
    with visitor.page.expect_request(lambda request: request.method == "PUT", timeout=LOADED) as asked:
        visitor.upload(tmp_path / "parking.md")
    url, _, _ = asked.value.url.rpartition("/")
    token = asked.value.all_headers()["x-xsrftoken"]

    def send(method: str, *names: str, megabytes: int = 120) -> list[int]:
        return [visitor.page.evaluate(SEND, [method, f"{url}/made-up-{name}", token, megabytes]) for name in names]

    assert send("PUT", "1", "2") == [204, 204]
    assert send("PUT", "3", "4", megabytes=20) == [413, 413]
    send("DELETE", "1", "2")
    assert send("PUT", "3", megabytes=20) == [204]  # removed files no longer count
    send("DELETE", "3")
    visitor.complaints.clear()  # the browser logs a refused upload as an error of the page
