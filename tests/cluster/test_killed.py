"""Each part of the cluster is killed at random while it works: no data is lost or doubled, and all work is finished.

If something could not be done, one sentence says so. Each deed (`python -m index_store add`, `python -m rag ask`) runs
as one more replica, beside two apps and two workers.
"""

import itertools
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import LOADED
from tests.cluster.conftest import Visit
from tests.cluster.started import APPS, WORKERS, start
from tests.cluster.topology import PATIENCE, Command, Topology
from tests.helpers.waiting import eventually
from tests.servers import Answer, OpenAIServer
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PostgresServer

VICTIMS = ("worker", "replica", "postgres", "chroma")
DEEDS = ("ingest", "ask", "delete", "reindex")
TURNS = 2
"""kills of each victim during each deed: 32 in total"""

SEED = 18

FILES = 8
"""files that are added or removed at once"""
SECTIONS = 6
"""sections of a file; each is one chunk"""
AT_WORK = 2.0
"""seconds at most between the first visible change of a deed and the kill"""
AWAY = 5.0
"""seconds at most until the victim is started again"""
LONG = 300
"""seconds for a deed and for the work that it leaves to other processes, on a busy machine"""

KEPT = "kept"
"""an index from which nothing is ever removed"""
CHANGED = "changed"
"""an index to which documents are added and from which they are removed"""

QUESTION = "Who approves the green car?"


class Cluster:
    """All processes, and the documents that must be in the store."""

    def __init__(
        self, topology: Topology, postgres: PostgresServer, chroma: ChromaServer, folder: Path, seed: int
    ) -> None:
        self.topology = topology
        self.chance = random.Random(seed)
        self._postgres = postgres
        self._chroma = chroma
        self._folder = folder
        self.sources: dict[str, set[str]] = {KEPT: set(), CHANGED: set()}
        """sources of each index; all of them are ready when no work is left"""

    def write(self, name: str) -> str:
        file = self._folder / f"{name}.md"
        parts = (f"## Part {part} of {name}\n\n{'The green car needs a director. ' * 8}" for part in range(SECTIONS))
        file.write_text("\n\n".join((f"# {name}", *parts)) + "\n", encoding="utf-8")
        return str(file)

    def command(self, deed: str, sources: list[str], index: str = "") -> tuple[str, ...]:
        """`index`: instead of the usual index of this deed."""
        if deed == "ask":
            return "python", "-m", "rag", "ask", "--index", KEPT, "--pipeline", "naive", "--language", "en", QUESTION
        words = {"ingest": "add", "delete": "remove"}.get(deed, deed)
        index = index or (KEPT if deed == "reindex" else CHANGED)
        return "python", "-m", "index_store", words, "--language", "en", "--index", index, *sources

    def is_at_work(self, deed: str, sources: list[str], before: int) -> bool:
        """Whether the deed has already changed something."""
        if deed == "ask":
            return self.count("history.runs") > before
        if deed == "reindex":
            return self.count("catalogue.documents WHERE incoming IS NOT NULL") > 0
        there = self.count(f"catalogue.documents WHERE {of(CHANGED)} AND status <> 'removing'")
        return there != before

    def count(self, rows: str) -> int:
        [(count,)] = self.topology.query(f"SELECT count(*) FROM {rows}")
        assert isinstance(count, int)
        return count

    def kill(self, victim: str, deed: Command) -> Callable[[], None]:
        """Kills the victim and returns a function that starts it again."""
        if victim == "postgres":
            self._postgres.kill()
            return self._postgres.start
        if victim == "chroma":
            self._chroma.kill()
            return self._chroma.start
        if victim == "worker":
            number = self.chance.randint(1, WORKERS)
            self.topology.kill("worker", number)
            return lambda: self.topology.start("worker", number)
        app = self.chance.choice((*APPS, ""))
        if not app:
            deed.process.kill()
            return lambda: None
        self.topology.kill(app)
        return lambda: self.topology.start(app)

    def is_quiet(self) -> bool:
        """Whether no process has unfinished work."""
        unfinished = (
            "history.live",
            "history.tokens",
            "history.runs WHERE status = 'running'",
            "catalogue.job_items WHERE is_open",
            "catalogue.jobs WHERE NOT is_admitted",
            "catalogue.documents WHERE status IN ('pending', 'removing')",
            "catalogue.documents WHERE incoming IS NOT NULL AND status <> 'failed'",
            "catalogue.leftovers",
        )
        return not any(map(self.count, unfinished))

    def state(self) -> list[str]:
        """Tables and logs, for the message of a failed test."""
        tables = ("history.live", "history.runs", "catalogue.jobs", "catalogue.job_items", "catalogue.documents")
        rows = [f"{table} {row}" for table in tables for row in self.topology.query(f"SELECT * FROM {table}")]
        names = (*((app, 1) for app in APPS), *(("worker", number + 1) for number in range(WORKERS)))
        return [*rows, *(self.topology.log(*name)[-5000:] for name in names)]


def of(index: str) -> str:
    return f"index_id IN (SELECT id FROM catalogue.indexes WHERE name = '{index}')"


@pytest.fixture
def cluster(
    topology: Topology, postgres: PostgresServer, chroma: ChromaServer, tmp_path: Path, server: OpenAIServer
) -> Cluster:
    server.default = Answer("A director approves it [1]. " * 10, token_seconds=0.05)
    folder = tmp_path / "documents"
    folder.mkdir()
    start(topology)
    return Cluster(topology, postgres, chroma, folder, SEED)


def add(cluster: Cluster, index: str, names: list[str]) -> None:
    """Adds documents without a kill."""
    sources = [cluster.write(name) for name in names]
    command = cluster.topology.begin("app-1", *cluster.command("ingest", sources, index))
    assert command.process.wait(LONG) == 0, command.said
    cluster.sources[index] |= set(sources)


def prepare(cluster: Cluster, number: int, deed: str) -> list[str]:
    """Prepares the documents of the deed and returns their sources."""
    if deed == "delete":
        if len(cluster.sources[CHANGED]) < FILES:
            add(cluster, CHANGED, [f"{number}-to-go-{name}" for name in range(FILES)])
        return cluster.chance.sample(sorted(cluster.sources[CHANGED]), FILES)
    return [cluster.write(f"{number}-{name}") for name in range(FILES)] if deed == "ingest" else []


def kill_in_the_midst(cluster: Cluster, number: int, victim: str, deed: str) -> None:
    sources = prepare(cluster, number, deed)
    before = cluster.count("history.runs" if deed == "ask" else f"catalogue.documents WHERE {of(CHANGED)}")
    command = cluster.topology.begin("app-1", *cluster.command(deed, sources))
    assert eventually(
        lambda: command.process.poll() is not None or cluster.is_at_work(deed, sources, before), PATIENCE * 2
    ), command.said
    time.sleep(cluster.chance.uniform(0, AT_WORK))
    start_again = cluster.kill(victim, command)
    time.sleep(cluster.chance.uniform(0, AWAY))
    start_again()
    status = command.process.wait(LONG)
    assert "Traceback" not in command.said, command.said
    assert status <= 0 or command.said.strip(), "it does not say what went wrong"
    for app in APPS:
        assert eventually(lambda app=app: cluster.topology.is_ready(app), PATIENCE * 2), cluster.topology.log(app)
    assert eventually(cluster.is_quiet, LONG), "\n".join(cluster.state())
    if status != 0:  # a person would run the command again
        again = cluster.topology.begin("app-2", *cluster.command(deed, sources))
        told = again.process.wait(LONG)
        # The documents may already be removed.
        assert told == 0 or (deed == "delete" and told == 1), again.said
        assert "Traceback" not in again.said
        assert eventually(cluster.is_quiet, LONG), "\n".join(cluster.state())
    if deed == "ingest":
        cluster.sources[CHANGED] |= set(sources)
    elif deed == "delete":
        cluster.sources[CHANGED] -= set(sources)


def is_whole(cluster: Cluster) -> bool:
    """Whether each expected document is there once and complete, each run has one end, and `check` finds nothing."""
    for index, sources in cluster.sources.items():
        rows = cluster.topology.query(f"SELECT source, status, chunks FROM catalogue.documents WHERE {of(index)}")
        assert sorted(rows) == sorted((each, "ready", SECTIONS) for each in sources), "\n".join(cluster.state())
    known = sum(map(len, cluster.sources.values())) * SECTIONS
    assert cluster.count("catalogue.chunks") == known
    ends = "history.events WHERE event::json ->> 'kind' = 'run_finished'"
    assert cluster.count(ends) == cluster.count("history.runs")
    # `check` compares the ids of the vectors in Chroma with the catalogue.
    checked = cluster.topology.begin("app-1", "python", "-m", "index_store", "check")
    assert checked.process.wait(LONG) == 0, checked.said
    assert checked.said == "No differences were found.\n"
    return True


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
def test_each_of_its_parts_is_killed_at_random_in_the_midst_of_ingest_ask_delete_and_reindex(
    cluster: Cluster, visit: Visit
) -> None:
    add(cluster, KEPT, [f"kept-{name}" for name in range(FILES)])
    visitor = visit()
    rounds = [*itertools.product(VICTIMS, DEEDS)] * TURNS
    cluster.chance.shuffle(rounds)
    for number, (victim, deed) in enumerate(rounds, 1):
        print(f"{number} of {len(rounds)}: {victim} killed in the midst of {deed}", flush=True)
        kill_in_the_midst(cluster, number, victim, deed)
        assert is_whole(cluster)
        visitor.page.goto(f"{cluster.topology.url}/")
        expect(visitor.composer).to_be_visible(timeout=LOADED)
        visitor.settle()
        expect(visitor.page.get_by_test_id("stAlert")).to_have_count(0)
