"""Data folders that an engine can't open, or not write to any more."""

import io
import sqlite3
from contextlib import closing

import pytest

from index_store.base.errors import DataFolderNewer, DataFolderUnusable
from index_store.ingestion.sources import keep_upload
from rag.errors import NotSaved
from rag.runs.engine import Engine
from rag.runs.history.schema import FILE
from rag.settings import Settings
from tests.full_disk import full_disk, linux
from tests.local import local_engine
from tests.rag.documents import INDEX
from tests.rag.scripted import ScriptedSource

QUESTION = "出張の日当はいくらですか?"


def version(file) -> list:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT version_num FROM alembic_version").fetchall()


def test_a_start_that_fails_lets_go_of_the_folder(loaded, chat):
    (loaded / FILE).mkdir()
    settings = Settings(data_dir=loaded)
    for _ in range(2):
        with pytest.raises(DataFolderUnusable):
            Engine(settings, models=ScriptedSource(chat))
    (loaded / FILE).rmdir()
    Engine(settings, models=ScriptedSource(chat)).close()


def test_a_folder_with_a_newer_history_is_refused_before_its_catalogue_is_brought_up_to_date(loaded, chat):
    settings = Settings(data_dir=loaded)
    Engine(settings, models=ScriptedSource(chat)).close()
    with closing(sqlite3.connect(loaded / FILE)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with closing(sqlite3.connect(loaded / "catalogue.sqlite3")) as connection, connection:
        connection.executescript("UPDATE alembic_version SET version_num = '0001'; DROP TABLE removed")
    with pytest.raises(DataFolderNewer, match="9999"):
        Engine(settings, models=ScriptedSource(chat))
    assert version(loaded / "catalogue.sqlite3") == [("0001",)]


def test_a_run_with_an_event_that_this_version_does_not_know_does_not_keep_the_engine_from_starting(loaded, chat):
    settings = Settings(data_dir=loaded)
    with local_engine(settings, models=ScriptedSource(chat)) as engine:
        run = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
        run.result()
    with closing(sqlite3.connect(loaded / FILE)) as connection, connection:
        connection.execute("UPDATE runs SET status = 'running'")
        connection.execute('UPDATE events SET event = \'{"kind":"cost"}\' WHERE position = 2')
    with local_engine(settings, models=ScriptedSource(chat)) as engine:
        assert engine.history.run(run.id).status == "failed"


@linux
def test_on_a_full_disk_a_question_is_refused_in_a_sentence_and_its_attachments_take_no_room(engine):
    engine.ask(QUESTION, index=INDEX, pipeline_name="naive").result()
    before = engine.history.runs()
    upload = keep_upload(engine.settings.data_dir, "a.md", io.BytesIO(b"# A"))
    with full_disk(), pytest.raises(NotSaved, match="the disk may be full"):
        engine.ask(QUESTION, index=INDEX, pipeline_name="naive", attachments=[upload])
    assert engine.history.runs() == before
    assert not upload.path.exists()
    assert engine.ask(QUESTION, index=INDEX, pipeline_name="naive").result().status == "finished"
