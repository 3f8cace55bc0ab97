"""The health routes for a load balancer: `/healthz` (the process answers) and `/readyz` (it can serve people)."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from index_store.base.settings.settings import Settings
from index_store.store.index_store import IndexStore
from pages.server import process
from pages.server.health import healthz, readyz


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz)])
    with TestClient(app) as client:
        yield client
    process.close_engine()


def test_it_is_ready_once_its_data_is_open_and_opens_it_itself(client, data_dir):
    answer = client.get("/readyz")
    assert (answer.status_code, answer.text) == (200, "ready\n")
    assert answer.headers["cache-control"] == "no-store"
    assert data_dir.exists()


def test_it_is_not_ready_while_another_process_has_its_data_and_does_not_say_more(client, data_dir, caplog):
    with IndexStore(Settings(data_dir=data_dir)):
        answer = client.get("/readyz")
        assert (answer.status_code, answer.text) == (503, "not ready\n")
        assert "Not ready" in caplog.text
        assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200


def test_it_is_not_ready_when_its_catalogue_can_not_be_read(client, data_dir):
    assert client.get("/readyz").status_code == 200
    for file in data_dir.glob("*.sqlite3*"):
        if not file.name.endswith("-shm"):  # it is mapped into the memory of this process, which would crash
            file.write_bytes(b"not a database" * 1000)
    assert client.get("/readyz").status_code == 503
