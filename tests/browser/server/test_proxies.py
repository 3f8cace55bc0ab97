"""The app behind the reverse proxies nginx and Caddy, each with its example file from docs/operating."""

import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from index_store.access.access import open_access
from index_store.access.principal import Role
from index_store.base.settings.settings import Settings
from tests.browser.app_process import ROOT, App
from tests.browser.conftest import ARGUMENTS, KEY, installed_chromium
from tests.browser.documents.uploads import SEND
from tests.browser.visitor import LOADED, Visitor
from tests.servers import OpenAIServer
from tests.servers.certified import NAME, Answer, CertifiedHost
from tests.servers.ports import free_port

EXAMPLES = ROOT / "docs" / "operating"
UNPACKED = [ROOT / ".venv/proxies/usr" / each for each in ("sbin", "bin")]
"""where `make proxies` puts them"""
WAIT = 60
"""seconds"""

AROUND_NGINX = """{user}
pid nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include {file};
}}
"""
"""replaces the /etc/nginx/nginx.conf of an installation"""

BEFORE_CADDY = """{
    admin off
    auto_https disable_redirects
    default_bind 127.0.0.1
}
"""


class Proxy(NamedTuple):
    port: int
    host: CertifiedHost

    def get(self, path: str, **headers: str) -> Answer:
        return self.host.get(self.port, path, {name.replace("_", "-"): each for name, each in headers.items()})


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> CertifiedHost:
    return CertifiedHost(tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with OpenAIServer() as server, _app(tmp_path_factory.mktemp("behind"), server) as app:
        yield app


@contextmanager
def _app(folder: Path, server: OpenAIServer, **settings: str) -> Iterator[App]:
    usual = {"TRUSTED_PROXIES": "127.0.0.1", "FORWARDED_ALLOW_IPS": "", "ALLOWED_HOSTS": NAME, "PRELOAD": "false"}
    model = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url, "EMBEDDING_MODEL": "test-embedding"}
    with App(folder, **{**usual, **model, **settings}) as app:
        yield app


@pytest.fixture(params=["nginx", pytest.param("caddy", marks=pytest.mark.soak)])
def proxy(request: pytest.FixtureRequest, behind: App, host: CertifiedHost, tmp_path: Path) -> Iterator[Proxy]:
    with _proxy(request.param, behind.port, host, tmp_path) as proxy:
        yield proxy


@contextmanager
def _proxy(name: str, behind: int, host: CertifiedHost, tmp_path: Path, **changed: str) -> Iterator[Proxy]:
    """`behind`: port of the app. `changed`: text in the example -> its replacement, besides addresses and files."""
    program = shutil.which(name, path=os.pathsep.join([*map(str, UNPACKED), os.environ["PATH"], "/usr/sbin"]))
    if not program:
        pytest.skip(f"there is no {name} (`make proxies` fetches it on Debian and Ubuntu)")
    port = free_port()
    changed |= {
        "127.0.0.1:8501": f"127.0.0.1:{behind}",
        f"/etc/ssl/certs/{NAME}.pem": str(host.certificate),
        f"/etc/ssl/private/{NAME}.key": str(host.key),
    }
    if name == "nginx":
        changed |= {"listen 443": f"listen 127.0.0.1:{port}", "listen 80": f"listen 127.0.0.1:{free_port()}"}
        file = _changed(EXAMPLES / "nginx.conf", changed, tmp_path / "rag.conf")
        user = "user root;" if os.getuid() == 0 else ""
        (tmp_path / "nginx.conf").write_text(AROUND_NGINX.format(user=user, file=file))
        command = [program, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-g", "daemon off;"]
    else:
        changed |= {f"\n{NAME} {{": f"\n{NAME}:{port} {{"}
        file = _changed(EXAMPLES / "Caddyfile", changed, tmp_path / "Caddyfile", BEFORE_CADDY)
        command = [program, "run", "--config", str(file), "--adapter", "caddyfile"]
    with (tmp_path / "proxy.log").open("wb") as log:
        home = os.environ | {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=home)
        try:
            _wait_for(port, process, tmp_path / "proxy.log")
            yield Proxy(port, host)
        finally:
            process.terminate()
            process.wait(timeout=WAIT)


@pytest.fixture(scope="module")
def browser(chromium: Browser, host: CertifiedHost) -> Iterator[Browser]:
    """A browser for which the name is this machine."""
    arguments = [*ARGUMENTS, *host.browser_arguments]
    browser = chromium.browser_type.launch(executable_path=installed_chromium(), args=arguments)
    yield browser
    browser.close()


def test_behind_it_the_app_is_used_by_its_name_over_tls_and_nothing_forged_gets_through(proxy, browser, handbook):
    context = browser.new_context(locale="en-US")
    visitor = Visitor(context, f"https://{NAME}:{proxy.port}/", "en")
    with visitor.page.expect_request(lambda request: request.method == "PUT", timeout=LOADED) as asked:
        visitor.upload(handbook)
    token, megabytes = asked.value.all_headers()["x-xsrftoken"], 20  # far above nginx's default limit, which is 1
    assert visitor.page.evaluate(SEND, ["PUT", f"{asked.value.url}-large", token, megabytes]) == 204
    assert visitor.complaints == visitor.foreign_addresses == []
    assert [cookie["secure"] for cookie in context.cookies()] == [True]
    context.close()

    forged = {"X_Forwarded_Host": "evil.example", "X_Forwarded_Proto": "http", "X_Forwarded_For": "127.0.0.1"}
    answer = proxy.get("/_stcore/health", Forwarded="host=evil.example;proto=http", **forged)
    assert answer.status == 200
    assert "; Secure" in answer.headers["Set-Cookie"]
    assert answer.headers["Strict-Transport-Security"]
    assert proxy.get("/readyz", Origin=f"http://{NAME}:{proxy.port}").status == 403
    assert proxy.get("/readyz", Origin="https://evil.example").status == 403
    assert proxy.get("/_stcore/metrics").status == 404
    assert proxy.get(f"/search?q={quote('年' * 4000)}").status == 200
    assert "script-src 'self' 'sha256-" in proxy.get("/").headers["Content-Security-Policy"]


class LongAnswer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """As when somebody goes to sign in from a long address: cookies, a long location and the policy of pages."""
        self.send_response(302)
        for number in range(4):
            self.send_header("Set-Cookie", f"cookie{number}={'x' * 4000}")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def test_a_long_answer_of_the_app_gets_through_nginx(host, tmp_path):
    with ThreadingHTTPServer(("127.0.0.1", 0), LongAnswer) as app:
        threading.Thread(target=app.serve_forever, daemon=True).start()
        with _proxy("nginx", app.server_port, host, tmp_path) as proxy:
            assert proxy.get("/auth/login").status == 302
        app.shutdown()


@pytest.mark.soak  # without a proxy: tests/pages/server/requests/test_proxies.py
def test_a_proxy_signs_people_in_and_nobody_else_can_say_who_they_are(browser, host, tmp_path):
    people = tmp_path / "people"
    people.write_text("rika:{PLAIN}secret\n")
    changed = {
        'Remote-User       ""': "Remote-User $remote_user",
        "    location / {": f"    auth_basic app;\n    auth_basic_user_file {people};\n    location / {{",
        "proxy_http_version": "proxy_bind 127.0.0.2;\n        proxy_http_version",  # as from another machine
    }
    with ExitStack() as running:
        server = running.enter_context(OpenAIServer())
        settings = {"AUTH": "header", "TRUSTED_PROXIES": "127.0.0.2", "ADMIN_GROUPS": "admins"}
        app = running.enter_context(_app(tmp_path, server, **settings))
        proxy = running.enter_context(_proxy("nginx", app.port, host, tmp_path, **changed))
        basic = "Basic " + b64encode(b"rika:secret").decode()
        assert proxy.get("/").status == 401
        context = browser.new_context(
            locale="en-US",
            extra_http_headers={"Authorization": basic, "Remote-User": "anna", "Remote-Groups": "admins"},
        )
        context.clock.install()
        visitor = Visitor(context, f"https://{NAME}:{proxy.port}/", "en")
        expect(visitor.sidebar.get_by_text(visitor.words["sign_in.nameless"])).to_be_visible()
        expect(visitor.sidebar.get_by_role("link", name=visitor.words["app.people"])).to_have_count(0)
        with open_access(Settings(data_dir=tmp_path / "data", admin_groups="admins")) as access:
            assert [(each.subject, each.role) for each in access.people.all()] == [("rika", Role.READER)]
            assert proxy.get("/originals/x", Authorization=basic).status == 404
            access.people.disable(access.people.find("rika").id)
            assert proxy.get("/originals/x", Authorization=basic).status == 403
        context.clock.fast_forward(LOADED)  # time passes while nobody touches the tab
        expect(visitor.page.get_by_text(visitor.words["sign_in.withdrawn"])).to_be_visible(timeout=LOADED)
        context.close()

        for path in ("/", "/originals/x"):  # without the proxy
            request = urllib.request.Request(f"{app.url}{path}", headers={"Remote-User": "rika"})
            with pytest.raises(urllib.error.HTTPError, match="403") as refused:
                urllib.request.urlopen(request, timeout=WAIT)
            refused.value.close()


def _changed(file: Path, changed: dict[str, str], copy: Path, before: str = "") -> Path:
    text = file.read_text(encoding="utf-8")
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    copy.write_text(before + text, encoding="utf-8")
    return copy


def _wait_for(port: int, process: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + WAIT
    while True:
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        else:
            return
