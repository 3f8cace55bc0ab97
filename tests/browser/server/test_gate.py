"""The gate of the real server: foreign host names and pages of other sites are refused, also in a real browser."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.server.requests.browser_rules import HEADERS
from tests.browser.app_process import ROOT, App
from tests.browser.conftest import ARGUMENTS, installed_chromium
from tests.browser.server.raw_http import Answer, open_socket, send
from tests.browser.visitor import Visitor
from tests.servers.site_server import Reply, SiteServer


def get(port: int, *lines: str, path: str = "/") -> Answer:
    return send(port, [*lines, "Connection: close"], path)


Ask = Callable[..., Answer]

WAYS = {"http": (get, 200), "websocket": (open_socket, 101)}
"""how a request is sent, and the status for a page of the app"""


def sent(app: App, host: str, origin: str) -> list[str]:
    """Two lines of a request; `{port}` is the app's."""
    return [f"{name}: {value.format(port=app.port)}" for name, value in (("Host", host), ("Origin", origin))]


@pytest.fixture(params=WAYS)
def way(request) -> tuple[Ask, int]:
    return WAYS[request.param]


@pytest.fixture(scope="module")
def named(tmp_path_factory) -> Iterator[App]:
    """An app that is open for others, on all addresses, under the names in its settings."""
    with App(
        tmp_path_factory.mktemp("named"),
        ALLOWED_HOSTS="RAG.example.com, 192.0.2.7 ,[2001:DB8::7], 文書.example",
        ALLOW_ANONYMOUS="true",
        STREAMLIT_SERVER_ADDRESS="0.0.0.0",
    ) as app:
        yield app


@pytest.mark.parametrize(
    "host",
    [
        "localhost:{port}",
        "localhost",
        "[0:0:0:0:0:0:0:1]:{port}",
        # In this process: tests/pages/server/requests/test_gate.py.
        *(
            pytest.param(host, marks=pytest.mark.soak)
            for host in (
                "LOCALHOST:{port}",
                "localhost.:{port}",
                "localhost:9",
                "127.0.0.1:{port}",
                "127.0.0.1",
                "[::1]:{port}",
                "[::1]",
            )
        ),
    ],
)
def test_each_name_of_loopback_is_let_in_with_any_port(process, way, host):
    ask, good = way
    assert ask(process.port, f"Host: {host.format(port=process.port)}").status == good


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:{port}",
        "localhost.evil.example",
        "evil.example#localhost",
        "localhost@evil.example",
        "127.0.0.2",
        "localhost/.evil.example",
        "localhost..",
        "0.0.0.0:{port}",
        "192.0.2.7",
        "[::2]:{port}",
        "localhost:port",
        "",
        "localhost, evil.example",
        "ローカル.example",
    ],
)
def test_a_name_that_is_not_the_apps_is_refused(process, way, host):
    ask, _ = way
    written = host.format(port=process.port).encode().decode("latin-1")
    assert ask(process.port, f"Host: {written}").status in (400, 403)  # 400: the server itself can't read it


def test_a_request_without_a_name_or_with_several_is_refused(process, way):
    ask, _ = way
    here = f"Host: localhost:{process.port}"
    assert ask(process.port, here, "Host: evil.example").status in (400, 403)
    assert ask(process.port, "Host: evil.example", here).status in (400, 403)
    assert ask(process.port).status in (400, 403)
    assert send(process.port, [], version="1.0").status in (400, 403)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://evil.example:{port}",
        "https://localhost:{port}.evil.example",
        "null",
        "",
        "file://",
        "http://localhost:9",
        "http://localhost",
        "https://localhost",
        "http://127.0.0.1:{port}",
        "localhost:{port}",
        "chrome-extension://localhost:{port}",
        "http://localhost:{port}/",
        "http://a@localhost:{port}",
        "http://[",
    ],
)
@pytest.mark.parametrize("path", ["/", "/originals/some", "/_stcore/health", "/static/none.js", "/media/none.png"])
def test_a_page_of_another_origin_is_refused_in_every_disguise(process, path, origin):
    origin = origin.format(port=process.port)
    answer = get(process.port, f"Host: localhost:{process.port}", f"Origin: {origin}", path=path)
    assert answer.status == 403
    assert answer.header("access-control-allow-origin") == []
    assert open_socket(process.port, f"Host: localhost:{process.port}", f"Origin: {origin}").status == 403


METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

ROUTES = (
    "/", "/style.css", "/healthz", "/readyz", "/originals/x", "/media/x", "/component/x", "/auth/login", "/auth/logout",
    "/oauth2callback", "/_stcore/health", "/_stcore/metrics", "/_stcore/host-config", "/_stcore/upload_file/x/x",
    "/_stcore/bidi-components/x", "/_stcore/stream", "/_stcore/agent/interact", "/_stcore/agent/openapi.json",
    "/_stcore/agent/mcp",
)  # fmt: skip
"""all routes of the server, ours and Streamlit's"""

CLOSED = re.compile("/component/|/_stcore/(metrics|agent|bidi-components)|/auth/|/oauth2callback")
"""routes that are closed if nobody signs in"""


def test_a_page_of_another_origin_is_refused_at_every_route_by_every_method(process):
    """Also with OPTIONS, with which a browser asks what is allowed."""
    lines = [f"Host: localhost:{process.port}", "Origin: http://evil.example", "Content-Length: 0", "Connection: close"]
    for path in ROUTES:
        for method in METHODS:
            answer = send(process.port, lines, path, method)
            assert answer.status == (404 if CLOSED.match(path) else 403), (method, path)
            assert answer.header("access-control-allow-origin") == [], (method, path)


@pytest.mark.soak
def test_no_other_route_is_there(tmp_path):
    program = "from app import app; print(*(each.path for each in app._build_starlette_app().routes), sep='\\n')"
    printed = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"DATA_DIR": str(tmp_path), "ALLOW_ANONYMOUS": "true"},
        capture_output=True,
        check=True,
        cwd=ROOT,
        encoding="utf-8",
    ).stdout
    assert {re.sub("{.*?}", "x", path) or "/" for path in printed.splitlines()} == set(ROUTES)


def test_several_origins_are_refused(process, way):
    ask, _ = way
    here = f"localhost:{process.port}"
    answer = ask(process.port, f"Host: {here}", f"Origin: http://{here}", "Origin: http://evil.example")
    assert answer.status in (400, 403)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:{port}", "http://localhost:{port}"),
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}"),
        ("[::1]:{port}", "http://[::1]:{port}"),
        ("localhost:9000", "http://localhost:9000"),  # through a tunnel
        ("localhost", "http://localhost"),
        ("localhost:80", "http://localhost"),
        ("localhost", "https://localhost:443"),
    ],
)
def test_pages_of_the_app_are_let_in(process, way, host, origin):
    ask, good = way
    assert ask(process.port, *sent(process, host, origin)).status == good


# All of them in this process: tests/pages/server/requests/test_gate.py; behind a proxy: test_proxies.py.
@pytest.mark.soak
@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("rag.example.com", "https://rag.example.com"),
        ("localhost:{port}", "https://rag.example.com"),  # a proxy that sends the app's own address as Host
        ("[2001:db8::7]:{port}", "http://[2001:db8::7]:{port}"),
    ],
)
def test_names_that_are_set_are_let_in_beside_those_of_loopback(named, way, host, origin):
    ask, good = way
    lines = sent(named, host, origin)
    assert ask(named.port, lines[0]).status == good
    assert ask(named.port, *lines).status == good


@pytest.mark.soak  # in this process: tests/pages/server/requests/test_gate.py; behind a proxy: test_proxies.py
def test_other_names_and_origins_are_refused(named, way):
    ask, _ = way
    assert ask(named.port, "Host: evil.example").status == 403
    assert ask(named.port, "Host: www.rag.example.com").status == 403
    assert ask(named.port, "Host: rag.example.com", "Origin: https://evil.example").status == 403
    assert ask(named.port, "Host: rag.example.com", "Origin: http://localhost:9").status == 403


@pytest.mark.soak  # a refused start is tested below, this sentence in tests/pages/server/test_settings.py
def test_what_is_no_name_is_refused_at_the_start_in_a_sentence(tmp_path):
    app = App(tmp_path, ALLOWED_HOSTS="https://rag.example.com")
    with pytest.raises(AssertionError, match="ALLOWED_HOSTS"):
        app.start()
    told = app.log.read_text(encoding="utf-8")
    assert "Traceback" not in told
    assert "rag.example.com" not in told


@pytest.mark.parametrize(("language", "word"), [("ja,en;q=0.5", "加え"), ("en-US,en", "add it"), ("", "add it")])
def test_a_refusal_says_what_to_set_in_the_readers_language(process, way, language, word):
    ask, _ = way
    accepted = [f"Accept-Language: {language}"] if language else []
    here = f"Host: localhost:{process.port}"
    for lines in (["Host: evil.example"], [here, "Origin: http://evil.example"]):
        answer = ask(process.port, *lines, *accepted)
        assert answer.header("content-type") == ["text/plain; charset=utf-8"]
        [sentence] = answer.body.splitlines()
        assert "evil.example" in sentence
        assert "ALLOWED_HOSTS" in sentence
        assert word in sentence


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/documents",
        "/originals/none",
        "/_stcore/health",
        "/_stcore/host-config",
        "/favicon.png",
        "/media/none.png",
        "/static/none.js",
        "the script of the page",
    ],
)
def test_every_route_forbids_others_to_frame_it_and_to_read_it(process, path):
    here = f"Host: localhost:{process.port}"
    if not path.startswith("/"):
        path = re.search(r'src="\.(/static/js/[^"]+)"', get(process.port, here).body)[1]
    answer = get(process.port, here, path=path)
    assert any("frame-ancestors 'self'" in policy for policy in answer.header("content-security-policy"))
    for name in HEADERS.keys() - {"Referrer-Policy"}:
        assert answer.header(name) == [HEADERS[name]]
    assert answer.header("referrer-policy")[0] in ("same-origin", "no-referrer")


def test_a_refusal_has_these_headers_too(process, way):
    ask, _ = way
    answer = ask(process.port, "Host: evil.example")
    assert any("frame-ancestors 'self'" in policy for policy in answer.header("content-security-policy"))
    assert answer.header("x-content-type-options") == ["nosniff"]


SHUT = [
    "/_stcore/metrics",
    "/_stcore/metrics/",
    "/%5Fstcore/metrics",
    "/_stcore/agent/interact",
    "/_stcore/agent/mcp",
    "/_stcore/agent/openapi.json",
    "/_stcore/script-health-check",
    "/_stcore/bidi-components/any/index.js",
    "/component/any/index.html",
    "/auth/login",
    "/auth/logout",
    "/oauth2callback",
]


@pytest.mark.parametrize("path", SHUT)
def test_what_streamlit_serves_beside_the_pages_is_shut(process, path):
    here = f"Host: localhost:{process.port}"
    for method in ("GET", "POST"):
        answer = send(process.port, [here, "Content-Length: 0", "Connection: close"], path, method)
        assert (answer.status, answer.body) == (404, "There is nothing at this address. Open the app at /.\n")


def test_a_probe_learns_whether_the_process_answers_and_whether_it_can_serve(process):
    here = f"Host: localhost:{process.port}"
    assert get(process.port, here, path="/healthz").body == "ok\n"
    assert get(process.port, here, path="/readyz").body == "ready\n"


def test_no_inline_script_runs_but_those_that_are_known(process):
    [policy] = get(process.port, f"Host: localhost:{process.port}").header("content-security-policy")
    [scripts] = [each for each in policy.split("; ") if each.startswith("script-src")]
    sources = scripts.split()[1:]
    assert sources[0] == "'self'"
    assert all(each.startswith("'sha256-") for each in sources[1:])
    assert "default-src 'none'" in policy


@pytest.mark.soak  # in this process: tests/test_app.py
@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}, ("set ALLOW_ANONYMOUS=true", "ALLOW_ANONYMOUS=true と書き")),
        ({"TRUSTED_PROXIES": "127.0.0.1"}, ("FORWARDED_ALLOW_IPS set to nothing", "FORWARDED_ALLOW_IPS を空に")),
    ],
)
def test_settings_that_open_the_app_to_others_by_mistake_are_refused_at_the_start(tmp_path, settings, told):
    app = App(tmp_path, **settings)
    with pytest.raises(AssertionError):
        app.start()
    log = app.log.read_text(encoding="utf-8")
    assert "Traceback" not in log
    assert all(sentence in log for sentence in told)


def test_no_page_of_another_may_steer_the_app_by_messages(process):
    answer = get(process.port, f"Host: localhost:{process.port}", path="/_stcore/host-config")
    assert json.loads(answer.body)["allowedOrigins"] == []


FOREIGN = """<!doctype html><title>A page of someone else</title>
<img src="{app}/favicon.png" onload="picture = 'shown'" onerror="picture = 'refused'">
<iframe src="{app}/" onload="framed = 'loaded'"></iframe>
<script>
const stream = new WebSocket("{app}/_stcore/stream".replace("http", "ws"), "streamlit");
stream.onopen = () => socket = "open";
stream.onerror = () => socket = "refused";
fetch("{app}/_stcore/health").then(() => health = "read", () => health = "refused");
</script>"""
"""everything that a page can try if it knows the address of an app"""


@pytest.fixture(scope="module")
def deceived(chromium: Browser) -> Iterator[Browser]:
    """A browser for which evil.example is this machine: the owner of a name can point it at any address."""
    arguments = [*ARGUMENTS, "--host-resolver-rules=MAP evil.example 127.0.0.1"]
    browser = chromium.browser_type.launch(executable_path=installed_chromium(), args=arguments)
    yield browser
    browser.close()


@pytest.fixture
def stranger(deceived: Browser) -> Iterator[Page]:
    page = deceived.new_page(locale="ja-JP")
    yield page
    page.close()


@pytest.mark.parametrize("host", ["evil.example", "localhost"])
def test_in_a_browser_a_page_of_another_origin_can_neither_frame_the_app_nor_talk_to_it(app, stranger, host):
    with SiteServer({"/": Reply(FOREIGN.replace("{app}", app.url))}) as site:
        stranger.goto(site.url(host=host))
        names = ["picture", "framed", "socket", "health"]
        stranger.wait_for_function(f"{names}.every(each => typeof window[each] === 'string')")
        came = {name: stranger.evaluate(name) for name in names}
        assert came["socket"] == came["picture"] == came["health"] == "refused"
        stranger.frames[1].wait_for_url(re.compile("^chrome-error:"), wait_until="commit")


def test_in_a_browser_the_app_does_not_open_under_a_name_that_was_pointed_at_it(app, stranger):
    answer = stranger.goto(f"http://evil.example:{app.port}/")
    assert answer.status == 403
    expect(stranger.locator("body")).to_contain_text("ALLOWED_HOSTS に加え")


SMUGGLED = """async ([address, expected]) => {
  window.ran = [];
  const blocked = new Set();
  const allBlocked = new Promise(resolve => document.addEventListener("securitypolicyviolation", event => {
    blocked.add(event.effectiveDirective);
    if (expected.every(each => blocked.has(each))) resolve();
  }));
  const script = document.createElement("script");
  script.textContent = "window.ran.push('a script')";
  document.body.append(script);
  document.body.insertAdjacentHTML("beforeend", `<img src="data:," onerror="window.ran.push('an attribute')">`);
  document.body.insertAdjacentHTML("beforeend", `<img src="${address}/picture">`);
  document.body.insertAdjacentHTML("beforeend", `<iframe src="${address}/frame"></iframe>`);
  const link = document.createElement("a");
  link.href = "javascript:window.ran.push('a link')";
  document.body.append(link);
  link.click();
  await fetch(`${address}/words`).catch(() => {});
  // Later: what a test itself runs, a browser lets do more.
  setTimeout(() => { try { window.eval("window.ran.push('a string')"); } catch {} }, 100);
  await Promise.race([allBlocked, new Promise(resolve => setTimeout(resolve, 60000))]);
  return { ran: window.ran, blocked: [...blocked].sort() };
}"""
"""what a text could try if it got into the page as HTML"""
BLOCKED = ["connect-src", "frame-src", "img-src", "script-src", "script-src-attr", "script-src-elem"]
"""the directives of the policy that block these attempts"""


def test_in_a_browser_no_script_that_is_put_into_the_page_runs_and_nothing_is_fetched_from_elsewhere(app, chromium):
    context = chromium.new_context(locale="en-US")
    visitor = Visitor(context, app.url, "en")
    with SiteServer({"/": Reply("")}) as site:
        came = visitor.page.evaluate(SMUGGLED, [site.url().rstrip("/"), BLOCKED])
        assert site.asked == []
    context.close()
    assert came["ran"] == []
    assert came["blocked"] == BLOCKED


@pytest.mark.soak  # all other tests of this folder use the app too
def test_a_document_is_uploaded_and_its_original_opened_as_ever(app, visit, tmp_path):
    file = tmp_path / "kettle.txt"
    file.write_text("The kettle of the kitchen holds 1.7 litres.", encoding="utf-8")
    visitor = visit("en")
    visitor.upload(file)
    visitor.show_documents()
    visitor.open_row(1)
    with visitor.page.context.expect_page() as opened:
        visitor.page.get_by_role("link", name=visitor.words["document.original"]).click()
    expect(opened.value.locator("body")).to_contain_text("1.7 litres")
