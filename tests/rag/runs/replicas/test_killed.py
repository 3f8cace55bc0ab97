"""Replicas in separate processes (`python -m rag ask`) that are killed while they answer."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from rag.runs.engine import UserEngine
from rag.runs.replicas import dead_apps, exchange
from rag.runs.run.run import Run
from rag.runs.run.summary import answer_so_far
from rag.settings import Settings
from tests.helpers.back_doors import process_of
from tests.helpers.waiting import eventually
from tests.rag.conftest import KEY
from tests.rag.documents import ANSWER, INDEX, QUESTION
from tests.rag.runs.replicas.conftest import Open
from tests.rag.scripted import ScriptedChat
from tests.servers import Answer, Fault, OpenAIServer
from tests.servers.chroma import ChromaProxy, ChromaServer
from tests.servers.postgres import PostgresServer

PATIENCE = 60
"""seconds: processes start slowly beside others"""

ROUNDS = 8


class Asking:
    """A process `python -m rag ask`, which is a replica while it answers."""

    def __init__(self, settings: Settings, server: OpenAIServer) -> None:
        assert settings.database_url
        assert settings.chroma_url
        variables = {
            **os.environ,
            "DATA_DIR": str(settings.data_dir),
            "DATABASE_URL": settings.database_url.get_secret_value(),
            "CHROMA_URL": settings.chroma_url.get_secret_value(),
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": server.base_url,
            "CHAT_MODEL": "test-chat",
            "EMBEDDING_MODEL": "embedded",
            "WEB_SEARCH": "off",
        }
        asked = ["ask", "--index", INDEX, "--pipeline", "naive", "--mode", "keyword", QUESTION]
        quiet = subprocess.DEVNULL
        command = [sys.executable, "-m", "rag", *asked]
        self._popen = subprocess.Popen(command, env=variables, stdout=quiet, stderr=quiet)

    def end(self, by: int = signal.SIGKILL) -> int:
        """Sends the signal and returns the exit status."""
        self._popen.send_signal(by)
        return self._popen.wait(PATIENCE)


@pytest.fixture
def asking(shared: Settings, server: OpenAIServer) -> Iterator[Callable[[], Asking]]:
    made: list[Asking] = []

    def asking() -> Asking:
        made.append(Asking(shared, server))
        return made[-1]

    yield asking
    for each in made:
        each.end()


@pytest.fixture
def here(replica: Open) -> UserEngine:
    return replica(ScriptedChat())


def begun(engine: UserEngine, known: set[str]) -> Run:
    """The run that another process has begun, when it has written some text."""
    found: list[Run] = []

    def is_there() -> bool:
        found[:] = [run for past in engine.history.runs() if past.id not in known and (run := engine.run(past.id))]
        return bool(found) and bool(answer_so_far(found[0].events)[0])

    assert eventually(is_there, PATIENCE)
    return found[0]


@pytest.mark.soak  # without another process: test_replicas.py
def test_of_a_replica_that_is_killed_the_run_ends_as_interrupted_and_the_conversation_goes_on_elsewhere(
    here: UserEngine,
    asking: Callable[[], Asking],
    server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(exchange, "SWEEP", 0.2)
    goes_on = threading.Event()
    server.default = Answer(ANSWER, until=goes_on)
    known = {each.id for each in here.history.runs()}
    killed = asking()
    run = begun(here, known)
    assert len(process_of(here).store.replica.alive()) == 2
    killed.end()
    assert run.wait(PATIENCE)
    last = run.result()
    goes_on.set()
    assert (last.status, last.error and last.error.code) == ("failed", "interrupted")
    assert ANSWER.startswith(last.answer)
    assert last.answer  # the text so far is not lost
    assert {each.levelname for each in caplog.records if "taken over" in each.message} == {"INFO"}
    stored = here.history.run(run.id)
    assert stored
    assert stored.status == "failed"
    assert here.running(run.conversation_id) is None
    following = here.ask(QUESTION, index=INDEX, pipeline_name="naive", conversation_id=run.conversation_id)
    assert following.result().status == "finished"
    assert [each.id for each in here.history.runs(run.conversation_id)] == [run.id, following.id]


@pytest.mark.soak  # without another process: test_replicas.py
def test_a_run_of_another_process_is_stopped_from_here(
    here: UserEngine, asking: Callable[[], Asking], server: OpenAIServer
) -> None:
    goes_on = threading.Event()
    server.default = Answer(ANSWER, until=goes_on)
    known = {each.id for each in here.history.runs()}
    asking()
    run = begun(here, known)
    run.stop()
    assert run.wait(PATIENCE)
    goes_on.set()
    assert run.result().status == "stopped"


@pytest.mark.soak  # without another process: test_replicas.py
def test_a_deletion_of_a_killed_replica_is_completed_by_another(
    here: UserEngine, shared: Settings, chroma: ChromaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_apps, "TIDY", 0.2)
    file = tmp_path / "short.md"
    file.write_text("# Short\n\nIt is not there for long.\n", encoding="utf-8")
    assert here.store.add("going", file).status.value == "ready"
    assert shared.database_url
    with ChromaProxy(chroma) as proxy:
        proxy.fails(Fault.HANGS, on="/delete")
        variables = {
            **os.environ,
            "DATA_DIR": str(shared.data_dir),
            "DATABASE_URL": shared.database_url.get_secret_value(),
            "CHROMA_URL": proxy.url,
        }
        command = [sys.executable, "-m", "index_store", "remove", "--index", "going", str(file)]
        deleting = subprocess.Popen(command, env=variables)
        try:
            assert eventually(lambda: [each for each in proxy.requests if each.path.endswith("/delete")], PATIENCE)
        finally:
            deleting.kill()
            deleting.wait(PATIENCE)
    assert eventually(lambda: not here.store.documents("going"), PATIENCE)
    assert here.store.check() == []
    here.store.delete_index("going")


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_killed_at_random_no_replica_leaves_a_run_open_or_ends_one_twice(
    here: UserEngine, asking: Callable[[], Asking], server: OpenAIServer, shared: Settings, postgres: PostgresServer
) -> None:
    """Three processes at once, each killed at a random moment. Postgres restarts after every third round."""
    chance = random.Random(17)
    server.default = Answer(ANSWER * 20, token_seconds=0.05)
    for number in range(ROUNDS):
        running = [asking() for _ in range(3)]
        for each in running:
            time.sleep(chance.uniform(0, 6))  # whatever it is doing then
            each.end()
        if number % 3 == 2:
            postgres.stop()
            postgres.start()
    assert eventually(lambda: all(each.status != "running" for each in here.history.runs()), PATIENCE)
    for past in here.history.runs():
        ends = [each for each in here.history.events(past.id) if each.kind == "run_finished"]
        assert len(ends) == 1
        assert here.run(past.id) is None
    assert shared.database_url
    url = shared.database_url.get_secret_value().replace("+psycopg", "")
    with closing(psycopg.connect(url)) as connection:
        left = [connection.execute(f"SELECT count(*) FROM history.{table}").fetchone() for table in ("live", "tokens")]
    assert left == [(0,), (0,)]
    assert process_of(here).store.check() == []
    assert eventually(lambda: len(process_of(here).store.replica.alive()) == 1, PATIENCE)
