"""The queue when the database is killed or clocks differ: nothing is lost, jobs end, and errors are reported."""

import io
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from procrastinate import exceptions

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import IndexRecord
from index_store.catalogue.sites import Sites
from index_store.crawl import CrawlOptions
from index_store.ingestion.progress import Item
from index_store.ingestion.queue import delivery
from index_store.ingestion.queue.delivery import Sender
from index_store.ingestion.sources import FileSource, SiteSource, keep_upload
from index_store.ingestion.stages.admission import SourceAdmission
from index_store.library.versions import Versions
from index_store.store.index_store import IndexStore, working
from index_store.store.user_ingestion import UserIngestion
from tests.helpers.clock import environment as at_a_clock
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.ingestion.queue.conftest import WorkerProcess
from tests.index_store.soundness import assert_sound
from tests.servers.postgres import PostgresServer
from tests.servers.site_server import SiteServer, html

Write = Callable[..., Path]
NewWorker = Callable[[], WorkerProcess]
AwayOnce = Callable[[type, str, str], list[str]]

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


@pytest.mark.soak  # one that is away for a moment, at each kind of change, is tested below
@pytest.mark.parametrize("seconds", [1, 20])
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


@pytest.fixture
def away_once(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> AwayOnce:
    """`away_once(Versions, "begin", "m.md")`: the database is away during the first such call whose arguments have
    these words. Returns a list of these calls, once they have ended and the database is there.
    """

    def make(owner: type, method: str, words: str) -> list[str]:
        call = getattr(owner, method)
        calls: list[str] = []
        is_first = iter([True])

        def during(*given: object) -> object:
            if words not in repr(given):
                return call(*given)
            is_away = next(is_first, False)
            if is_away:
                postgres.kill()
            try:
                return call(*given)
            finally:
                if is_away:
                    postgres.start()
                calls.append(method)

        monkeypatch.setattr(owner, method, during)
        return calls

    return make


@pytest.mark.parametrize("method", [pytest.param("put_vectors", marks=pytest.mark.soak), "finish"])
def test_a_document_is_added_although_the_database_is_away_for_a_moment_as_it_is_saved(
    app: IndexStore, queued: Settings, write: Write, away_once: AwayOnce, method: str
) -> None:
    job = app.ingest("a", [FileSource(write("a.md"))])
    assert eventually(app.documents)
    calls = away_once(Versions, method, "a.md")
    with working(queued):
        assert eventually(lambda: calls)
        assert [each.error.code if each.error else each.status.value for each in job.wait()] == ["ready"]
    assert len(calls) > 1
    assert_sound(app, queued.data_dir)


@pytest.mark.soak  # one that is ready is tested above
@pytest.mark.parametrize(("name", "code"), [("a.md", "request_refused"), ("a.zip", "unreadable")])
def test_what_fails_as_the_database_is_away_for_a_moment_is_told_to_have_failed(
    app: IndexStore,
    queued: Settings,
    service: EmbeddingService,
    write: Write,
    away_once: AwayOnce,
    name: str,
    code: str,
) -> None:
    service.refused = "broken"
    job = app.ingest("a", [FileSource(write(name, words="broken"))])
    assert eventually(app.documents)
    calls = away_once(Versions, "fail", name)
    with working(queued):
        assert eventually(lambda: calls)
        assert [each.error and each.error.code for each in job.wait()] == [code]
    assert [each.status.value for each in app.documents("a")] == ["failed"]
    assert_sound(app, queued.data_dir)


@pytest.mark.soak  # the tests beside it do the same with a site and a file
def test_all_of_an_archive_is_added_although_the_database_is_away_for_a_moment(
    app: IndexStore, queued: Settings, tmp_path: Path, away_once: AwayOnce
) -> None:
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("l.md", "m.md", "n.md"):
            archive.writestr(name, f"# {name}\n\nThis is what it says.")
    job = app.ingest("a", [FileSource(tmp_path / "a.zip")])
    assert eventually(app.documents)
    calls = away_once(Versions, "begin", "m.md")
    with working(queued):
        assert eventually(lambda: calls)
        assert {each.error.code if each.error else each.status.value for each in job.wait()} <= {"ready", "unchanged"}
    assert [each.status.value for each in app.documents("a")] == ["ready"] * 3
    assert_sound(app, queued.data_dir)


@pytest.mark.soak  # a file is tested above
@pytest.mark.parametrize(("owner", "method"), [(Sites, "has"), (Versions, "begin")], ids=["came", "is stored"])
def test_a_site_is_crawled_although_the_database_is_away_for_a_moment_as_a_page(
    app: IndexStore, queued: Settings, away_once: AwayOnce, owner: type, method: str
) -> None:
    crawling = queued.model_copy(update={"crawl_allowed": "127.0.0.1", "crawl_rate": 1000.0})
    with SiteServer() as site:
        site.pages = {"/": html("Start", text="This is where it begins.")}
        job = app.ingest("a", [SiteSource(CrawlOptions(url=site.url()))])
        calls = away_once(owner, method, site.url())
        with working(crawling):
            assert eventually(lambda: calls)
            assert [each.error.code if each.error else each.status.value for each in job.wait()] == ["ready"]
    assert len(calls) > 1
    assert not app.sites("a")[0].is_crawling
    assert_sound(app, queued.data_dir)


def test_a_bug_in_a_crawl_ends_the_job_with_its_name_and_the_site_is_not_fetched_again(
    app: IndexStore, queued: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a bug")

    crawling = queued.model_copy(update={"crawl_allowed": "127.0.0.1", "crawl_rate": 1000.0})
    with SiteServer() as site:
        site.pages = {"/": html("Start", text="This is where it begins.")}
        job = app.ingest("a", [SiteSource(CrawlOptions(url=site.url()))])
        monkeypatch.setattr(SourceAdmission, "admit", broken)
        with working(crawling):
            assert eventually(lambda: job.is_finished)
    assert [each.error and each.error.sentence("en") for each in job.results] == [
        errors.IndexStoreError(what="ValueError").sentence("en")
    ]
    assert len(job.items) == 1
    assert [each.path for each in site.asked].count("/") == 1


def test_a_site_is_crawled_although_the_queue_has_refused_a_page_of_it_once(
    app: IndexStore, queued: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [exceptions.ConnectorException()]
    deliver = Sender.deliver

    def refuse_once(*of: Any) -> None:
        if refusals:
            raise refusals.pop()
        deliver(*of)

    crawling = queued.model_copy(update={"crawl_allowed": "127.0.0.1", "crawl_rate": 1000.0})
    with SiteServer() as site:
        site.pages = {"/": html("Start", text="This is where it begins.")}
        job = app.ingest("a", [SiteSource(CrawlOptions(url=site.url()))])
        assert eventually(lambda: job.items)
        monkeypatch.setattr(Sender, "deliver", refuse_once)
        with working(crawling):
            assert eventually(lambda: job.is_finished)
    assert not refusals
    assert [each.status.value for each in job.results] == ["ready"]
    assert_sound(app, queued.data_dir)


@pytest.mark.soak  # a crawl is tested above
def test_a_bug_in_the_work_on_an_archive_ends_the_job_with_its_name(
    app: IndexStore, queued: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a bug")

    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("m.md", "# M\n\nThis is what it says.")
    job = app.ingest("a", [FileSource(tmp_path / "a.zip")])
    monkeypatch.setattr(Versions, "replace_by_members", broken)
    with working(queued):
        assert eventually(lambda: job.is_finished)
    assert sorted(each.error.sentence("en") if each.error else each.status.value for each in job.results) == sorted(
        ["ready", errors.IndexStoreError(what="ValueError").sentence("en")]
    )
    assert_sound(app, queued.data_dir)


def test_a_job_that_is_taken_in_while_the_database_is_killed_comes_to_its_end_and_says_what_was_not_added(
    app: IndexStore, queued: Settings, write: Write, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    admit = SourceAdmission.admit_source

    def without_a_database(its: SourceAdmission, index: IndexRecord, source: FileSource, item: Item) -> object:
        if source.path.name == "10.md":
            postgres.kill()
        return admit(its, index, source, item)

    monkeypatch.setattr(SourceAdmission, "admit_source", without_a_database)
    app.create_index("a")
    job = app.ingest("a", [FileSource(write(f"{number}.md")) for number in range(20)])
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
    assert 0 < len(noted) < 20
    assert {each.status.value for each in noted} <= {"ready", "failed"}
    assert_sound(app, queued.data_dir)


@pytest.mark.soak  # with the clock of this machine: test_workers.py
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


def test_on_a_full_disk_of_the_database_whatever_is_pressed_ends_in_a_sentence_and_no_upload_stays(
    app: IndexStore, queued: Settings, write: Write, postgres: PostgresServer
) -> None:
    job = add(app, write)
    assert eventually(lambda: len(app.documents()) == FILES)
    document = app.documents("a")[0]
    assert queued.database_url
    name = queued.database_url.get_secret_value().partition("?")[0].rpartition("/")[2]
    postgres.run(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE 'No space left on device' USING ERRCODE = 'disk_full'; END $$",
        name,
    )
    for table in ("jobs", "job_items", "indexes", "documents"):
        each = "BEFORE INSERT OR UPDATE OR DELETE"
        postgres.run(f"CREATE TRIGGER full_disk {each} ON catalogue.{table} EXECUTE FUNCTION refuse()", name)
    upload = keep_upload(queued.data_dir, "up.md", io.BytesIO(b"# Up"))
    for change in (
        lambda: app.ingest("a", [upload]),
        lambda: app.retry("a", [document.id]),
        lambda: app.reindex("a"),
        lambda: app.set_glossary("a", "日当"),
        job.cancel,
        lambda: app.dismiss(job),
    ):
        with pytest.raises(errors.ChangeFailed, match="the disk may be full"):
            change()
    assert not upload.path.exists()
    for table in ("jobs", "job_items", "indexes", "documents"):
        postgres.run(f"DROP TRIGGER full_disk ON catalogue.{table}", name)
    job.cancel()
    assert eventually(lambda: app.documents() == [])
