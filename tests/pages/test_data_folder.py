"""What the pages say of a data folder that is damaged, full, newer, or without a document that was quoted."""

import sqlite3
from contextlib import closing

import pytest

from index_store.base.errors import StoreFailed
from pages import process
from pages.widgets.chat.answer import answer_html
from pages.widgets.trace import detail
from pages.widgets.trace.panel import show_rows
from pages.words import plain
from rag.errors import NotSaved
from rag.runs.history.schema import FILE
from rag.trace.details import UnknownDetail
from rag.trace.events import StepFinished, StepStarted
from tests.full_disk import full_disk, linux
from tests.local import process_of
from tests.pages.chat_page import ChatPage
from tests.pages.conftest import restart
from tests.pages.reader import for_reader
from tests.pages.trace_examples import PASSAGE
from tests.rag.scripted import eventually

each_language = pytest.mark.parametrize("language", ["ja", "en"])

SENTENCE = "The safe opens to the left."


@pytest.fixture
def handbook(engine, server, tmp_path) -> None:
    file = tmp_path / "safe.md"
    file.write_text(f"# Safe\n\n{SENTENCE}\n", encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    server.default = "To the left [1]."


@each_language
def test_a_damaged_history_is_told_until_that_is_read_and_the_rest_opens(handbook, engine, language):
    ChatPage(language).ask("Where does it open?")
    process.close_engine()
    file = engine.settings.data_dir / FILE
    file.write_bytes(b"This is no database. " * 1000)
    aside = restart().history.set_aside
    page = ChatPage(language)
    [told] = page.look().app.warning
    assert told.value == page.words["app.history_set_aside"].format(file=plain(aside.name))
    assert not page.errors
    assert [each.documents for each in process.engine().store.indexes()] == [1]
    page.press(page.words["documents.dismiss"])
    assert not page.look().app.warning


@each_language
def test_a_start_that_failed_is_told_as_what_it_was_at_the_next_look_too(handbook, engine, language):
    process.close_engine()
    with closing(sqlite3.connect(engine.settings.data_dir / FILE)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for _ in range(2):
        [told] = ChatPage(language).errors
        assert "9999" in told


@linux
@each_language
def test_a_full_disk_is_told_in_a_sentence_when_someone_asks(handbook, language):
    page = ChatPage(language)
    page.ask("Where does it open?")
    with full_disk():
        page.app.chat_input[0].set_value("And why?")
        page.look()
    assert NotSaved().sentence(language) in page.errors


@linux
@each_language
def test_a_full_disk_is_told_in_a_sentence_when_someone_drops_a_file(handbook, language):
    page = ChatPage(language)
    with full_disk():
        page.app.file_uploader[0].set_value([("long.md", b"x" * 100_000, "text/markdown")])
        page.look()
    assert page.errors == [StoreFailed(name="long.md").sentence(language)]


@each_language
def test_an_event_that_only_a_newer_version_knows_is_shown_as_unknown(handbook, engine, language):
    run = ChatPage(language).ask("Where does it open?")
    stored = '{"kind":"cost_estimated","note":"<b>0.01</b>"}'
    with closing(sqlite3.connect(engine.settings.data_dir / FILE)) as connection, connection:
        connection.execute("UPDATE events SET event = ? WHERE position = 1", (stored,))
    events = engine.history.events(run.id)
    _, page = for_reader(language, lambda: show_rows(events, 1.0, "k"))
    words = ChatPage(language).words
    assert sum(words["step.unknown"] in each.label and "cost" in each.label for each in page.expander) == 1
    assert any("&lt;b&gt;0.01" in each.value for each in page.html)
    assert sum(words["step.retrieve"] in each.label for each in page.expander) == 1


@each_language
def test_a_step_and_a_detail_that_only_a_newer_version_knows_are_shown_by_their_names(language):
    step = StepFinished(
        step="reorder_all", attempt=1, start=0, milliseconds=1, model_calls=0, tokens_in=0, tokens_out=0,
        detail=UnknownDetail(named="reorder", stored='{"note":"<i>"}'),
    )  # fmt: skip
    events = [StepStarted(step="reorder_all", attempt=1, start=0), step]
    _, page = for_reader(language, lambda: show_rows(events, 1.0, "k"))
    [row] = page.expander
    assert "reorder all" in row.label
    summary, page = for_reader(language, lambda: (detail.show(step, "i"), detail.summary(step))[1])
    assert summary.endswith("reorder")
    assert "&lt;i&gt;" in page.html[0].value


@each_language
def test_of_a_document_that_was_removed_answer_and_trace_say_so(handbook, engine, language):
    run = ChatPage(language).ask("Where does it open?")
    assert engine.store.remove("handbook", "safe.md")
    assert eventually(lambda: process_of(engine).store.removed() == [])
    page = ChatPage(language, run.conversation_id)
    [answer] = page.answers
    assert page.words["chat.removed"] in answer
    assert "Safe" in answer
    assert SENTENCE not in answer
    events = engine.history.events(run.id)
    _, trace = for_reader(language, lambda: show_rows(events, 1.0, "k"))
    shown = "".join(each.value for each in trace.html)
    assert page.words["chat.removed"] in shown
    assert "safe.md" in shown
    assert SENTENCE not in shown


def test_a_passage_that_was_removed_offers_no_way_to_its_document(engine):
    gone = PASSAGE.model_copy(update={"removed": True, "text": ""})
    html, _ = for_reader("en", lambda: answer_html("[1]", [gone], engine.store, "k"))
    assert "<footer>" not in html
