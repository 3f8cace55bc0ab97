"""A whole session connects to no other machine: strace records every address that the server's processes use."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pages import samples
from tests.browser.app_process import App
from tests.browser.asking import script
from tests.browser.conftest import KEY
from tests.browser.server.raw_http import open_socket
from tests.browser.visitor import LOADED
from tests.helpers.handbook import YES
from tests.servers import OpenAIServer

SENDING = "connect,sendto,sendmsg,sendmmsg"
"""system calls that take an address: for TCP and UDP, and so also for DNS"""
ADDRESS = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')
WAIT = 60
"""seconds"""


class Traced(App):
    def __init__(self, folder: Path, **settings: str) -> None:
        self._seen = folder / "seen.strace"
        # -D: strace runs as a separate process, so the process that is started is the app itself.
        strace = ["strace", "-D", "-f", "--seccomp-bpf", "-qq", "-e", f"trace={SENDING}", "-o", str(self._seen)]
        super().__init__(folder, under=strace, **settings)

    @property
    def addresses(self) -> set[str]:
        """All addresses so far, of any of its processes and threads."""
        return {v4 or v6 for v4, v6 in ADDRESS.findall(self._seen.read_text(errors="replace"))}

    @property
    def outside(self) -> set[str]:
        return {each for each in self.addresses if not ip_address(each).is_loopback}

    def wait_for(self, address: str) -> None:
        end = time.monotonic() + WAIT
        while address not in self.addresses:
            assert time.monotonic() < end, self.addresses
            time.sleep(0.1)


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.answer_when(lambda request: request.schema is not None, YES)
        yield server


@pytest.fixture(scope="module")
def strace() -> None:
    """Skips the test if strace, which is the judge, is missing or not allowed."""
    if not shutil.which("strace"):
        pytest.skip("there is no strace, which would be the judge")
    attempt = subprocess.run(
        ["strace", "-D", "-f", "--seccomp-bpf", "-e", "trace=connect", "true"], capture_output=True
    )
    if attempt.returncode or b"exited with 0" not in attempt.stderr:
        pytest.skip(
            f"strace, which would be the judge, may not look at processes here: {attempt.stderr.decode()[:200]}"
        )


@pytest.fixture(scope="module")
def traced(tmp_path_factory, model, strace) -> Iterator[Traced]:
    settings = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": KEY, "EMBEDDING_MODEL": "test-embedding"}
    # Open to other machines, so that all that Streamlit would do for them is seen too.
    settings |= {"ALLOWED_HOSTS": "rag.example.com", "STREAMLIT_SERVER_ADDRESS": "0.0.0.0", "ALLOW_ANONYMOUS": "true"}
    with Traced(tmp_path_factory.mktemp("traced"), **settings) as app:
        yield app


def test_a_whole_session_connects_to_nothing_outside(traced, visit, model):
    question = "Who approves a business trip?"
    script(model, question, "A director [1].")
    visitor = visit(app=traced)
    visitor.button("empty.load_samples").click()
    expect(visitor.button("documents.dismiss").first).to_be_visible(timeout=LOADED)
    visitor.ask(question)
    visitor.wait_for_the_end()
    expect(visitor.answers).to_contain_text("A director")
    visitor.show_documents()
    expect(visitor.rows).to_have_count(len(samples.documents()) + 1, timeout=LOADED)
    visitor.page.goto(f"{traced.url}/search?q=trip&lang=en")
    expect(visitor.page.locator(".hit").first).to_be_visible(timeout=LOADED)
    visitor.page.close()
    traced.wait_for("127.0.0.1")  # the model service: this shows that strace works
    assert traced.outside == set()


def test_a_page_of_someone_else_does_not_have_the_server_ask_outside_who_it_is(traced):
    """Streamlit would ask for its public address, to compare it with an Origin that differs from the Host."""
    before = traced.outside
    assert open_socket(traced.port, f"Host: localhost:{traced.port}", "Origin: http://evil.example").status == 403
    # If a proxy has changed the Host, it does not ask either.
    here = f"Host: localhost:{traced.port}"
    assert open_socket(traced.port, here, "Origin: https://rag.example.com").status == 101
    assert traced.outside == before


def test_an_app_that_other_machines_reach_does_not_ask_outside_for_its_own_address(traced):
    """Streamlit would, at each start, to print it."""
    assert f"URL: {traced.url}" in traced.log.read_text(encoding="utf-8")  # that is the last that it does at the start
    assert traced.outside == set()
