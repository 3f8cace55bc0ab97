"""What the pages say if data is unavailable, damaged or newer, the disk is full, or a cited document was removed."""

import sqlite3
from contextlib import closing

import pytest

from index_store.base.errors import DatabaseAway, StoreFailed
from pages.server import process
from pages.texts import texts
from pages.widgets.answer.answer import answer_html
from pages.widgets.trace import detail
from pages.widgets.trace.panel import show_rows
from pages.words.names import plain
from rag.errors import NotSaved
from rag.runs.engine import Engine, UserEngine
from rag.runs.history.schema import FILE
from rag.runs.run.options import RunOptions
from rag.text.language import Language
from rag.trace.details import UnknownDetail
from rag.trace.events import StepFinished, StepStarted
from tests.helpers.back_doors import process_of
from tests.helpers.full_disk import full_disk, linux
from tests.helpers.looks import one_language
from tests.helpers.waiting import eventually
from tests.pages.conftest import restart
from tests.pages.reader import for_reader
from tests.pages.tabs.app_page import shown
from tests.pages.tabs.chat_page import ChatPage
from tests.pages.tabs.compare_page import ComparePage
from tests.pages.tabs.fork_form import Form
from tests.pages.tabs.runs_page import RunsPage
from tests.pages.trace_examples import PASSAGE
from tests.rag.scripted import ScriptedChat, Unending
from tests.rag.verdicts import YES

each_language = pytest.mark.parametrize("language", ["ja", "en"])

SENTENCE = "The safe opens to the left."


@pytest.fixture
def handbook(engine, server, tmp_path) -> None:
    file = tmp_path / "safe.md"
    file.write_text(f"# Safe\n\n{SENTENCE}\n", encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    server.default = "To the left [1]."
    server.answer_when(lambda request: request.schema is not None, YES)


@one_language("ja")
def test_a_database_that_is_away_is_told_on_the_page_which_goes_on_when_it_is_back(
    server, postgres, data_dir, monkeypatch, language
):
    url = postgres.new_database()
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    process.engine().store.create_index("handbook")
    page = ChatPage(language)
    assert not page.errors
    postgres.stop()
    try:
        assert page.look().errors == [DatabaseAway().sentence(language)]
    finally:
        postgres.start()
    assert not page.look().errors
    process.close_engine()
    postgres.drop(url)


@one_language("en")
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


@one_language("ja")
def test_a_start_that_failed_is_told_as_what_it_was_at_the_next_look_too(handbook, engine, language):
    process.close_engine()
    with closing(sqlite3.connect(engine.settings.data_dir / FILE)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for _ in range(2):
        [told] = ChatPage(language).errors
        assert "9999" in told


def test_an_engine_that_can_not_be_closed_is_followed_by_a_new_one(data_dir, monkeypatch):
    before = Engine(source=Unending(ScriptedChat()))
    monkeypatch.setattr(process, "_engine", before)
    with pytest.raises(OSError, match="it does not end"):
        process.close_engine()
    assert process.whole_engine() is not before
    assert process.engine().store.indexes() == []


@linux
@one_language("en")
def test_a_full_disk_is_told_in_a_sentence_when_someone_asks(handbook, language):
    page = ChatPage(language)
    page.ask("Where does it open?")
    with full_disk():
        page.app.chat_input[0].set_value("And why?")
        page.look()
    assert NotSaved().sentence(language) in page.errors


@linux
@one_language("ja")
def test_a_full_disk_is_told_in_a_sentence_when_someone_drops_a_file(handbook, language):
    page = ChatPage(language)
    with full_disk():
        page.app.file_uploader[0].set_value([("long.md", b"x" * 100_000, "text/markdown")])
        page.look()
    assert page.errors == [StoreFailed(name="long.md").sentence(language)]


@linux
def test_on_a_full_disk_whatever_is_pressed_ends_in_a_sentence_and_leaves_nothing_behind(handbook, engine):
    run = engine.ask("Where does it open?", index="handbook", pipeline_name="naive")
    run.result()
    engine.history.rate(run.id, -1)
    columns = [RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid")]
    comparison = engine.comparisons.begin("Where?", "handbook", columns).id
    chat, new = ChatPage("ja", run.conversation_id), ChatPage("en")
    compare, compared = ComparePage("ja"), ComparePage("en", c=comparison).wait()
    runs, form = RunsPage("ja", run=run.id), Form(run, "retrieve", "en")
    form.set("text_area", "query", "safe")
    chat.pick("pipeline.label", "naive")
    chat.app.session_state[f"share-{run.conversation_id}"] = True
    chat.press_key("sign-rename-")
    before = kept(engine)

    def told(page: ChatPage | ComparePage | RunsPage, language: Language) -> bool:
        assert [shown(each.value) for each in page.app.error] == [NotSaved().sentence(language)]
        assert kept(engine) == before
        return True

    with full_disk():
        for page, language in ((chat, "ja"), (new, "en")):
            page.app.chat_input[0].set_value("And why?")
            page.look()
            assert told(page, language)
            assert page.app.chat_input[0].proto.value == "And why?"
        chat.app.feedback[0].set_value(1)
        assert told(chat.look(), "ja")
        assert chat.app.feedback[0].value == 0
        [title] = [each for each in chat.app.text_input if str(each.key).startswith("title-")]
        title.set_value("My own name")
        assert told(chat.look(), "ja")
        assert title.key in [each.key for each in chat.app.text_input]
        for label in ("chat.again", "share.make"):
            chat.press(chat.words[label])
            assert told(chat, "ja")
        chat.press_key("danger-delete-conversation")
        assert told(chat, "ja")
        assert told(compare.compare("Where?"), "ja")
        compared.press(compared.words["compare.vote"])
        assert told(compared, "en")
        assert told(runs.choose("runs.why_label", "no_document"), "ja")
        form.run_on()
        assert told(form.page, "en")
    assert chat.ask("And why?").status == "finished"


def kept(engine: UserEngine) -> list[object]:
    """All rows of the history."""
    with closing(sqlite3.connect(engine.settings.data_dir / FILE)) as connection:
        return list(connection.iterdump())


@one_language("ja")
def test_an_event_that_only_a_newer_version_knows_is_shown_as_unknown(handbook, engine, language):
    run = engine.ask("Where does it open?", index="handbook", pipeline_name="naive")
    run.result()
    stored = '{"kind":"cost_estimated","note":"<b>0.01</b>"}'
    with closing(sqlite3.connect(engine.settings.data_dir / FILE)) as connection, connection:
        connection.execute("UPDATE events SET event = ? WHERE position = 1", (stored,))
    events = engine.history.events(run.id)
    _, page = for_reader(language, lambda: show_rows(events, 1.0, "k"))
    words = texts(language)
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
    summary, page = for_reader(language, lambda: (detail.show_detail(step, "i"), detail.summary(step))[1])
    assert summary.endswith("reorder")
    assert "&lt;i&gt;" in page.html[0].value


@one_language("en")
def test_of_a_document_that_was_removed_answer_and_trace_say_so(handbook, engine, language):
    run = engine.ask("Where does it open?", index="handbook", pipeline_name="naive")
    run.result()
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
