"""The gate: who connects, and names in the settings. Other names and origins: tests/browser/server/test_gate.py."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.server.requests.gate import NotForOthers, RequestGate, refuse_others
from pages.server.settings import ServerSettings
from pages.widgets.controls.script import ON_EVERY_PAGE, SCRIPTS


def get(address: str, **options: bool) -> int:
    """The status for a connection that came to this address of the server."""
    app = RequestGate(Starlette(routes=[Route("/", lambda _: PlainTextResponse("in"))]), **options)
    with TestClient(app, base_url=f"http://{address}:8501") as client:
        return client.get("/", headers={"host": "localhost:8501"}).status_code


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "[::1]", "localhost"])
def test_a_connection_within_this_machine_is_let_in(address):
    assert get(address) == 200
    refuse_others(address.strip("[]"))


@pytest.mark.parametrize(
    "address", ["192.0.2.7", "0.0.0.0", "[2001:db8::7]", "[::ffff:192.0.2.7]", "localhost.example"]
)
def test_a_connection_from_elsewhere_is_accepted_only_with_for_others(address):
    assert get(address) == 403
    assert get(address, for_others=True) == 200
    with pytest.raises(NotForOthers):
        refuse_others(address.strip("[]"))


@pytest.fixture(scope="module")
def named() -> Iterator[TestClient]:
    """A server that has names in its settings."""
    settings = ServerSettings(allowed_hosts="RAG.example.com, 192.0.2.7 ,[2001:DB8::7], 文書.example")
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("in"))])
    with TestClient(RequestGate(app, settings.names), base_url="http://127.0.0.1:8501") as client:
        yield client


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("rag.example.com", "https://rag.example.com"),
        ("Rag.Example.com.:8443", "https://rag.example.com:8443"),
        ("rag.example.com", "https://rag.example.com:8443"),  # a proxy that drops the port
        ("localhost:8501", "https://rag.example.com"),  # a proxy that sends the app's own address as Host
        ("192.0.2.7:8501", "http://192.0.2.7:8501"),
        ("[2001:db8::7]:8501", "http://[2001:db8::7]:8501"),
        ("xn--7dvz5a.example", "https://xn--7dvz5a.example"),
        ("localhost:8501", "http://localhost:8501"),
    ],
)
def test_names_that_are_set_are_let_in_beside_those_of_loopback(named, host, origin):
    assert named.get("/", headers={"host": host}).status_code == 200
    assert named.get("/", headers={"host": host, "origin": origin}).status_code == 200


def test_other_names_and_origins_are_refused(named):
    for host in ("evil.example", "www.rag.example.com"):
        assert named.get("/", headers={"host": host}).status_code == 403
    for origin in ("https://evil.example", "http://localhost:9"):
        assert named.get("/", headers={"host": "rag.example.com", "origin": origin}).status_code == 403


def test_what_says_nothing_of_caches_is_kept_by_none():
    told = {"/file": {}, "/script": {"Cache-Control": "public"}}
    routes = [Route(path, lambda request: PlainTextResponse("in", headers=told[request.url.path])) for path in told]
    with TestClient(RequestGate(Starlette(routes=routes)), base_url="http://localhost:8501") as client:
        kept = {path: client.get(path).headers["cache-control"] for path in (*told, "/missing")}
    assert kept == {"/file": "private, no-cache", "/script": "public", "/missing": "private, no-cache"}


def test_a_server_that_is_told_no_address_would_listen_on_all():
    with pytest.raises(NotForOthers, match=r"0\.0\.0\.0"):
        refuse_others(None)


def test_a_page_runs_only_scripts_that_are_named_to_the_browser():
    """Another one would not run: the browser knows those of pages/assets/scripts by their hashes."""
    pages = Path(__file__).parents[4] / "pages"
    code = {file: file.read_text(encoding="utf-8") for file in (pages.parent / "app.py", *pages.rglob("*.py"))}
    shown_by = [file.relative_to(pages).as_posix() for file, text in code.items() if "unsafe_allow_javascript" in text]
    assert shown_by == ["widgets/controls/script.py"]
    shown = {*ON_EVERY_PAGE, *re.findall(r'show_script\("(\w+)"', "".join(code.values()))}
    assert shown == SCRIPTS.keys() == {file.stem for file in (pages / "assets" / "scripts").iterdir()}
