"""The gate: connections from this machine and from others. Names and origins: tests/browser/server/test_gate.py."""

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.server.gate import NotForOthers, RequestGate, refuse_others
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
    pages = Path(__file__).parents[3] / "pages"
    code = {file: file.read_text(encoding="utf-8") for file in (pages.parent / "app.py", *pages.rglob("*.py"))}
    shown_by = [file.relative_to(pages).as_posix() for file, text in code.items() if "unsafe_allow_javascript" in text]
    assert shown_by == ["widgets/controls/script.py"]
    shown = {*ON_EVERY_PAGE, *re.findall(r'show_script\("(\w+)"', "".join(code.values()))}
    assert shown == SCRIPTS.keys() == {file.stem for file in (pages / "assets" / "scripts").iterdir()}
