"""Processes are killed at random moments: all that their store acknowledged is there, and the parts of the store agree.

`make test` kills one, `make soak` fifty. The variables CRASH_KILLS and CRASH_SEED change the number and the moments.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest
from pydantic import SecretStr
from sqlalchemy import inspect, text

from index_store.base.database.database import place_of
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import DocumentStatus
from index_store.store.index_store import IndexStore
from tests.helpers.by_hand import by_hand
from tests.index_store.ledger import Ledger
from tests.servers import OpenAIServer
from tests.servers.s3 import S3Server

AIMS = ("start", "open", "add", "add", "add", "archive", "archive", "remove", "remove", "reindex", "reindex", "drop")
"""operations during which a process is killed"""

PATIENCE = 6
"""seconds at most until the operation begins during which the process must be killed"""

MODELS = ("model-a", "model-b")


@dataclass
class Child:
    """The process that will be killed, and the lines that it writes."""

    folder: Path
    seed: str
    settings: Settings
    lines: SimpleQueue[dict] = field(default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        # Processes of the parser inherit only some variables, such as PYTHON...: this one identifies them.
        self.mark = f"PYTHONCHURN={uuid.uuid4().hex}"
        variables = {
            **os.environ,
            "DATA_DIR": str(self.settings.data_dir),
            "OPENAI_BASE_URL": str(self.settings.openai_base_url),
            "EMBEDDING_MODEL": self.settings.embedding_model,
            "PYTHONCHURN": self.mark.partition("=")[2],
        }
        command = [sys.executable, "-m", "tests.index_store.churn", str(self.folder), self.seed]
        self.popen = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables)
        self._readers = [threading.Thread(target=self._read), threading.Thread(target=self._complain)]
        self.complaints = b""
        for reader in self._readers:
            reader.start()

    def kill(self) -> None:
        self.popen.send_signal(signal.SIGKILL)
        self.popen.wait()
        for reader in self._readers:
            reader.join()
        self.popen.stdout.close()
        self.popen.stderr.close()

    def is_gone(self) -> bool:
        """Whether the processes of its parser have ended, too."""
        until = time.monotonic() + 60
        while any(self.mark.encode() in _environment(process) for process in Path("/proc").glob("[0-9]*")):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def _read(self) -> None:
        for line in self.popen.stdout:
            self.lines.put({**json.loads(line), "at": time.monotonic()})

    def _complain(self) -> None:
        self.complaints = self.popen.stderr.read()


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""  # it has ended, or belongs to another user


class Rounds:
    """One process after another works on the same store, and each is killed; `chance` decides when."""

    def __init__(self, folder: Path, server: OpenAIServer, seed: str) -> None:
        self.folder = folder
        self.seed = seed
        self.chance = random.Random(seed)
        self.ledger = Ledger()
        self.settings = Settings(
            data_dir=folder / "data", openai_base_url=server.base_url, embedding_model=MODELS[0], model_retries=0
        )
        self.lasts: dict[str, float] = defaultdict(lambda: 0.2, start=1.5)
        """about how many seconds each kind of operation takes"""
        self.killed_in: Counter[str] = Counter()
        self.found_on_disk: Counter[str] = Counter()
        self.unsearchable: set[str] = set()
        self._began: dict[int, float] = {}

    def run(self, number: int, aim: str) -> None:
        if self.chance.random() < 0.15:
            model = self.chance.choice(MODELS)
            if model != self.settings.embedding_model:
                self.settings = self.settings.model_copy(update={"embedding_model": model})
                self.unsearchable = {index for index, _ in self.ledger.allowed}
        self._kill_one(number, aim)
        self.found_on_disk.update(traces(self.settings))
        with IndexStore(self.settings) as store:
            self.unsearchable |= _made_anew(store)
            self._look(store, is_settled=False)
            if self.chance.random() < 0.5:
                self._settle(store)
                self._look(store, is_settled=True)
                self.ledger.settle(store)

    def _kill_one(self, number: int, aim: str) -> None:
        child = Child(self.folder, f"{self.seed}.{number}", self.settings)
        wait = self.chance.uniform(0, 1.2)
        if aim == "start":
            time.sleep(wait * self.lasts["start"])
        else:
            self._await(child, "open", 1, seconds=60)
            if aim != "open":
                self._await(child, aim, self.chance.randint(1, 3), seconds=PATIENCE)
            time.sleep(wait * self.lasts[aim])
        assert child.popen.poll() is None, child.complaints.decode()
        child.kill()
        while not child.lines.empty():
            self._read(child.lines.get())
        doing = {operation.what for operation in self.ledger.under_way.values()}
        self.killed_in.update(doing - {"open"} or doing or {"start"})
        self.ledger.under_way.clear()
        assert child.is_gone(), "a parser's process lives on"

    def _await(self, child: Child, aim: str, times: int, *, seconds: float) -> None:
        """Waits until the process has begun `aim` so many times, or until the time is over."""
        until = time.monotonic() + seconds
        while times and (left := until - time.monotonic()) > 0:
            try:
                line = child.lines.get(timeout=left)
            except Empty:
                break
            self._read(line)
            times -= line.get("doing") == aim

    def _read(self, line: dict) -> None:
        if "doing" in line:
            self._began[line["number"]] = line["at"]
        elif "done" in line:
            took = line["at"] - self._began[line["number"]]
            self.lasts[line["done"]] = 0.7 * self.lasts[line["done"]] + 0.3 * took
        self.ledger.read(line)

    def _look(self, store: IndexStore, *, is_settled: bool) -> None:
        assert [each.what.en for each in store.check()] == []
        assert not list((self.settings.data_dir / "originals" / "staging").iterdir())
        assert not list((self.settings.data_dir / "parsing").glob("*"))
        unsearchable = set() if is_settled else self.unsearchable
        assert self.ledger.differences(store, unsearchable, is_settled=is_settled) == []

    def _settle(self, store: IndexStore) -> None:
        """Does what the app does at its start, and what a person does after a change of the model or a cancellation."""
        for job in store.resume():
            job.wait()
        for index in store.indexes():
            if index.embedding_model != self.settings.embedding_model:
                store.reindex(index.name).wait()
            if any(each.status is DocumentStatus.FAILED for each in store.documents(index.name)):
                store.retry(index.name).wait()
        self.unsearchable = set()


def _made_anew(store: IndexStore) -> set[str]:
    """Indexes whose Chroma files were damaged: all their documents must be embedded again."""
    statuses: dict[str, set[DocumentStatus]] = defaultdict(set)
    for document in store.documents():
        statuses[document.index].add(document.status)
    return {index for index, found in statuses.items() if DocumentStatus.READY not in found}


def traces(settings: Settings) -> list[str]:
    """What the killed process has left unfinished, before the next start repairs it."""
    if not place_of("catalogue", settings.data_dir, settings.database_url).exists():
        return []
    questions = {
        "vectors written or to go, and not noted": "SELECT count(*) FROM leftovers",
        "collections to go": "SELECT count(*) FROM dropped",
        "documents to go": "SELECT count(*) FROM documents WHERE status = 'removing'",
        "new documents pending": "SELECT count(*) FROM documents WHERE status = 'pending' AND revision = 0",
        "new versions pending": "SELECT count(*) FROM documents WHERE status = 'ready' AND incoming IS NOT NULL",
        "documents without vectors of the new model": "SELECT count(*) FROM documents WHERE status = 'pending' "
        "AND revision > 0",
    }
    with by_hand(settings) as connection:
        is_made = inspect(connection).has_table("leftovers")  # otherwise it was killed before that
        found = [
            what for what, question in questions.items() if is_made and connection.execute(text(question)).scalar()
        ]
    if any((settings.data_dir / "originals" / "staging").glob("*")):
        found.append("files that are not yet kept")
    return found


reads_proc = pytest.mark.skipif(sys.platform != "linux", reason="what is left of a process is read from /proc")


def killed(folder: Path, seed: str, aims: Sequence[str]) -> Rounds:
    """After each kill, the parts of the store must agree and have all that was acknowledged."""
    with OpenAIServer() as server:
        rounds = Rounds(folder, server, seed)
        for number, aim in enumerate(aims):
            print(f"CRASH_SEED={seed}, kill {number} of {len(aims)}: {aim}")
            rounds.run(number, aim)
    print(rounds.killed_in, rounds.found_on_disk, rounds.lasts, rounds.ledger.faults, sep="\n")
    return rounds


@reads_proc
def test_a_store_that_is_killed_agrees_with_itself_and_has_all_that_was_acknowledged(
    tmp_path: Path, database: SecretStr | None, chroma_url: SecretStr | None
) -> None:
    # With this seed, documents were acknowledged before the kill, and others are half added.
    rounds = killed(tmp_path, "16", ("add",))
    assert set(rounds.killed_in) - {"start", "open"}


@reads_proc
@pytest.mark.soak
def test_the_same_with_its_originals_in_s3(tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = s3.new_bucket()
    monkeypatch.setenv("ORIGINALS_URL", f"s3://{bucket}/originals?endpoint_url={s3.url}&key=a&secret=b")
    rounds = killed(tmp_path, "1", ("add", "archive", "remove"))
    assert set(rounds.killed_in) - {"start", "open"}
    assert not [name for name in s3.names(bucket) if "staging" in name]


@pytest.mark.soak
@pytest.mark.timeout(1800)
@reads_proc
def test_a_store_that_is_killed_at_any_moment_agrees_with_itself_and_has_all_that_was_acknowledged(
    tmp_path: Path, database: SecretStr | None, chroma_url: SecretStr | None
) -> None:
    kills = int(os.environ.get("CRASH_KILLS", "50"))
    seed = os.environ.get("CRASH_SEED", "1")
    rounds = killed(tmp_path, seed, random.Random(seed).choices(AIMS, k=kills))
    # The kills did hit running operations.
    assert rounds.killed_in["open"] < kills / 4
    assert {"start", "add", "archive", "remove", "reindex"} <= set(rounds.killed_in)
    assert len(rounds.found_on_disk) >= 4
