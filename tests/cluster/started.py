"""The services of compose.yaml, started in order."""

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.visitor import Visitor
from tests.cluster.topology import PATIENCE, Topology
from tests.helpers.waiting import eventually
from tests.servers import OpenAIServer

APPS = ("app-1", "app-2")
WORKERS = 2
HANDBOOK = "# Travel\n\n## Trains\n\nThe green car needs the approval of a director.\n"


def start(topology: Topology, apps: Sequence[str] = APPS, workers: int = WORKERS) -> None:
    """Starts the services. The workers come last: before the tables exist, they end, and Compose would restart them."""
    assert topology.services["worker"].written["deploy"]["replicas"] == str(WORKERS)
    start_apps(topology, apps)
    for number in range(1, workers + 1):
        topology.start("worker", number)


def start_apps(topology: Topology, apps: Sequence[str] = APPS) -> None:
    """Starts the apps, and Caddy in front of them."""
    assert eventually(lambda: topology.is_well("chroma"), PATIENCE)
    for app in apps:
        topology.start(app)
    topology.start("caddy")
    for app in apps:
        assert eventually(lambda app=app: topology.is_ready(app), PATIENCE), topology.log(app)
        assert eventually(lambda app=app: topology.is_well(app), PATIENCE), topology.log(app)
    assert eventually(lambda: is_reached(topology), PATIENCE), topology.log("caddy")


def is_reached(topology: Topology) -> bool:
    try:
        return topology.get("/readyz") == (200, "ready\n")
    except OSError:
        return False


def ask(visitor: Visitor, server: OpenAIServer, question: str) -> None:
    server.answer_when(lambda request: request.schema is None and question in request.prompt, "A director [1].")
    visitor.ask(question)
    visitor.wait_for_the_end()
    expect(visitor.answers.last).to_contain_text("A director")


def handbook(folder: Path, name: str = "travel.md") -> Path:
    file = folder / name
    file.write_text(HANDBOOK, encoding="utf-8")
    return file


def is_in_order(topology: Topology) -> bool:
    """Ends all other processes and returns whether `check` finds nothing."""
    for service, number in topology.running:
        topology.end(service, number)
    return topology.ask("app-1", "python", "-m", "index_store", "check") == ""
