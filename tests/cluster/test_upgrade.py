"""An upgrade with newer tables, in the order of docs/growing.md: the new app waits until the older apps have ended."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from index_store.base.errors import DataFolderNewer, OlderVersionRuns
from tests.browser.visitor import LOADED
from tests.cluster.conftest import Visit
from tests.cluster.started import WORKERS, ask, handbook, is_in_order, is_reached, start
from tests.cluster.topology import PATIENCE, Topology
from tests.helpers.waiting import eventually
from tests.servers import OpenAIServer


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_newer_app_waits_for_the_older_ones_says_so_and_goes_on_with_all_that_they_had(
    topology: Topology, visit: Visit, server: OpenAIServer, tmp_path: Path
) -> None:
    start(topology)
    visitor = visit()
    visitor.upload(handbook(tmp_path))
    ask(visitor, server, "Who approves the green car?")
    address = visitor.page.url

    topology.end("app-2")
    topology.upgrade("app-2")
    topology.start("app-2")
    assert eventually(lambda: topology.is_well("app-2"), PATIENCE), topology.log("app-2")
    assert not topology.is_ready("app-2")
    assert OlderVersionRuns().sentence("en") in topology.log("app-2")
    other = visitor.page.context.new_page()
    other.goto(topology.address("app-2"))
    expect(other.get_by_text(OlderVersionRuns().sentence("en"))).to_be_visible(timeout=LOADED)
    other.close()
    visitor.page.goto(address)  # the older app still serves people
    expect(visitor.answers).to_contain_text("A director", timeout=LOADED)
    ask(visitor, server, "Who signs for the green car?")

    for number in range(1, WORKERS + 1):
        assert topology.end("worker", number) == 0
    topology.end("app-1")
    assert eventually(lambda: topology.is_ready("app-2"), PATIENCE), topology.log("app-2")
    topology.start("app-1")  # the older version again, by mistake
    assert eventually(lambda: topology.is_well("app-1"), PATIENCE), topology.log("app-1")
    assert not topology.is_ready("app-1")
    told, _, _ = DataFolderNewer(file="", folder="{", found="", known="").sentence("en").partition("{")
    assert told in topology.log("app-1")
    topology.end("app-1")
    topology.upgrade("app-1")
    topology.upgrade("worker")
    topology.start("app-1")
    topology.start("worker")
    assert eventually(lambda: topology.is_ready("app-1"), PATIENCE), topology.log("app-1")
    assert eventually(lambda: is_reached(topology), PATIENCE)

    visitor.page.goto(address)
    expect(visitor.answers).to_have_count(2, timeout=LOADED)
    ask(visitor, server, "Who pays for the green car?")
    visitor.upload(handbook(tmp_path, "after.md"))
    assert is_in_order(topology)
