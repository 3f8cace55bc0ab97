"""Fixtures for the tests of benchmarks. They run in this process: a new one would load libraries for seconds."""

import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from tests.helpers.handbook import YES
from tests.servers import OpenAIServer

Printed = Callable[..., str]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Printed]:
    """`printed(latency, "--rounds", 1)`: what that benchmark prints with these arguments."""
    # A spawned process runs the main module again. After a test of a page, the main module would be that page.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    environment = dict(os.environ)

    def printed(benchmark: ModuleType, *arguments: object) -> str:
        benchmark.main([str(each) for each in arguments])
        return capsys.readouterr().out

    yield printed
    os.environ.clear()  # some benchmarks set variables that libraries read
    os.environ.update(environment)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """The model service in the environment. It finds all passages relevant and all answers good."""
    with OpenAIServer() as server:
        server.answer_when(lambda request: request.schema is not None, YES)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("CHAT_MODEL", "test-chat")
        monkeypatch.setenv("EMBEDDING_MODEL", "test-embedding")
        yield server
