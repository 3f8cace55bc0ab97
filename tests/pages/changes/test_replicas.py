"""The chat page of one app shows and stops a run of another app on the same database."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.runtime.context import ContextProxy

from pages.server import process
from rag.runs.engine import UserEngine
from rag.runs.history.for_people.user_history import UserHistory
from rag.runs.history.history import RunOutline
from rag.runs.run.summary import answer_so_far
from tests.helpers.local import local_engine
from tests.helpers.waiting import eventually
from tests.pages.tabs.chat_page import ChatPage
from tests.servers import Answer, OpenAIServer
from tests.servers.chroma import ChromaServer
from tests.servers.postgres import PostgresServer

QUESTION = "What is the VPN client called?"
ANSWER = "The VPN client is called HazeGate [1]."
PATIENCE = 60


@pytest.fixture
def database_url(postgres: PostgresServer) -> Iterator[str]:
    url = postgres.new_database()
    yield url
    postgres.drop(url)


@pytest.fixture(autouse=True)
def _no_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest has no browser. Its replacement in Streamlit returns a mock for each cookie."""
    monkeypatch.setattr(ContextProxy, "cookies", {})


@pytest.fixture
def elsewhere(
    database_url: str, chroma: ChromaServer, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[UserEngine]:
    """The engine of another app than that of the pages, with a document."""
    for name, value in {
        "DATABASE_URL": database_url,
        "CHROMA_URL": chroma.url,
        "OPENAI_BASE_URL": server.base_url,
        "MODEL_RETRIES": "0",
    }.items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "vpn.md"
    file.write_text("# VPN\n\nThe VPN client is called HazeGate.\n", encoding="utf-8")
    with local_engine() as engine:
        assert engine.store.add("it", file).status.value == "ready"
        yield engine
        process.close_engine()


def test_a_page_shows_the_run_of_another_app_and_stops_it(elsewhere: UserEngine, server: OpenAIServer) -> None:
    server.default = Answer(ANSWER, until=threading.Event())
    run = elsewhere.ask(QUESTION, index="it", pipeline_name="naive")
    assert eventually(lambda: answer_so_far(run.events)[0], PATIENCE)
    page = ChatPage("en", conversation=run.conversation_id)
    assert process.engine().running(run.conversation_id)
    stop = f"■ {page.words['chat.stop']}"
    assert stop in page.buttons
    assert eventually(lambda: "The VPN client" in " ".join(page.look().answers), PATIENCE)
    next(each for each in page.app.button if each.label == stop).click()
    page.look()
    assert run.wait(PATIENCE)
    assert run.result().status == "stopped"
    assert eventually(lambda: stop not in page.look().buttons, PATIENCE)
    assert page.words["chat.stopped"] in [each.value for each in page.app.caption]


# Also in tests/rag/runs/replicas/test_replicas.py, without a page.
@pytest.mark.soak
def test_a_run_that_ended_elsewhere_is_answered_here(elsewhere: UserEngine, server: OpenAIServer) -> None:
    server.default = ANSWER
    run = elsewhere.ask(QUESTION, index="it", pipeline_name="naive")
    run.result()
    page = ChatPage("en", conversation=run.conversation_id)
    assert "HazeGate" in " ".join(page.answers)
    assert not process.engine().run(run.id)


# Also in test_chat.py::test_an_answer_that_ends_while_the_page_is_drawn_is_shown.
@pytest.mark.soak
def test_a_run_that_ends_elsewhere_while_the_page_is_drawn_is_answered_here(
    elsewhere: UserEngine, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends after the page has read the history, and is known to have ended before the page asks for it."""
    may_end = threading.Event()
    server.default = Answer(ANSWER, until=may_end)
    run = elsewhere.ask(QUESTION, index="it", pipeline_name="naive")
    read = UserHistory.outlines

    def read_before_the_end(*asked: object, **options: object) -> list[RunOutline]:
        outlines = read(*asked, **options)
        may_end.set()
        run.result()
        assert eventually(lambda: not (here := process.engine().run(run.id)) or here.is_finished, PATIENCE)
        return outlines

    monkeypatch.setattr(UserHistory, "outlines", read_before_the_end)
    page = ChatPage("en", conversation=run.conversation_id)
    assert "HazeGate" in " ".join(page.answers)
