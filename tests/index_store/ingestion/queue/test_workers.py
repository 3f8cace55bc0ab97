"""Workers: several processes do the jobs of an app, with Postgres and a Chroma server."""

import asyncio
import io
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine, event
from sqlalchemy.engine import make_url

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import IndexRecord
from index_store.commands import main
from index_store.crawl import CrawlOptions
from index_store.ingestion.progress import Item
from index_store.ingestion.queue import delivery, queued_job
from index_store.ingestion.queue.job_table import JobTable
from index_store.ingestion.sources import FileSource, SiteSource, keep_upload
from index_store.ingestion.stages.admission import SourceAdmission
from index_store.library.originals.originals import Originals
from index_store.library.originals.scratch import STAGED_SECONDS
from index_store.store.index_store import IndexStore, working
from index_store.store.user_ingestion import UserIngestion
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.ingestion.queue.conftest import WorkerProcess
from tests.index_store.soundness import assert_sound
from tests.servers.chroma import ChromaProxy, ChromaServer
from tests.servers.loopback import Fault
from tests.servers.postgres import PostgresServer
from tests.servers.site_server import Asked, Misbehaviour, Reply, SiteServer, html

Write = Callable[..., Path]
NewWorker = Callable[[], WorkerProcess]


@pytest.fixture
def app(queued: Settings) -> Iterator[IndexStore]:
    with IndexStore(queued) as app:
        yield app


def add(app: IndexStore, *files: Path) -> UserIngestion:
    return app.ingest("a", [FileSource(file) for file in files])


def outcome(job: UserIngestion) -> dict[str, str]:
    """Name of each source -> its status, or the code of its error."""
    results = job.wait()
    assert job.failure is None
    assert len(results) == len({each.source for each in results})
    return {Path(each.source).name: each.error.code if each.error else each.status.value for each in results}


def test_a_worker_beside_the_app_does_what_is_added_in_it_and_the_app_sees_how_far_it_is(
    app: IndexStore, queued: Settings, service: EmbeddingService, write: Write
) -> None:
    job = add(app, write("a.md", sections=3), write("b.md"), write("none.xyz"))
    assert eventually(lambda: job.progress.done == 1)  # the app itself has refused the file of unknown kind
    assert not job.is_finished
    service.is_held = True
    with working(queued):
        assert eventually(lambda: {item.stage.value for item in job.items} == {"embedding", "done"})
        service.is_held = False
        assert outcome(job) == {"a.md": "ready", "b.md": "ready", "none.xyz": "unknown_kind"}
    assert (job.progress.share, job.progress.done, job.progress.total) == (1, 3, 3)
    assert "part 2" in app.search("a", "What does a.md say in part 2?", k=1)[0].text
    assert_sound(app, queued.data_dir)
    app.dismiss(job)
    assert app.ingestions == ()


def test_whether_a_job_is_finished_is_read_without_its_items(
    app: IndexStore, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queued_job, "FRESH", 0)
    job = add(app, write("a.md"), write("b.md"))
    assert eventually(lambda: len(JobTable(app.access.people._database).open_work()) == 2)
    read: list[str] = []
    listen = (Engine, "before_cursor_execute", lambda *seen: read.append(seen[2]))
    event.listen(*listen)
    try:
        assert not job.is_finished
        assert not job.is_cancelled
        assert (job.index, job.failure) == ("a", None)
        assert [each for each in read if "jobs.is_admitted" in each]
        assert not [each for each in read if "job_items.result" in each]
        assert len(job.items) == 2
        assert [each for each in read if "job_items.result" in each]
    finally:
        event.remove(*listen)


def test_of_two_files_with_one_name_a_worker_gets_the_last_and_the_app_tells_of_the_other(
    app: IndexStore, queued: Settings
) -> None:
    texts = (b"# Budget\n\nof the sales team", b"# Budget\n\nof the warehouse")
    files = [keep_upload(queued.data_dir, "budget.md", io.BytesIO(text)) for text in texts]
    with working(queued):
        results = app.ingest("a", files).wait()
    assert {each.error.code if each.error else each.status.value for each in results} == {"same_name", "ready"}
    assert "warehouse" in app.search("a", "budget", k=1)[0].text


def test_pages_that_are_still_to_come_of_a_site_are_counted_once(
    app: IndexStore, queued: Settings, service: EmbeddingService
) -> None:
    service.is_held = True
    with SiteServer() as site, working(queued.model_copy(update={"crawl_allowed": "127.0.0.1", "crawl_rate": 1000.0})):
        site.pages = {
            "/": html("Start", "/a", "/b", "/c"),
            "/a": html("Apples"),
            "/b": Misbehaviour.HANGS,
            "/c": html("Plums"),
        }
        job = app.ingest("a", [SiteSource(CrawlOptions(url=site.url()))])
        assert eventually(lambda: [item.stage.value for item in job.items] == ["embedding"] * 3)
        assert job.progress.total == 4
        job.cancel()
        service.is_held = False
        assert eventually(lambda: job.is_finished)


def test_what_a_killed_worker_had_is_done_by_another_and_once(
    app: IndexStore, queued: Settings, service: EmbeddingService, write: Write, worker_process: NewWorker
) -> None:
    service.is_held, service.passes = True, 1  # only the first call ends
    job = add(app, *(write(f"{i}.md", sections=10) for i in range(16)))
    killed = worker_process()
    assert eventually(lambda: job.progress.done)
    killed.end(signal.SIGKILL)
    service.is_held = False
    assert not job.is_finished
    with working(queued):
        assert outcome(job) == {f"{i}.md": "ready" for i in range(16)}
    assert app.indexes()[0].chunks == 160
    assert_sound(app, queued.data_dir)


def test_a_worker_that_was_thought_dead_changes_nothing_of_what_another_has(
    app: IndexStore, queued: Settings, service: EmbeddingService, write: Write, postgres: PostgresServer
) -> None:
    """If two workers work on the same document, the later lease counts."""
    service.is_held = True
    job = add(app, write("a.md", sections=3))
    with working(queued):
        service.wait_for_requests(1)
        job_table = JobTable(app.access.people._database)
        [item] = job_table.items(job.id)[0]
        taken = job_table.take(item)
        assert taken
        service.is_held = False
        assert eventually(lambda: len(service.texts) >= 3)
    assert app.documents()[0].status.value == "pending"
    assert app.check() == []
    assert not job.is_finished
    with working(queued):  # no other worker had it, so it is delivered again
        assert outcome(job) == {"a.md": "ready"}
    assert_sound(app, queued.data_dir)


@pytest.mark.soak  # killed a moment earlier: above
@pytest.mark.parametrize("is_cancelled", [False, True], ids=["", "of a job that is cancelled"])
def test_what_a_killed_worker_had_no_time_to_delete_does_not_stay(
    app: IndexStore, queued: Settings, chroma: ChromaServer, write: Write, is_cancelled: bool
) -> None:
    """It is killed after it saved the new version of a document and before it deleted the old one."""
    with working(queued):
        assert outcome(add(app, write("a.md", sections=3))) == {"a.md": "ready"}
    with ChromaProxy(chroma) as proxy:
        proxy.fails(Fault.HANGS, on="/delete")
        killed = WorkerProcess(queued.model_copy(update={"chroma_url": SecretStr(proxy.url)}))
        try:
            job = app.reindex("a")
            assert eventually(lambda: [each for each in proxy.requests if each.path.endswith("/delete")], 60)
        finally:
            killed.end(signal.SIGKILL)
    if is_cancelled:
        job.cancel()
    with working(queued):
        assert eventually(lambda: job.is_finished, 60)
        assert [each.status.value for each in app.documents()] == ["ready"]
        assert eventually(lambda: app.check() == [])
    assert_sound(app, queued.data_dir)


@pytest.mark.soak  # without a worker: tests/index_store/library/originals/test_scratch.py
def test_what_a_killed_worker_had_read_of_a_document_is_deleted_by_a_start_a_day_later(
    app: IndexStore, queued: Settings, service: EmbeddingService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = queued.data_dir.parent / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    service.is_held = True
    killed = WorkerProcess(queued)
    try:
        job = add(app, write("a.md", sections=3))
        assert eventually(lambda: [item.stage.value for item in job.items] == ["embedding"], 60)
        before = set(queued.data_dir.glob("originals/staging-*/"))
    finally:
        killed.end(signal.SIGKILL)
    service.is_held = False
    for each in before:
        os.utime(each, (time.time() - 2 * STAGED_SECONDS,) * 2)
    with working(queued):
        assert outcome(job) == {"a.md": "ready"}
    left = {each for each in before if each.exists()}
    assert len(left) == 1  # that of the app, which still runs
    assert not list(temporary.glob("parsing-*"))


def test_a_worker_ends_even_if_its_first_cancellation_is_lost(
    app: IndexStore, queued: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11 may lose the cancellation of a task that continues at the same moment."""
    monkeypatch.setattr(delivery, "ENDING_SECONDS", 0.2)
    monkeypatch.setattr(delivery, "CANCEL_AGAIN_SECONDS", 0.2)
    is_at_work = threading.Event()

    async def hear_nothing(item_id: int) -> None:
        is_at_work.set()
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    with app.access.people._database.begin() as connection:
        delivery.Sender().deliver(connection, 1, 0)
    assert queued.database_url
    idle = lambda: None  # noqa: E731
    receiver = delivery.Receiver(queued.database_url.get_secret_value(), hear_nothing, idle, idle, 1).start()
    assert is_at_work.wait(60)
    receiver.stop()
    receiver.join()


@pytest.mark.soak
def test_a_cancelled_job_leaves_nothing_and_what_failed_is_tried_again(
    app: IndexStore, queued: Settings, service: EmbeddingService, write: Write
) -> None:
    idle = add(app, *(write(f"idle/{i}.md") for i in range(5)))
    assert eventually(lambda: len(app.documents()) == 5)
    idle.cancel()
    assert outcome(idle) == {}
    assert app.documents() == []
    service.is_held = True
    with working(queued):
        busy = add(app, *(write(f"busy/{i}.md") for i in range(5)))
        service.wait_for_requests(1)
        busy.cancel()
        assert eventually(lambda: busy.is_finished)
        assert busy.is_cancelled
        assert app.documents() == []
        service.is_held = False
        service.refused = "broken"
        file = write("c.md", words="broken")
        assert outcome(add(app, file)) == {"c.md": "request_refused"}
        service.refused = None
        assert outcome(app.retry("a")) == {"c.md": "ready"}
    assert_sound(app, queued.data_dir)


def test_a_crawl_that_a_worker_has_left_is_completed_by_the_next(app: IndexStore, queued: Settings) -> None:
    is_asked, goes_on = threading.Event(), threading.Event()

    def held(_: Asked) -> Reply:
        is_asked.set()
        assert goes_on.wait(60)
        return html("Pears")

    crawling = queued.model_copy(update={"crawl_allowed": "127.0.0.1", "crawl_rate": 1000.0})
    with SiteServer() as site:
        site.pages = {"/": html("Start", "/a", "/b"), "/a": html("Apples"), "/b": held}
        with working(crawling):
            job = app.ingest("a", [SiteSource(CrawlOptions(url=site.url()))])
            assert is_asked.wait(60)
        assert not job.is_finished
        goes_on.set()
        with working(crawling):
            job.wait()
        pages = {each.source.removeprefix(site.url("")): each.status.value for each in app.documents()}
    assert pages == dict.fromkeys(("/", "/a", "/b"), "ready")
    assert [each.is_crawling for each in app.sites("a")] == [False]


def test_a_site_of_a_job_that_is_cancelled_while_its_files_are_stored_is_not_crawled_at_the_next_start(
    app: IndexStore, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_storing, goes_on = threading.Event(), threading.Event()
    admit = SourceAdmission.admit_source

    def held(its: SourceAdmission, index: IndexRecord, source: FileSource, item: Item) -> object:
        is_storing.set()
        assert goes_on.wait(60)
        return admit(its, index, source, item)

    monkeypatch.setattr(SourceAdmission, "admit_source", held)
    site = SiteSource(CrawlOptions(url="http://site.example/"))
    job = app.ingest("a", [site, FileSource(write("a.md")), FileSource(write("b.md"))])
    assert is_storing.wait(60)
    job.cancel()
    goes_on.set()
    assert eventually(lambda: job.is_finished)
    assert [each.is_crawling for each in app.sites("a")] == [False]
    assert app.resume() == []


def test_a_cancelled_job_drops_all_its_documents_even_if_the_file_of_one_can_not_be_deleted(
    app: IndexStore, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = add(app, *(write(f"{number}.md") for number in range(3)))
    assert eventually(lambda: len(app.documents()) == 3)
    faults = iter([OSError("read-only file system")])

    def discard(its: Originals, *versions: tuple[str, int]) -> None:
        for fault in faults:
            raise fault

    monkeypatch.setattr(Originals, "discard", discard)
    job.cancel()
    assert eventually(lambda: app.documents() == [])  # one may still be on its way into the queue
    assert eventually(lambda: job.is_finished)


def test_a_closed_app_no_longer_looks_at_its_jobs_and_leaves_no_connection(
    queued: Settings, write: Write, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection would keep an app of a newer version from updating the database."""
    looks, may_look = threading.Event(), threading.Event()
    jobs = JobTable.jobs

    def watching() -> list[threading.Thread]:
        return [each for each in threading.enumerate() if each.name.startswith("ingestion into")]

    def held(its: JobTable, *ids: str) -> object:
        if threading.current_thread() in watching():
            looks.set()
            assert may_look.wait(60)
        return jobs(its, *ids)

    monkeypatch.setattr(JobTable, "jobs", held)
    app = IndexStore(queued)
    add(app, write("a.md"))
    assert looks.wait(60)
    threading.Timer(0.5, may_look.set).start()
    app.close()
    for each in watching():
        each.join()
    asked = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rag catalogue' AND datname = '{}'"
    name = make_url(queued.database_url.get_secret_value()).database if queued.database_url else None
    assert eventually(lambda: postgres.run(asked.format(name)) == [(0,)])


@pytest.mark.soak
def test_the_next_start_of_the_app_goes_on_with_what_is_in_the_queue(queued: Settings, write: Write) -> None:
    with IndexStore(queued) as app:
        job = app.ingest("a", [keep_upload(queued.data_dir, "up.md", io.BytesIO(b"# Up\n\nloaded"))])
        assert eventually(lambda: app.documents())
    with IndexStore(queued.model_copy(update={"workers": "here"})) as app:
        [resumed] = app.resume()
        assert resumed.id == job.id
        assert outcome(resumed) == {"up.md": "ready"}
        assert app.resume() == []
        assert_sound(app, queued.data_dir)


def test_a_worker_without_servers_or_beside_another_folder_says_what_it_needs(
    queued: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["worker", "--language", "en"]) == 1
    assert "A worker needs the same DATABASE_URL and CHROMA_URL" in capsys.readouterr().err
    with (
        pytest.raises(errors.FolderNotShared),
        working(queued.model_copy(update={"data_dir": tmp_path / "elsewhere"})),
    ):
        pass


@pytest.mark.soak
def test_two_workers_share_a_job_and_one_of_them_may_be_killed_in_the_midst(
    app: IndexStore, queued: Settings, service: EmbeddingService, write: Write, worker_process: NewWorker
) -> None:
    service.delay = 0.2
    names = [f"{i}.md" for i in range(80)]
    workers = [worker_process(), worker_process()]
    for _ in range(3):
        job = add(app, *(write(name, sections=5) for name in names))
        assert eventually(lambda job=job: job.progress.done >= 20, 60)
        workers.pop(0).end(signal.SIGKILL)
        workers.append(worker_process())
        assert outcome(job) == dict.fromkeys(names, "ready")
        assert app.indexes()[0].chunks == 400
        assert_sound(app, queued.data_dir)
        for document in app.documents():
            app.remove("a", document.source)
    assert [worker.end() for worker in workers] == [0, 0]
