"""Preload: a chat model that starts slowly is started with the first page, not with the first question."""

import threading

import pytest

from index_store.access.gate import as_local
from rag.errors import NoChatModel
from rag.models.chat_model import ChatModel
from rag.runs.engine import Engine, UserEngine
from rag.settings import Settings
from tests.helpers.local import local_engine
from tests.helpers.waiting import PATIENCE, eventually
from tests.rag.documents import INDEX
from tests.rag.reading import finished, started_steps
from tests.rag.scripted import ScriptedSource


class SlowSource(ScriptedSource):
    """Starts when a test allows it, once for all callers that wait, like the embedded model; or fails."""

    def __init__(self, chat, error: Exception | None = None) -> None:
        super().__init__(chat, starts=True)
        self.may_start = threading.Event()
        self.starts = 0
        self.error = error
        self._lock = threading.Lock()

    def open(self) -> ChatModel:
        with self._lock:
            if not self.is_ready():
                self.starts += 1
                self.may_start.wait(PATIENCE)
                if self.error:
                    raise self.error
            return super().open()


@pytest.fixture
def source(chat) -> SlowSource:
    return SlowSource(chat)


@pytest.fixture
def open_slow(store, data_dir, source):
    engines = []

    def open_slow(**settings: object) -> UserEngine:
        values = {"data_dir": data_dir, "web_search": "off", "preload": True} | settings
        engines.append(Engine(Settings(**values), store=store, source=source))
        return engines[-1].as_user(as_local)

    yield open_slow
    source.may_start.set()
    for engine in engines:
        engine.close()


def test_it_starts_once_however_many_pages_are_opened_and_questions_asked_meanwhile(open_slow, source):
    engine = open_slow()
    for _ in range(3):
        engine.preload.begin()
    assert engine.preload.since is not None
    runs = [engine.ask(f"日当{number}は?", index=INDEX, pipeline_name="naive") for number in range(2)]
    assert eventually(lambda: all(started_steps(run.events) == ["start_model"] for run in runs))
    source.may_start.set()
    assert {run.result().status for run in runs} == {"finished"}
    assert source.starts == 1
    assert eventually(lambda: engine.preload.since is None)


def test_a_question_after_it_has_no_start_to_wait_for(open_slow, source):
    engine = open_slow()
    engine.preload.begin()
    source.may_start.set()
    assert eventually(source.is_ready)
    run = engine.ask("日当は?", index=INDEX, pipeline_name="naive")
    assert run.result().status == "finished"
    assert not finished(run.events, "start_model")


def test_a_start_that_fails_is_told_to_who_asks_and_to_nobody_before(open_slow, source):
    source.error = NoChatModel()
    source.may_start.set()
    engine = open_slow()
    engine.preload.begin()
    assert eventually(lambda: source.starts == 1 and engine.preload.since is None)
    engine.preload.begin()
    assert source.starts == 1
    run = engine.ask("日当は?", index=INDEX, pipeline_name="naive")
    assert run.result().error.code == NoChatModel().as_failure().code
    assert source.starts == 2


def test_nothing_is_started_where_the_settings_forbid_it(open_slow, source):
    engine = open_slow(preload=False)
    engine.preload.begin()
    assert engine.preload.since is None
    assert source.starts == 0


def test_nothing_is_started_before_there_is_a_document_to_ask(chat, data_dir, tmp_path):
    source = SlowSource(chat)
    source.may_start.set()
    with local_engine(Settings(data_dir=data_dir, web_search="off", preload=True), source=source) as engine:
        engine.preload.begin()
        assert source.starts == 0
        file = tmp_path / "travel.md"
        file.write_text("日当は1日2,500円です。", encoding="utf-8")
        assert engine.store.add("handbook", file, file.name).error is None
        engine.preload.begin()
        assert eventually(lambda: source.starts == 1)
