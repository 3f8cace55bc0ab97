"""A backup while an engine runs: it contains conversations, traces, prompts and checkpoints, not only documents."""

import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from index_store.commands import main
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.transfer.backup.restore import restore
from rag.runs.engine import UserEngine
from rag.settings import Settings
from tests.helpers.back_doors import process_of
from tests.helpers.local import local_engine
from tests.helpers.waiting import eventually
from tests.rag.documents import INDEX, QUESTION
from tests.rag.scripted import Gate, Held, ScriptedSource

SECRET = "金庫の暗証番号は八八四一です。"


@pytest.fixture
def open_at(chat, embeddings):
    def open_at(folder: Path) -> UserEngine:
        settings = Settings(data_dir=folder, web_search="off")
        return local_engine(settings, store=IndexStore(settings, embeddings), source=ScriptedSource(chat))

    return open_at


def back_up(folder: Path, file: Path) -> None:
    command = [sys.executable, "-m", "index_store", "backup", str(file)]
    done = subprocess.run(command, env={**os.environ, "DATA_DIR": str(folder)}, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")


def checkpoints(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / "checkpoints.sqlite3")) as connection:
        return {run_id for (run_id,) in connection.execute("SELECT DISTINCT thread_id FROM checkpoints")}


def test_conversations_come_with_their_traces_and_what_was_in_flight_is_closed(loaded, open_at, chat, tmp_path):
    with open_at(loaded) as engine:
        done = engine.ask(QUESTION, index=INDEX, pipeline_name="naive")
        answer = done.result().answer
        gate = Gate()
        chat.default = Held(gate, "日当は二千五百円です。", shown="日当")
        asked = engine.ask(QUESTION, index=INDEX, pipeline_name="naive", conversation_id=done.conversation_id)
        gate.wait_for(1)
        assert main(["backup", str(tmp_path / "saved.zip")]) == 0
        gate.open()
        assert asked.result().status == "finished"
        events = engine.history.events(done.id)

    other = tmp_path / "other"
    restore(tmp_path / "saved.zip", other)
    assert done.id in checkpoints(other)
    with open_at(other) as engine:
        assert process_of(engine).store.check() == []
        assert [each.id for each in engine.history.conversations.listed()] == [done.conversation_id]
        assert engine.history.events(done.id) == events
        assert engine.history.events(done.id)[-1].answer == answer
        assert engine.history.run(asked.id).status == "failed"
        chat.default = "はい。"
        again = engine.ask(QUESTION, index=INDEX, pipeline_name="naive", conversation_id=done.conversation_id)
        assert again.result().status == "finished"


@pytest.mark.soak
@pytest.mark.parametrize("times", [1, 3])
def test_no_trace_quotes_a_document_that_the_saved_catalogue_does_not_have(loaded, open_at, tmp_path, times):
    """Whenever it was removed: the catalogue records a removal first, and the backup saves the catalogue first."""
    file = tmp_path / "safe.md"
    file.write_text(f"# 金庫\n\n{SECRET}", encoding="utf-8")
    is_over = threading.Event()
    archives = [tmp_path / f"{number}.zip" for number in range(times)]
    with open_at(loaded) as engine:

        def churn() -> None:
            while not is_over.is_set():
                engine.store.ingest(INDEX, [FileSource(file, "safe.md")]).wait()
                engine.ask("金庫の暗証番号は何番ですか?", index=INDEX, pipeline_name="naive").result()
                engine.store.remove(INDEX, "safe.md")

        churning = threading.Thread(target=churn)
        churning.start()
        is_churning = eventually(engine.history.runs)
        for archive in archives:
            back_up(loaded, archive)
        is_over.set()
        churning.join()
        assert is_churning
    for archive in archives:
        other = tmp_path / archive.stem
        restore(archive, other)
        with open_at(other) as engine:
            assert process_of(engine).store.check() == []
            assert eventually(lambda engine=engine: process_of(engine).store.removed() == [])
            if "safe.md" not in {each.source for each in engine.store.documents()}:
                kept = b"".join(each.read_bytes() for each in other.glob("*.sqlite3*"))
                assert SECRET.encode() not in kept
