"""Data folders that an engine can't open, or can't write to any more."""

import io
import sqlite3
import threading
from contextlib import closing

import pytest

from index_store.base.database.database import backend_of
from index_store.base.errors import DataFolderNewer, DataFolderUnusable
from index_store.ingestion.sources import keep_upload
from rag.errors import NotSaved
from rag.runs.engine import Engine, UserEngine
from rag.runs.fork.edits import EditQuery
from rag.runs.history.conversations.comparison import Comparison
from rag.runs.history.schema import FILE
from rag.runs.retention.retention import Retention
from rag.runs.run.options import RunOptions
from rag.settings import Settings
from tests.helpers.back_doors import process_of
from tests.helpers.full_disk import full_disk, linux
from tests.helpers.local import local_engine
from tests.helpers.waiting import eventually
from tests.rag.documents import ANSWER, INDEX, QUESTION
from tests.rag.scripted import Gate, Held, ScriptedChat, ScriptedSource, Unending


def version(file) -> list:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT version_num FROM alembic_version").fetchall()


def test_a_start_that_fails_lets_go_of_the_folder(loaded, chat):
    (loaded / FILE).mkdir()
    settings = Settings(data_dir=loaded)
    for _ in range(2):
        with pytest.raises(DataFolderUnusable):
            Engine(settings, source=ScriptedSource(chat))
    (loaded / FILE).rmdir()
    Engine(settings, source=ScriptedSource(chat)).close()


def names_of_new_threads(before: set[threading.Thread]) -> set[str]:
    """Engines of other tests may be open, such as the one with the embedded models."""
    return {thread.name for thread in set(threading.enumerate()) - before}


def test_a_start_that_fails_at_its_end_lets_go_of_the_folder_and_leaves_no_thread(loaded, chat, monkeypatch):
    def fail(*_: object) -> None:
        raise DataFolderUnusable(folder=loaded, reason="disk I/O error")

    settings, before = Settings(data_dir=loaded), set(threading.enumerate())
    with monkeypatch.context() as patched:
        patched.setattr(Retention, "begin", fail)
        with pytest.raises(DataFolderUnusable):
            Engine(settings, source=ScriptedSource(chat))
    assert "engine" not in names_of_new_threads(before)
    Engine(settings, source=ScriptedSource(chat)).close()


def test_an_engine_whose_model_can_not_be_closed_lets_go_of_the_folder_and_leaves_no_thread(loaded, chat):
    settings, before = Settings(data_dir=loaded), set(threading.enumerate())
    engine = Engine(settings, source=Unending(chat))
    with pytest.raises(OSError, match="it does not end"):
        engine.close()
    assert not {"engine", "retention"} & names_of_new_threads(before)
    Engine(settings, source=ScriptedSource(chat)).close()


def test_a_folder_with_a_newer_history_is_refused_before_its_catalogue_is_brought_up_to_date(loaded, chat):
    settings = Settings(data_dir=loaded)
    Engine(settings, source=ScriptedSource(chat)).close()
    with closing(sqlite3.connect(loaded / FILE)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with closing(sqlite3.connect(loaded / "catalogue.sqlite3")) as connection, connection:
        connection.executescript("UPDATE alembic_version SET version_num = '0001'; DROP TABLE removed")
    with pytest.raises(DataFolderNewer, match="9999"):
        Engine(settings, source=ScriptedSource(chat))
    assert version(loaded / "catalogue.sqlite3") == [("0001",)]


def test_a_run_with_an_event_that_this_version_does_not_know_does_not_keep_the_engine_from_starting(loaded, chat):
    settings = Settings(data_dir=loaded)
    with local_engine(settings, source=ScriptedSource(chat)) as engine:
        run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
        run.result()
    with closing(sqlite3.connect(loaded / FILE)) as connection, connection:
        connection.execute("UPDATE runs SET status = 'running'")
        connection.execute('UPDATE events SET event = \'{"kind":"cost"}\' WHERE position = 2')
    with local_engine(settings, source=ScriptedSource(chat)) as engine:
        assert engine.history.run(run.id).status == "failed"


@linux
@pytest.mark.sqlite_alone
def test_on_a_full_disk_a_question_is_refused_in_a_sentence_and_its_attachments_take_no_room(engine):
    engine.ask(QUESTION, index=INDEX, pipeline_name="naive").result()
    before = engine.history.runs()
    upload = keep_upload(engine.settings.data_dir, "a.md", io.BytesIO(b"# A"))
    with full_disk(), pytest.raises(NotSaved, match="the disk may be full"):
        engine.ask(QUESTION, index=INDEX, pipeline_name="naive", attachments=[upload])
    assert engine.history.runs() == before
    for job in engine.store.ingestions:
        job.wait()
    assert not upload.path.exists()
    assert engine.ask(QUESTION, index=INDEX, pipeline_name="naive").result().status == "finished"


def end_on_a_full_disk(engine: UserEngine, chat: ScriptedChat) -> str:
    """The id of a run whose end could not be saved."""
    gate = Gate()
    chat.enqueue(Held(gate, ANSWER, "日当"))
    run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    gate.wait_for(1)
    with full_disk():
        gate.open()
        assert run.result().answer == ANSWER
    assert engine.history.run(run.id).status == "running"
    return run.id


@linux
@pytest.mark.sqlite_alone
def test_an_answer_that_ended_on_a_full_disk_is_saved_once_there_is_room(loaded, chat):
    with local_engine(Settings(data_dir=loaded), source=ScriptedSource(chat)) as engine:
        before_a_question = end_on_a_full_disk(engine, chat)
        chat.default = ANSWER
        engine.ask(QUESTION, index=INDEX, pipeline_name="naive").result()
        assert engine.history.run(before_a_question).status == "finished"
        before_the_end = end_on_a_full_disk(engine, chat)
    with local_engine(Settings(data_dir=loaded), source=ScriptedSource(chat)) as engine:
        for run_id in (before_a_question, before_the_end):
            assert engine.history.events(run_id)[-1].answer == ANSWER


@linux
@pytest.mark.sqlite_alone
def test_a_comparison_may_be_the_first_after_an_answer_that_ended_on_a_full_disk(engine, chat):
    """It waited for itself, and nothing could be saved any more."""
    run_id = end_on_a_full_disk(engine, chat)
    chat.default = ANSWER
    columns = [RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid")]
    begun: list[Comparison] = []
    threading.Thread(
        target=lambda: begun.append(engine.comparisons.begin(QUESTION, INDEX, columns)), daemon=True
    ).start()
    assert eventually(lambda: begun, 10)
    assert [engine.run(each).result().status for each in begun[0].run_ids] == ["finished"] * 2
    assert engine.history.run(run_id).status == "finished"


@linux
@pytest.mark.sqlite_alone
def test_on_a_full_disk_a_run_is_stored_completely_or_not_at_all(engine, chat):
    """No conversation without its run, and no run that is never executed. Each try has space for one page more."""
    first = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    first.result()
    again = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
    again.result()
    columns = [RunOptions(pipeline="naive"), RunOptions(pipeline="hybrid")]
    forked = engine.forks.begin(first.id, "retrieve", 1, [EditQuery(query="VPN")])
    forked.result()
    ways = {
        "a question": lambda: engine.ask(QUESTION, index=INDEX, pipeline_name="naive"),
        "a comparison": lambda: engine.comparisons.begin(QUESTION, INDEX, columns),
        "a comparison of runs of before": lambda: engine.comparisons.keep([first.id, again.id]),
        "a fork": lambda: engine.forks.begin(first.id, "retrieve", 1, [EditQuery(query="VPN")]),
        "a question that goes on from a fork": lambda: engine.ask(
            "なぜ?", index=INDEX, pipeline_name="naive", conversation_id=forked.conversation_id
        ),
    }
    history = process_of(engine).history
    for name, begin in ways.items():
        assert eventually(lambda: backend_of(history.database).clear_log(history.database))
        before, refused = contents(engine), 0
        for pages in (*range(12), 100_000):
            try:
                with full_disk(pages * PAGE):
                    begin()
                break
            except NotSaved:
                refused += 1
                assert contents(engine) == before, (name, pages)
                assert engine.runs_in_flight == 0, (name, pages)
        assert refused > 1, name
        assert eventually(lambda: engine.runs_in_flight == 0)


PAGE = 4096 + 24
"""bytes of a page in SQLite's log, with its header"""


def contents(engine: UserEngine) -> list[object]:
    with closing(sqlite3.connect(engine.settings.data_dir / FILE)) as connection:
        tables = ("conversations", "runs", "events", "calls", "comparisons", "compared")
        return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
