"""The services of compose.yaml, started together: people use one address, even while a worker or an app is down."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import LOADED, Visitor
from tests.cluster.conftest import Visit
from tests.cluster.started import APPS, WORKERS, ask, handbook, is_in_order, is_reached, start, start_apps
from tests.cluster.topology import PATIENCE, POLICY, Topology
from tests.helpers.waiting import eventually
from tests.servers import OpenAIServer


def replica_of(visitor: Visitor) -> str:
    """The cookie by which Caddy sends the visitor to the same app."""
    [cookie] = [each for each in visitor.page.context.cookies() if each["name"] == "replica"]
    return cookie["value"]


# Without Caddy and a browser: tests/index_store/ingestion/queue/test_machines.py, tests/pages/changes/test_replicas.py.
@pytest.mark.soak
@pytest.mark.parametrize(("apps", "workers"), [(APPS[:1], 1), (APPS, WORKERS)], ids=["one each", "all"])
def test_a_document_that_is_added_by_caddy_is_read_by_a_worker_and_answered_from(
    topology: Topology, visit: Visit, server: OpenAIServer, tmp_path: Path, apps: tuple[str, ...], workers: int
) -> None:
    start(topology, apps, workers)
    visitor = visit()
    visitor.upload(handbook(tmp_path))  # WORKERS=elsewhere: only a worker reads it
    ask(visitor, server, "Who approves the green car?")
    stays_with = replica_of(visitor)
    assert stays_with
    visitor.page.reload()
    expect(visitor.answers).to_contain_text("A director", timeout=LOADED)
    assert replica_of(visitor) == stays_with
    assert visitor.complaints == visitor.foreign_addresses == []
    # In the order in which Compose stops them.
    for service, number in [("caddy", 1), *(("worker", each + 1) for each in range(workers))]:
        assert topology.end(service, number) == 0, topology.log(service, number)
    for app in apps:
        topology.end(app)
        assert " ERROR " not in topology.log(app)


@pytest.mark.soak
def test_a_page_says_what_to_do_where_a_browser_does_not_stay_with_one_app_and_where_there_is_none(
    topology: Topology, visit: Visit, tmp_path: Path
) -> None:
    topology.policy = "lb_policy round_robin"
    start_apps(topology)
    visitor = visit()
    said = visitor.text("app.not_sticky")
    expect(said).to_be_visible()
    assert eventually(lambda: any("sent to several apps in turn" in topology.log(app) for app in APPS))
    with visitor.page.expect_response(lambda answer: answer.request.method == "PUT" and answer.status == 400):
        # Each app gets one of the two files.
        visitor.sidebar.locator("input[type=file]").set_input_files(
            [handbook(tmp_path), handbook(tmp_path, "trains.md")]
        )
    visitor.choose_language("ja")
    expect(visitor.text("app.not_sticky")).to_be_visible()

    topology.end("caddy")
    topology.policy = POLICY
    topology.start("caddy")
    assert eventually(lambda: is_reached(topology), PATIENCE), topology.log("caddy")
    visitor.page.context.clear_cookies()  # they would expire after a minute
    visitor.page.reload()
    expect(visitor.composer).to_be_visible(timeout=LOADED)
    visitor.settle()
    expect(visitor.text("app.not_sticky")).to_have_count(0)
    visitor.page.reload()
    visitor.settle()
    expect(visitor.text("app.not_sticky")).to_have_count(0)

    for app in APPS:
        topology.end(app)
    status, told = topology.get("/")
    assert status in (502, 503)
    assert "The app is not ready" in told
    assert "管理者" in told


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_people_go_on_while_one_after_another_of_its_parts_is_killed_and_comes_back(
    topology: Topology, visit: Visit, server: OpenAIServer, tmp_path: Path
) -> None:
    start(topology)
    visitor = visit()
    visitor.upload(handbook(tmp_path, "0.md"))
    ask(visitor, server, "Who approves the green car?")
    address = visitor.page.url

    topology.kill("worker", 1)
    visitor.upload(handbook(tmp_path, "1.md"))  # the other worker adds it
    topology.start("worker", 1)

    topology.kill("app-1")
    assert eventually(lambda: is_reached(topology), PATIENCE), topology.log("app-2")
    visitor.page.goto(address)
    expect(visitor.answers).to_contain_text("A director", timeout=LOADED)
    ask(visitor, server, "Who signs for the green car?")
    visitor.upload(handbook(tmp_path, "2.md"))

    topology.start("app-1")
    topology.kill("app-2")
    assert eventually(lambda: is_reached(topology), PATIENCE), topology.log("app-1")
    visitor.page.goto(address)
    expect(visitor.answers).to_have_count(2, timeout=LOADED)
    ask(visitor, server, "Who pays for the green car?")
    assert is_in_order(topology)
    for app in APPS:
        assert " ERROR " not in topology.log(app)
