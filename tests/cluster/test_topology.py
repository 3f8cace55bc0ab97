"""What compose.yaml starts, started: people use it by one address, whichever of its parts does the work."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.visitor import Visitor
from tests.cluster.conftest import Visit
from tests.cluster.topology import Topology, eventually_well
from tests.index_store.soundness import eventually
from tests.servers import OpenAIServer

APPS = ("app-1",)
"""those that serve people at once: both, once several may own one database; until then the second one stands by"""

WORKERS = 2

HANDBOOK = "# Travel\n\n## Trains\n\nThe green car needs the approval of a director.\n"


def start(topology: Topology) -> None:
    """All of it, in the order that compose.yaml asks for."""
    assert topology.services["worker"].written["deploy"]["replicas"] == WORKERS
    assert topology.is_well("chroma")
    topology.start("app-1")
    assert eventually_well(topology, "app-1"), topology.log("app-1")
    for app in APPS[1:]:
        topology.start(app)
    for number in range(1, WORKERS + 1):
        topology.start("worker", number)
    topology.start("caddy")
    for app in APPS:
        assert eventually_well(topology, app), topology.log(app)


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


def test_a_document_that_is_added_by_caddy_is_read_by_a_worker_and_answered_from(
    topology: Topology, visit: Visit, server: OpenAIServer, tmp_path: Path
) -> None:
    start(topology)
    assert eventually(lambda: is_reached(topology)), topology.log("caddy")
    visitor = visit()
    visitor.upload(handbook(tmp_path))  # WORKERS=elsewhere: nobody else reads it
    ask(visitor, server, "Who approves the green car?")
    cookies = {cookie["name"]: cookie for cookie in visitor.page.context.cookies()}
    assert "replica" in cookies
    assert visitor.complaints == visitor.foreign_addresses == []
    # In the order in which Compose stops them.
    for service, number in [("caddy", 1), *(("worker", each + 1) for each in range(WORKERS))]:
        assert topology.end(service, number) == 0, topology.log(service, number)
    for app in APPS:
        topology.end(app)
        assert " ERROR " not in topology.log(app)
