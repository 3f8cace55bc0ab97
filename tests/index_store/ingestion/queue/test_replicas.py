"""Two apps on the same Postgres, Chroma server and data folder: each sees what the other does and does not undo it."""

import gc
import io
import random
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import delete, select

from index_store.access.access import open_access
from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import Role
from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.catalogue.schema import job_items
from index_store.crawl import CrawlOptions
from index_store.ingestion.queue.job_table import JobTable
from index_store.ingestion.sources import FileSource, SiteSource, keep_upload
from index_store.library.originals.scratch import LOCK
from index_store.store.index_store import IndexStore, working
from tests.helpers.back_doors import catalogue_of, library_of
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.ingestion.queue.conftest import environment
from tests.index_store.soundness import assert_sound, faults_of, originals
from tests.servers.postgres import PostgresServer
from tests.servers.site_server import SiteServer, html

Write = Callable[..., Path]

ROUNDS = 4


@pytest.fixture
def one(queued: Settings) -> Iterator[IndexStore]:
    with IndexStore(queued) as store:
        yield store


@pytest.fixture
def other(one: IndexStore, queued: Settings) -> Iterator[IndexStore]:
    with IndexStore(queued) as store:
        yield store


def test_what_is_added_renamed_and_removed_in_one_is_so_in_the_other(
    one: IndexStore, other: IndexStore, queued: Settings, write: Write
) -> None:
    with working(queued):
        assert one.add("a", write("a.md", sections=2)).status.value == "ready"
        assert other.add("a", write("b.md")).status.value == "ready"
    assert [(each.name, each.documents) for each in other.indexes()] == [("a", 2)]
    assert "part 1" in other.search("a", "What does a.md say in part 1?", mode="hybrid", k=1)[0].text
    one.rename_index("a", "b")
    other.set_glossary("b", "a.md")
    assert one.glossary("b") == "a.md"
    other.remove("b", str(write("a.md")))
    assert [Path(each.source).name for each in one.documents("b")] == ["b.md"]
    with pytest.raises(errors.IndexExists):
        other.create_index("b")
    one.delete_index("b")
    assert other.indexes() == []
    with pytest.raises((errors.UnknownIndex, errors.EmptyIndex)):
        other.search("b", "What?")
    assert_sound(other, queued.data_dir)
    assert originals(queued.data_dir) == []


def test_an_index_that_is_deleted_in_both_at_once_is_deleted_in_one_and_unknown_to_the_other(
    one: IndexStore, other: IndexStore
) -> None:
    one.create_index("a")
    one.create_index("b")
    with ThreadPoolExecutor() as threads:
        with library_of(one).held():  # until both have found it
            deleting = [threads.submit(store.delete_index, "a") for store in (one, other)]
            assert eventually(lambda: one._parts.lifecycle._going and other._parts.lifecycle._going)
        met = [each.exception() for each in deleting]
    assert sorted(type(error).__name__ for error in met) == ["NoneType", "UnknownIndex"]
    assert [each.name for each in other.indexes()] == ["b"]


def test_one_that_starts_leaves_what_another_is_about_to_take_in(
    one: IndexStore, queued: Settings, write: Write, service: EmbeddingService
) -> None:
    """That is: its staged files, its jobs, and the documents that it has just recorded."""
    with library_of(one).held():  # it can record no document
        job = one.ingest("a", [FileSource(write(f"{number}.md")) for number in range(5)])
        staged = (queued.data_dir / "originals").glob
        assert eventually(lambda: {*staged("staging-*/*")} - {*staged(f"staging-*/{LOCK}")} or one._parts.jobs.all())
        assert [each.id for each in one._parts.jobs.all()] == [job.id]
    with IndexStore(queued) as starting:
        assert all(each.id == job.id for each in starting.resume())
        with working(queued):
            assert [each.status.value for each in job.wait()] == ["ready"] * 5
        [seen] = starting.ingestions
        assert seen.progress.done == 5
        assert_sound(starting, queued.data_dir)


def test_nothing_is_kept_of_a_job_that_the_other_has_dismissed(
    one: IndexStore, other: IndexStore, queued: Settings, write: Write
) -> None:
    job = one.ingest("a", [FileSource(write("a.md"))])
    with working(queued):
        job.wait()
    seen = weakref.ref(other._parts.jobs.get(job.id))
    one.dismiss(job)
    assert other.ingestions == ()
    gc.collect()
    assert seen() is None


def test_a_job_is_cancelled_from_the_other_while_it_is_still_taken_in(
    one: IndexStore, other: IndexStore, queued: Settings, write: Write
) -> None:
    other.create_index("a")
    job = one.ingest("a", [FileSource(write(f"{number}.md")) for number in range(20)])
    [seen] = other.ingestions
    seen.cancel()
    assert eventually(lambda: job.is_finished and job.is_cancelled)
    with working(queued):
        assert eventually(lambda: not [each for each in other.documents() if each.status.value == "pending"])
    assert_sound(one, queued.data_dir)


def test_a_job_that_is_dismissed_in_another_app_as_it_ends_ends_with_its_results_for_who_waits_for_it(
    one: IndexStore, other: IndexStore, queued: Settings, write: Write
) -> None:
    job = one.ingest("a", [FileSource(write("a.md"))])
    with working(queued):
        assert eventually(lambda: other.ingestions[0].is_finished)
    other.dismiss(other.ingestions[0])
    assert one.ingestions == other.ingestions == ()
    assert eventually(lambda: job.is_finished)
    assert [result.status.value for result in job.wait()] == ["ready"]


@pytest.mark.soak  # the other way round: above
def test_a_job_that_its_own_app_has_forgotten_has_ended_in_the_others(
    one: IndexStore, other: IndexStore, queued: Settings, write: Write
) -> None:
    job = one.ingest("a", [FileSource(write("a.md"))])
    [seen] = other.ingestions
    with working(queued):
        job.wait()
    one.dismiss(job)
    assert eventually(lambda: seen.is_finished)


def test_of_a_person_whose_data_is_deleted_no_name_of_a_file_stays_whichever_app_added_it(
    one: IndexStore, other: IndexStore, queued: Settings, write: Write
) -> None:
    alice = one.access.people.signed_in(SignInClaims("https://id.example.com", "alice"))
    one.access.people.set_role(alice.id, Role.EDITOR)
    job = one.as_user(partial(one.access.principal, alice.id)).ingest("hers", [FileSource(write("her letter.md"))])
    with working(queued):
        job.wait()
    other.cancel_jobs_of(alice.id)
    with catalogue_of(one).database.connect() as connection:
        assert connection.execute(select(job_items.c.source)).all() == []
    assert one.ingestions == other.ingestions == ()


def test_an_app_continues_jobs_that_another_app_had_not_admitted_when_it_ended(
    one: IndexStore, queued: Settings, write: Write
) -> None:
    gone = IndexStore(queued)
    number = gone.replica.number if gone.replica else 0
    gone.ingest("a", [keep_upload(queued.data_dir, "up.md", io.BytesIO(b"# Up\n\nloaded"))])
    assert eventually(lambda: [row.is_admitted for row in JobTable(catalogue_of(gone).database).jobs()] == [True])
    # As if it had died between two transactions: the job is not admitted, and its document is in no queue.
    with catalogue_of(one).database.begin() as connection:
        connection.exec_driver_sql("UPDATE jobs SET is_admitted = false")
        connection.exec_driver_sql("DELETE FROM job_items")
        connection.exec_driver_sql("DELETE FROM procrastinate_jobs")
    assert one.resume() == []  # the other app still runs
    gone.close()
    assert one.replicas() == {number}
    one.take_over({number})
    assert one.replica
    assert one.replicas() == {one.replica.number}
    with working(queued):
        assert eventually(lambda: [each.status.value for each in one.documents()] == ["ready"])
    assert eventually(lambda: not faults_of(one, queued.data_dir))


@pytest.mark.soak  # uploads are tested above
def test_pages_that_another_app_had_not_put_into_the_queue_are_continued_beside_the_first_page_of_their_site(
    one: IndexStore, queued: Settings
) -> None:
    crawling = queued.model_copy(update={"crawl_allowed": "127.0.0.1", "crawl_rate": 1000.0})
    with SiteServer() as site, working(crawling):
        site.pages = {"/": html("Start", "/a", "/b"), "/a": html("Apples"), "/b": html("Pears")}
        assert len(one.ingest("a", [SiteSource(CrawlOptions(url=site.url()))]).wait()) == 3
    rebuilt = one.reindex("a")
    assert eventually(lambda: len(JobTable(catalogue_of(one).database).open_work()) == 3)
    # As if its app had been killed after the first page.
    with catalogue_of(one).database.begin() as connection:
        connection.execute(delete(job_items).where(job_items.c.source != site.url()))
        connection.exec_driver_sql("UPDATE jobs SET is_admitted = true")
    (left,) = [each for each in one.resume() if each != rebuilt]
    with working(queued):
        assert [each.status.value for each in rebuilt.wait()] == ["ready"]
        assert {each.source: each.status.value for each in left.wait()} == {
            site.url("/a"): "ready", site.url("/b"): "ready"
        }  # fmt: skip
    assert_sound(one, queued.data_dir)


def test_a_folder_without_the_originals_is_refused_beside_others(
    one: IndexStore, queued: Settings, tmp_path: Path
) -> None:
    elsewhere = queued.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    for _ in range(2):
        with pytest.raises(errors.FolderNotShared):
            IndexStore(elsewhere)


def test_a_command_in_a_folder_without_the_originals_does_not_make_it_one_of_the_app(
    one: IndexStore, queued: Settings, tmp_path: Path
) -> None:
    elsewhere = queued.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    with open_access(elsewhere) as access:
        assert access.people.all() == []
    with pytest.raises(errors.FolderNotShared):
        IndexStore(elsewhere)
    with pytest.raises(errors.FolderNotShared), working(elsewhere):
        pass


@pytest.mark.soak  # in one app: tests/index_store/search/test_searcher.py
def test_what_one_removes_while_the_other_searches_is_found_or_not_and_never_half(
    one: IndexStore, other: IndexStore, queued: Settings, write: Write
) -> None:
    with working(queued):
        for number in range(6):
            assert one.add("a", write(f"{number}.md", sections=3)).status.value == "ready"
    found: list[list[str]] = []
    faults: list[BaseException] = []
    is_over = threading.Event()

    def search() -> None:
        while not is_over.is_set():
            try:
                hits = other.search("a", "What does it say in part 1?", mode="hybrid", k=5)
            except (errors.EmptyIndex, errors.UnknownIndex):
                found.append([])
            except Exception as error:  # noqa: BLE001 - checked below
                faults.append(error)
            else:
                found.append([hit.text for hit in hits])

    searching = threading.Thread(target=search)
    searching.start()
    assert eventually(lambda: found)
    for number in range(2):
        one.remove("a", str(write(f"{number}.md", sections=3)))
    one.delete_index("a")
    seen = len(found)
    assert eventually(lambda: len(found) > seen + 1)
    is_over.set()
    searching.join()
    assert faults == []
    assert len(found[0]) == 5
    assert all(all(found_texts) for found_texts in found)
    assert found[-1] == []
    assert_sound(other, queued.data_dir)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_replica_killed_at_random_loses_and_doubles_no_recorded_document(
    one: IndexStore, queued: Settings, write: Write, service: EmbeddingService
) -> None:
    """`python -m index_store add` is a replica and a worker while it runs."""
    chance = random.Random(4)
    service.delay = 0.05
    for number in range(ROUNDS):
        files = [write(f"{number}/{name}.md", sections=3) for name in range(30)]
        adding = subprocess.Popen(
            [sys.executable, "-m", "index_store", "add", "--index", "a", *map(str, files)],
            env={**environment(queued), "WORKERS": "here"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert eventually(lambda adding=adding: one.replica and len(one.replica.alive()) == 2, 60)
        assert eventually(lambda number=number: noted(one, number), 60)
        time.sleep(chance.uniform(0, 2))  # at a random point of its work
        adding.kill()
        adding.wait()
        assert one.replica
        assert eventually(lambda: one.replica and one.replica.alive() == {one.replica.number})
        known = noted(one, number)
        one.take_over(one.replicas() - {one.replica.number})
        with working(queued):
            assert eventually(lambda: all(each.status.value == "ready" for each in one.documents()), 120)
            assert eventually(lambda: all(job.is_finished for job in one.ingestions), 60)
        assert known <= noted(one, number)
        assert len(one.documents()) == len({each.source for each in one.documents()})
        assert eventually(lambda: not faults_of(one, queued.data_dir))


def noted(store: IndexStore, number: int) -> set[str]:
    """Sources of the recorded documents of this round."""
    return {each.source for each in store.documents() if f"/{number}/" in each.source}


def test_an_app_that_closes_while_the_database_is_away_frees_everything(
    queued: Settings, postgres: PostgresServer
) -> None:
    store = IndexStore(queued)
    postgres.stop()
    try:
        with pytest.raises(errors.DatabaseAway):
            store.close()
        assert [*(queued.data_dir / "originals").iterdir()] == []
        assert "replicas" not in [each.name for each in threading.enumerate()]
    finally:
        postgres.start()
