"""Trusted reverse proxies: which of their headers the server accepts, tested with a route that returns them."""

import re
from collections.abc import Callable

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.server.requests.gate import RequestGate
from pages.server.requests.proxies import Proxies, is_within, read_networks
from pages.server.settings import ServerSettings
from tests.conftest import ROOT

NAME = "rag.example.com"
PROXY, STRANGER = "10.1.0.5", "10.2.0.5"

Ask = Callable[..., Response]


async def told(request: Request) -> Response:
    headers = {name: value for name, value in request.headers.items() if name.startswith(("forwarded", "x-forwarded"))}
    answer = JSONResponse({"scheme": request.url.scheme, "host": request.headers["host"], "forwarded": headers})
    answer.set_cookie("plain", "1")
    answer.set_cookie("secured", "1", secure=True)
    return answer


@pytest.fixture
def ask() -> Ask:
    """Sends a request from an address to a server that trusts 10.1.0.0/16."""
    middleware = [
        Middleware(Proxies, networks=read_networks("10.1.0.0/16, ::1")),
        Middleware(RequestGate, names={NAME}),
    ]
    app = Starlette(routes=[Route("/", told)], middleware=middleware)

    def ask(peer: str, *headers: tuple[str, str], host: str = "localhost:8501") -> Response:
        with TestClient(app, base_url="http://127.0.0.1:8501", client=(peer, 50000)) as client:
            return client.get("/", headers=[("host", host), *headers])

    return ask


@pytest.mark.parametrize("peer", [PROXY, "::1", "::ffff:10.1.0.5"])
def test_a_trusted_proxy_is_believed_which_scheme_and_host_the_browser_used(ask, peer):
    answer = ask(peer, ("x-forwarded-proto", "https"), ("x-forwarded-host", NAME))
    assert answer.json() == {"scheme": "https", "host": NAME, "forwarded": {}}


@pytest.mark.parametrize("peer", [STRANGER, "127.0.0.1", "::ffff:10.2.0.5", "10.1.0.5.example", "testclient"])
def test_headers_from_an_untrusted_peer_are_removed(ask, peer):
    forged = [("x-forwarded-proto", "https"), ("x-forwarded-host", "evil.example"), ("forwarded", "proto=https")]
    answer = ask(peer, *forged, ("x-forwarded-for", PROXY), ("x-forwarded-user", "admin"))
    assert answer.json() == {"scheme": "http", "host": "localhost:8501", "forwarded": {}}


def test_of_several_values_the_one_that_the_proxy_wrote_itself_counts(ask):
    answer = ask(
        PROXY, ("x-forwarded-proto", "http, https"), ("x-forwarded-host", "evil.example"), ("x-forwarded-host", NAME)
    )
    assert (answer.json()["scheme"], answer.json()["host"]) == ("https", NAME)


@pytest.mark.parametrize("scheme", ["", "javascript", "wss", "https, "])
def test_what_is_no_scheme_changes_nothing(ask, scheme):
    assert ask(PROXY, ("x-forwarded-proto", scheme)).json()["scheme"] == "http"


def test_a_forwarded_host_has_to_be_a_name_of_the_app_too(ask):
    assert ask(PROXY, ("x-forwarded-host", "evil.example")).status_code == 403


def test_behind_tls_each_cookie_is_kept_for_tls(ask):
    cookies = ask(PROXY, ("x-forwarded-proto", "https"), ("x-forwarded-host", NAME)).headers.get_list("set-cookie")
    assert [cookie.lower().count("; secure") for cookie in cookies] == [1, 1]
    assert "secure" not in ask(PROXY).headers.get_list("set-cookie")[0].lower()


def test_behind_tls_a_page_that_came_without_it_is_refused(ask):
    proxied = [("x-forwarded-proto", "https"), ("x-forwarded-host", NAME)]
    assert ask(PROXY, *proxied, ("origin", f"https://{NAME}")).status_code == 200
    assert ask(PROXY, *proxied, ("origin", f"http://{NAME}")).status_code == 403


def test_an_address_is_looked_for_in_networks_of_both_kinds():
    networks = read_networks("192.0.2.0/24,2001:db8::/32, 198.51.100.7")
    assert [is_within(each, networks) for each in ("192.0.2.9", "2001:db8::9", "198.51.100.7")] == [True] * 3
    assert not any(
        is_within(each, networks) for each in ("192.0.3.9", "2001:db9::9", "198.51.100.8", "", "/run/socket")
    )


@pytest.mark.parametrize(
    "written", ["rag.example.com", "10.1.2.3/8", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.1.0.5:80"]
)
def test_what_is_no_network_or_all_of_them_is_refused(written):
    with pytest.raises(ValueError, match=r"."):
        read_networks(written)


async def named(request: Request) -> Response:
    return JSONResponse([list(pair) for pair in request.headers.items() if pair[0].startswith(("x-", "remote-"))])


@pytest.fixture
def ask_who() -> Ask:
    """Sends a request from an address to a server where proxies in 10.1.0.0/16 say who the person is."""
    identity = {"x-forwarded-user", "remote-groups"}
    middleware = [Middleware(Proxies, networks=read_networks("10.1.0.0/16"), identity=identity)]
    app = Starlette(routes=[Route("/", named)], middleware=middleware)

    def ask(peer: str, *headers: tuple[str, str]) -> Response:
        with TestClient(app, base_url="http://127.0.0.1:8501", client=(peer, 50000)) as client:
            return client.get("/", headers=[*headers])

    return ask


def test_a_trusted_proxy_says_who_somebody_is(ask_who):
    said = [["x-forwarded-user", "anna"], ["remote-groups", "a,b"]]
    assert ask_who(PROXY, *map(tuple, said), ("x-forwarded-for", STRANGER)).json() == said


@pytest.mark.parametrize("peer", [STRANGER, "127.0.0.1", "testclient"])
@pytest.mark.parametrize("header", ["X-Forwarded-User", "remote-groups"])
def test_an_identity_header_from_an_untrusted_peer_is_refused(ask_who, peer, header):
    answer = ask_who(peer, (header, "anna"))
    assert answer.status_code == 403
    assert "only the proxy" in answer.text
    assert ask_who(peer).json() == []


@pytest.mark.parametrize(
    ("example", "line"), [("nginx.conf", r'proxy_set_header {} +"";'), ("Caddyfile", r"header_up -{}\n")]
)
def test_the_examples_of_proxies_let_no_identity_header_of_a_browser_through(example, line):
    told = (ROOT / "docs" / "operating" / example).read_text(encoding="utf-8")
    headers = ServerSettings(auth="header", trusted_proxies="127.0.0.1").identity_headers
    assert [each for each in headers if not re.search(line.format(each), told, re.IGNORECASE)] == []
    assert headers
