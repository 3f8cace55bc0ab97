"""Fixtures for the tests of the pages: their engine, with real documents and a model service on loopback."""

import sys
import tomllib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from streamlit import config
from streamlit.runtime.context import ContextProxy, StreamlitHeaders

from pages.server import process
from rag.runs.engine import UserEngine
from tests.conftest import ROOT
from tests.faster import streamlit_starts
from tests.servers import OpenAIServer

MAIN = sys.modules["__main__"]
ORIGIN = "http://localhost:8501"


@pytest.fixture(scope="session", autouse=True)
def _faster_starts(request: pytest.FixtureRequest) -> Iterator[None]:
    with nullcontext() if request.config.getoption("unpatched") else streamlit_starts.shared():
        yield


@pytest.fixture(autouse=True)
def _the_main_module_comes_back() -> Iterator[None]:
    """Streamlit replaces the main module with its page. Processes that later tests start would run that page."""
    yield
    sys.modules["__main__"] = MAIN


@pytest.fixture(scope="session", autouse=True)
def _settings_of_the_server() -> None:
    """The settings of `.streamlit/config.toml` that pages depend on: tests run in folders without this file.

    That of `browser` says that Streamlit gathers no statistics, which takes a seventh of these tests' time.
    """
    for section, settings in tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")).items():
        if section in ("runner", "global", "browser"):
            for name, value in settings.items():
                config.set_option(f"{section}.{name}", value)


@pytest.fixture(autouse=True)
def _an_app_test_sends_its_origin_as_browsers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Origin", ORIGIN)]))


@pytest.fixture(autouse=True)
def _no_engine_of_another_test(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test that uses no engine fixture gets an empty engine, never one that an earlier test has made."""
    if {"engine", "module_engine"} & set(request.fixturenames):
        yield
        return
    monkeypatch.setattr(process, "_engine", None)
    yield
    process.close_engine()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def engine(server: OpenAIServer, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UserEngine]:
    """The engine of the pages; `restart` returns the next one."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("MODEL_RETRIES", "0")
    monkeypatch.setattr(process, "_engine", None)  # after the test, the engine of the module is back
    yield process.engine()
    process.close_engine()


@pytest.fixture
def handbook(engine: UserEngine, server: OpenAIServer, tmp_path: Path) -> None:
    """An index with one document, out of which the model answers each question."""
    file = tmp_path / "travel.md"
    file.write_text("# Travel\n\n## Trains\n\nThe green car needs the approval of a director.\n", encoding="utf-8")
    assert engine.store.add("handbook", file, file.name).error is None
    server.default = "A director [1]."


@pytest.fixture(scope="module")
def module_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserEngine]:
    """One engine for all tests of a module that use this fixture. They change nothing that affects the others."""
    with OpenAIServer() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("DATA_DIR", str(tmp_path_factory.mktemp("module-data")))
        environment.setenv("OPENAI_BASE_URL", server.base_url)
        environment.setenv("MODEL_RETRIES", "0")
        yield process.engine()
        process.close_engine()


def restart() -> UserEngine:
    """Like ending the app and starting it again."""
    process.close_engine()
    return process.engine()
