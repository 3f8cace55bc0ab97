"""The queue when the database is killed or clocks differ: nothing is lost, jobs end, and errors are reported."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.base.settings import Settings
from index_store.catalogue.records import IndexRecord
from index_store.ingestion.progress import Item
from index_store.ingestion.queue import delivery
from index_store.ingestion.sources import FileSource
from index_store.ingestion.stages.admission import SourceAdmission
from index_store.store.index_store import IndexStore, working
from index_store.store.user_ingestion import UserIngestion
from tests.clock import environment as at_a_clock
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.ingestion.queue.conftest import WorkerProcess
from tests.index_store.soundness import assert_sound, eventually
from tests.servers.postgres import PostgresServer

Write = Callable[..., Path]
NewWorker = Callable[[], WorkerProcess]

FILES = 20
DEAD = delivery.DEAD


@pytest.fixture
def app(queued: Settings) -> Iterator[IndexStore]:
    with IndexStore(queued) as app:
        yield app


def add(app: IndexStore, write: Write, sections: int = 2) -> UserIngestion:
    return app.ingest("a", [FileSource(write(f"{number}.md", sections=sections)) for number in range(FILES)])


def are_ready_once(app: IndexStore, sections: int = 2) -> bool:
    return [(each.status.value, each.chunks) for each in app.documents("a")] == [("ready", sections)] * FILES


@pytest.mark.parametrize("seconds", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_a_database_that_is_killed_in_the_midst_of_an_ingest_and_away_for_a_while_costs_nothing(
    app: IndexStore,
    queued: Settings,
    service: EmbeddingService,
    write: Write,
    worker_process: NewWorker,
    postgres: PostgresServer,
    seconds: float,
) -> None:
    service.delay = 0.1
    job = add(app, write)
    worker = worker_process()
    assert eventually(lambda: job.progress.done, 60)
    done = {each.source for each in app.documents("a") if each.status.value == "ready"}
    postgres.kill()
    until = time.monotonic() + seconds
    try:
        for call in (app.documents, app.indexes, lambda: app.remove("a", str(write("0.md"))), app.check):
            with pytest.raises(errors.DatabaseAway, match="can't be reached"):
                call()
        time.sleep(max(0.0, until - time.monotonic()))
    finally:
        postgres.start()
    assert done <= {each.source for each in app.documents("a") if each.status.value == "ready"}
    assert eventually(lambda: job.is_finished, 60)
    assert are_ready_once(app)
    assert app.replica
    assert eventually(lambda: app.replica and app.replica.alive() == {app.replica.number})
    assert_sound(app, queued.data_dir)
    assert worker.end() == 0


def test_a_job_that_is_taken_in_while_the_database_is_killed_comes_to_its_end_and_says_what_was_not_added(
    app: IndexStore, queued: Settings, write: Write, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    admit = SourceAdmission.admit_source

    def without_a_database(its: SourceAdmission, index: IndexRecord, source: FileSource, item: Item) -> object:
        if source.path.name == "100.md":
            postgres.kill()
        return admit(its, index, source, item)

    monkeypatch.setattr(SourceAdmission, "admit_source", without_a_database)
    app.create_index("a")
    job = app.ingest("a", [FileSource(write(f"{number}.md")) for number in range(200)])
    admission = app._parts.jobs._known[job.id]._admission  # the job itself can't be read while the database is away
    try:
        assert eventually(lambda: admission.failure)
    finally:
        postgres.start()
    with working(queued):
        assert eventually(lambda: job.is_finished, 60)
    assert job.failure
    assert job.failure.code == "database_away"
    noted = app.documents("a")
    assert 0 < len(noted) < 200
    assert {each.status.value for each in noted} <= {"ready", "failed"}
    assert_sound(app, queued.data_dir)


def test_workers_whose_clocks_are_hours_apart_share_a_job_and_take_nothing_from_each_other(
    app: IndexStore,
    queued: Settings,
    service: EmbeddingService,
    write: Write,
    worker_process: NewWorker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery, "DEAD", DEAD)  # the usual value, which the other process has
    with monkeypatch.context() as environment:
        for name, value in at_a_clock("+6h").items():
            environment.setenv(name, value)
        ahead = worker_process()
    service.is_held = True
    with working(queued):
        job = add(app, write)  # more documents than one worker takes at once
        service.wait_for_requests(2)  # one of each worker
        service.is_held = False
        assert eventually(lambda: job.is_finished, 60)
        assert are_ready_once(app)
        assert len(service.texts) == 2 * FILES  # no text was embedded by both
        shifted = max(each.added_at for each in app.documents("a")) - min(each.added_at for each in app.documents("a"))
        assert shifted > timedelta(hours=5)  # both have done some of the work
        again = app.reindex("a")
        app.remove("a", str(write("0.md")))
        assert eventually(lambda: again.is_finished, 60)
    assert len(app.documents("a")) == FILES - 1
    assert ahead.end() == 0
    assert_sound(app, queued.data_dir)
