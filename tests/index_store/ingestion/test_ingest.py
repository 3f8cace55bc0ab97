import errno
import io
import os
import shutil
import signal
import sys
import threading
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from index_store.base import errors
from index_store.base.precedence import Precedence
from index_store.base.settings.settings import Settings
from index_store.catalogue.pending_versions import PendingVersion
from index_store.catalogue.records import DocumentStatus, IndexRecord
from index_store.ingestion.progress import Stage
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource, expand, keep_upload
from index_store.ingestion.stages import embedding
from index_store.ingestion.stages.admission import SourceAdmission
from index_store.ingestion.stages.completion import DocumentTask
from index_store.library.originals.folder import Folder
from index_store.library.versions import EmbeddedVersion, IncomingFile, Versions
from index_store.parsing.worker.parser import Parser
from index_store.parsing.worker.protocol import ParserRequest
from index_store.parsing.worker.worker import NICENESS
from index_store.store.index_store import IndexStore
from index_store.store.user_ingestion import UserIngestion
from index_store.vectors.service import ServiceEmbeddings
from tests.helpers.back_doors import library_of
from tests.helpers.full_disk import full_disk
from tests.helpers.processes import parsers_of
from tests.helpers.threads import is_under_way
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.soundness import assert_sound, content, originals
from tests.index_store.team import people_of
from tests.servers import Refusal

Write = Callable[..., Path]

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")


@pytest.fixture
def store(serviced: Settings) -> Iterator[IndexStore]:
    with IndexStore(serviced) as store:
        yield store


def given(*paths: Path) -> list[FileSource]:
    return [FileSource(path) for path in paths]


def uploaded(settings: Settings, name: str, content: str | bytes) -> FileSource:
    content = content.encode() if isinstance(content, str) else content
    return keep_upload(settings.data_dir, name, io.BytesIO(content))


def packed(path: Path, **members: str) -> Path:
    """A zip file. `a_md="..."` becomes the member a.md."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)
    return path


def outcome(job: UserIngestion) -> dict[str, str]:
    """Name of each source -> its status, or the code of its error."""
    job.wait()
    assert job.failure is None
    return {Path(each.source).name: each.error.code if each.error else each.status.value for each in job.results}


def stood(store: IndexStore) -> dict[str, str]:
    return {Path(each.source).name: each.status.value for each in store.documents()}


def found(store: IndexStore, question: str, index: str = "a") -> str:
    return store.search(index, question, k=1)[0].text


def cancelled_while_it_hangs(service: EmbeddingService, start: Callable[[], UserIngestion]) -> None:
    """Starts a job, and cancels it while it waits for the vectors of its texts."""
    asked = len(service.texts)
    service.is_held, service.let_through = True, "dimension"  # what a re-index asks before its job
    job = start()
    assert eventually(lambda: [text for text in service.texts[asked:] if text != "dimension"])
    job.cancel()
    job.wait()
    service.is_held = False


def stopped_after(member: str, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Once a member of an archive with this end of its source is recorded, its job stands still until the event."""
    begin, goes_on = Versions.begin, threading.Event()

    def begun(self: Versions, index: IndexRecord, file: IncomingFile, splitting: object) -> object:
        version = begin(self, index, file, splitting)
        if file.source.endswith(member):
            assert goes_on.wait(60)
        return version

    monkeypatch.setattr(Versions, "begin", begun)
    return goes_on


# The job


@pytest.mark.both_databases
def test_a_path_that_no_database_could_hold_is_refused_and_the_rest_of_its_archive_is_added(
    store: IndexStore, tmp_path: Path
) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packing:
        packing.writestr(
            "\u6c36" * 80 + "/" + "/".join(chr(0x7000 + n) * 60 for n in range(15)) + "/deep.md", "# A\n\none"
        )
        packing.writestr("near.md", "# B\n\ntwo")
    results = {result.source.rpartition("/")[2]: result for result in store.ingest("a", given(archive)).as_completed()}
    assert (results["near.md"].status, results["deep.md"].status) == ("ready", "failed")
    assert results["deep.md"].error.code == "path_too_long"


def test_a_job_returns_at_once_and_its_documents_are_pending_until_they_are_ready(
    store: IndexStore, service: EmbeddingService, write: Write
) -> None:
    service.is_held = True
    job = store.ingest("a", given(write("a.md"), write("b.md")))
    service.wait_for_requests(1)
    assert eventually(lambda: stood(store) == {"a.md": "pending", "b.md": "pending"})
    assert not job.is_finished
    assert job.results == ()
    assert store.ingestions == (job,)
    with pytest.raises(errors.IndexNotReady):
        store.search("a", "part")
    service.is_held = False
    assert {each.source: each.status for each in job.as_completed()} == {
        each.source: IngestStatus.READY for each in given(Path("a.md"), Path("b.md"))
    }
    assert job.progress.share == 1
    assert stood(store) == {"a.md": "ready", "b.md": "ready"}


def test_progress_is_told_of_each_document_and_in_all_with_the_time_left(
    store: IndexStore, service: EmbeddingService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServiceEmbeddings, "batch", 8)  # texts per call
    service.embeds = threading.Semaphore(0)
    files = [write(f"{i}.md", sections=12) for i in range(3)]
    with library_of(store).held():  # the job can't record a document yet
        job = store.ingest("a", given(*files))
        seen = [job.progress]
    halfway = set()
    for embedded in (8, 12, 20, 24, 32):
        service.embeds.release()
        assert eventually(lambda embedded=embedded: sum(each.embedded for each in job.items) == embedded)
        seen.append(job.progress)
        halfway |= {each.source for each in job.items if each.chunks and 0 < each.embedded < each.chunks}
    service.embeds.release()
    job.wait()
    shares = [progress.share for progress in seen]
    assert shares[0] == 0
    assert all(0 <= share <= 1 for share in shares)
    assert len({share for share in shares if 0 < share < 1}) == 5
    assert (job.progress.share, job.progress.done, job.progress.total) == (1, 3, 3)
    assert job.progress.seconds_left == 0
    assert any(progress.seconds_left for progress in seen)
    assert {progress.current for progress in seen} & {each.source for each in job.items}
    assert halfway == {each.source for each in job.items}
    assert [(each.chunks, each.embedded, each.share) for each in job.items] == [(12, 12, 1)] * 3


def test_one_bad_file_stops_no_other(store: IndexStore, write: Write, serviced: Settings, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing more")
    (tmp_path / "empty.md").write_bytes(b"")
    (tmp_path / "program.exe").write_bytes(b"MZ")
    (tmp_path / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    names = ("broken.pdf", "empty.md", "missing.md", "program.exe", "picture.md")
    bad = [tmp_path / name for name in names]
    job = store.ingest("a", given(bad[0], write("a.md"), *bad[1:], tmp_path, write("b.md")))
    outcomes = outcome(job)
    assert outcomes.pop("a.md") == outcomes.pop("b.md") == "ready"
    assert outcomes == {
        "broken.pdf": "unreadable", "empty.md": "empty_document", "missing.md": "document_missing",
        "program.exe": "unknown_kind", "picture.md": "wrong_content", tmp_path.name: "not_a_file",
    }  # fmt: skip
    # A file that does not exist, or a folder, is not listed.
    assert stood(store).keys() == outcomes.keys() - {"missing.md", tmp_path.name} | {"a.md", "b.md"}
    assert all(each.error for each in store.documents() if each.status is DocumentStatus.FAILED)
    assert_sound(store, serviced.data_dir)


def test_a_job_of_which_nothing_could_be_read_has_come_to_its_end_too(store: IndexStore, tmp_path: Path) -> None:
    job = store.ingest("a", given(tmp_path / "missing.md"))
    assert outcome(job) == {"missing.md": "document_missing"}
    assert (job.progress.share, job.progress.done) == (1, 1)


def test_a_job_for_an_index_that_cannot_be_made_says_why(store: IndexStore, handbook: Path) -> None:
    job = store.ingest("a/b", given(handbook))
    assert job.wait() == ()
    assert isinstance(job.failure, errors.BadIndexName)


def test_files_of_a_folder_that_systems_keep_for_themselves_are_left_out(tmp_path: Path) -> None:
    for name in ("規程.docx", "~$規程.docx", "Thumbs.db", "desktop.ini", ".DS_Store", "__MACOSX/規程.docx"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert expand([tmp_path]) == [tmp_path / "規程.docx"]


def test_an_upload_is_moved_into_keeping(store: IndexStore, serviced: Settings) -> None:
    name = "旅費 規程①.md"
    source = uploaded(serviced, name, "# 旅費\n\n日当は1日2,500円です。")
    same = uploaded(serviced, name, "# 旅費\n\n日当は1日2,500円です。")
    assert outcome(store.ingest("a", [source])) == {name: "ready"}
    assert outcome(store.ingest("a", [same])) == {name: "unchanged"}
    assert outcome(store.ingest("a", [uploaded(serviced, "empty.md", "")])) == {"empty.md": "empty_document"}
    (document,) = [each for each in store.documents() if each.status is DocumentStatus.READY]
    original = store.original(document.id)
    assert (original.name, original.kind) == (name, "md")
    assert "2,500" in content(original).decode()
    assert_sound(store, serviced.data_dir)


# Cancelled and suspended


def test_a_cancelled_job_leaves_out_what_was_not_done(
    store: IndexStore,
    service: EmbeddingService,
    serviced: Settings,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ServiceEmbeddings, "batch", 8)
    changed = write("changed.md")
    store.add("a", changed)
    write("changed.md", words="A newer version.")
    new = [write(f"{i}.md") for i in range(20)]  # a call that is under way is finished, and takes up to 8 texts
    archive = packed(changed.parent / "b.zip", a_md="# A\n\none", b_md="# B\n\ntwo")
    service.is_held = True
    job = store.ingest("a", [*given(changed, *new, archive), uploaded(serviced, "up.md", "# Up\n\nloaded")])
    service.wait_for_requests(2)
    job.cancel()
    service.is_held = False
    job.wait()
    assert job.is_cancelled
    ready = {Path(each.source).name for each in job.results}
    assert all(each.status is IngestStatus.READY for each in job.results)
    assert len(ready) < len(new)
    assert stood(store) == dict.fromkeys(ready | {"changed.md"}, "ready")
    assert len(originals(serviced.data_dir)) == len(store.documents())
    assert_sound(store, serviced.data_dir)
    assert set(outcome(store.ingest("a", given(*new))).values()) <= {"ready", "unchanged"}


def test_a_job_that_is_cancelled_before_all_was_begun_leaves_nothing(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    file = write("a.md")
    archive = packed(file.parent / "b.zip", a_md="# A\n\none")
    service.is_held = True
    job = store.ingest("a", [FileSource(archive), *(FileSource(file, f"{i}.md") for i in range(300))])
    assert eventually(store.documents)
    job.cancel()
    service.is_held = False
    job.wait()
    assert len(job.results) < 300
    assert len(store.documents()) == len(job.results)
    assert_sound(store, serviced.data_dir)


@pytest.mark.timeout(50)  # seconds, less than MODEL_TIMEOUT: nothing waits for the service
def test_a_job_whose_service_hangs_can_be_cancelled(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held = True
    job = store.ingest("a", given(write("a.md")))
    service.wait_for_requests(1)
    job.cancel()
    job.wait()
    assert store.documents() == []
    assert_sound(store, serviced.data_dir)


@pytest.mark.timeout(50)  # seconds, less than MODEL_TIMEOUT: nothing waits for the service
@pytest.mark.no_queue
@pytest.mark.usefixtures("impatient")
def test_closing_leaves_what_is_not_done_pending_and_the_next_start_finishes_it_without_asking(
    service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    changed = write("changed.md", words="The old version.")
    archive = packed(changed.parent / "b.zip", a_md="# A\n\none", c_md="# C\n\ntwo")
    with IndexStore(serviced) as store:
        store.add("a", changed)
        write("changed.md", words="The new version.")
        service.is_held = True
        job = store.ingest(
            "a", [*given(changed, write("new.md"), archive), uploaded(serviced, "up.md", "# Up\n\nloaded")]
        )
        service.wait_for_requests(2)
    assert job.is_finished
    service.is_held = False
    with IndexStore(serviced) as store:
        statuses = stood(store)
        # The archive, or its members if it had been unpacked.
        assert {statuses.pop(name, "pending") for name in ("b.zip", "a.md", "c.md")} == {"pending"}
        assert statuses == {"changed.md": "ready", "new.md": "pending", "up.md": "pending"}
        assert "old version" in found(store, "what changed.md says in part 0")
        assert store.check() == []
        (job,) = store.resume()
        assert outcome(job) == dict.fromkeys(("changed.md", "new.md", "a.md", "c.md", "up.md"), "ready")
        assert "new version" in found(store, "what changed.md says in part 0")
        assert stood(store).keys() == {"changed.md", "new.md", "a.md", "c.md", "up.md"}
        assert_sound(store, serviced.data_dir)
        assert store.resume() == []


@pytest.mark.no_queue
def test_members_of_an_archive_that_was_half_unpacked_are_added_once_at_the_next_start(
    serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = {f"m{i}.md": f"# Member {i}\n\nIt is the member {i}." for i in range(10)}
    archive = packed(write("other.md").parent / "big.zip", **members)
    with IndexStore(serviced) as store:
        goes_on = stopped_after("/m4.md", monkeypatch)
        store.ingest("a", given(archive))
        assert eventually(lambda: "m4.md" in stood(store))
        store._parts.jobs.suspend()  # as closing the store does first
        goes_on.set()
    with IndexStore(serviced) as store:
        assert stood(store).get("big.zip") == "pending"  # some members were not unpacked yet
        (job,) = store.resume()
        job.wait()
        done = {name for name, status in stood(store).items() if status == "ready"}
        assert done == members.keys()
        assert sorted(Path(each.source).name for each in job.results).count("m0.md") == 1
        assert len(job.results) == len({each.source for each in job.results})
        assert_sound(store, serviced.data_dir)


def test_no_upload_is_lost_when_the_store_is_closed_as_soon_as_it_is_given(serviced: Settings) -> None:
    names = [f"{i}.txt" for i in range(12)]
    with IndexStore(serviced) as store:
        store.ingest("a", [uploaded(serviced, name, f"This is {name}.") for name in names])
    with IndexStore(serviced) as store:
        for job in store.resume():
            job.wait()
        assert stood(store) == dict.fromkeys(names, "ready")
        assert_sound(store, serviced.data_dir)


@pytest.mark.usefixtures("impatient")
def test_what_was_cancelled_stays_so_when_the_store_is_closed_upon_it(
    service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held = True
    with IndexStore(serviced) as store:
        job = store.ingest("a", given(*(write(f"{i}.md") for i in range(5))))
        service.wait_for_requests(1)
        job.cancel()
    with IndexStore(serviced) as store:
        assert store.documents() == []
        assert_sound(store, serviced.data_dir)


# Retries


def test_a_retry_takes_what_failed_alone(store: IndexStore, service: EmbeddingService, write: Write) -> None:
    good, bad, other = write("good.md"), write("bad.md"), write("other.md")
    assert outcome(store.ingest("a", given(good))) == {"good.md": "ready"}
    service.fails(Refusal(500))
    assert outcome(store.ingest("a", given(bad, other))) == {"bad.md": "service_failed", "other.md": "service_failed"}
    service.recovers()
    before = len(service.texts)
    # The store still has the originals.
    bad.unlink()
    (failed,) = [each for each in store.documents() if each.source == str(bad)]
    assert failed.error
    assert outcome(store.retry("a", [failed.id])) == {"bad.md": "ready"}
    assert outcome(store.retry("a")) == {"other.md": "ready"}
    assert not [text for text in service.texts[before:] if "good.md" in text]
    assert outcome(store.retry("a")) == {}


def test_a_retry_reads_a_file_anew_when_its_original_is_gone(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.fails(Refusal(500))
    store.ingest("a", [*given(write("file.md")), uploaded(serviced, "upload.md", "# Up\n\nloaded")]).wait()
    service.recovers()
    for original in originals(serviced.data_dir):
        original.unlink()
    job = store.retry("a")
    assert outcome(job) == {"file.md": "ready", "upload.md": "original_missing"}
    (missing,) = [each for each in store.documents() if each.source == "upload.md"]
    assert missing.error
    assert missing.error.code == "original_missing"


@pytest.mark.usefixtures("impatient")
def test_a_pending_document_whose_original_is_gone_does_not_stay_pending(
    service: EmbeddingService, serviced: Settings
) -> None:
    service.is_held = True
    with IndexStore(serviced) as store:
        store.ingest("a", [uploaded(serviced, "upload.md", "# Up\n\nloaded")])
        service.wait_for_requests(1)
    for original in originals(serviced.data_dir):
        original.unlink()
    with IndexStore(serviced) as store:
        (job,) = store.resume()
        assert outcome(job) == {"upload.md": "original_missing"}
        assert stood(store) == {"upload.md": "failed"}


def test_a_newer_file_that_was_refused_is_tried_again_itself_not_the_version_that_is_kept(
    store: IndexStore, write: Write
) -> None:
    file = write("a.md", words="The old version.")
    store.add("a", file)
    file.write_bytes(b"")
    assert outcome(store.retry("a", [store.documents()[0].id])) == {"a.md": "ready"}
    assert outcome(store.ingest("a", given(file))) == {"a.md": "empty_document"}
    assert outcome(store.retry("a")) == {"a.md": "empty_document"}
    assert "old version" in found(store, "what a.md says")
    write("a.md", words="The new version.")
    assert outcome(store.retry("a")) == {"a.md": "ready"}
    assert "new version" in found(store, "what a.md says")


@pytest.mark.parametrize("again", [IndexStore.retry, IndexStore.reindex])
def test_an_upload_that_can_not_be_read_keeps_its_reason_when_it_is_tried_again(
    store: IndexStore, serviced: Settings, again: Callable[[IndexStore, str], UserIngestion]
) -> None:
    store.ingest("a", [uploaded(serviced, "plan.jww", "abc")]).wait()
    assert outcome(again(store, "a")) == {"plan.jww": "unknown_kind"}
    (document,) = store.documents()
    assert document.error
    assert document.error.code == "unknown_kind"


@pytest.mark.timeout(50)  # seconds, less than MODEL_TIMEOUT: nothing waits for the service
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("again", [IndexStore.retry, IndexStore.reindex])
def test_a_newer_version_that_failed_is_kept_when_another_try_at_it_is_cancelled(
    store: IndexStore,
    service: EmbeddingService,
    serviced: Settings,
    again: Callable[[IndexStore, str], UserIngestion],
) -> None:
    store.ingest("a", [uploaded(serviced, "travel.md", "# Travel\n\nThe old allowance.")]).wait()
    service.fails(Refusal(500))
    newer = uploaded(serviced, "travel.md", "# Travel\n\nThe new allowance.")
    assert outcome(store.ingest("a", [newer])) == {"travel.md": "service_failed"}
    service.recovers()
    for _ in range(2):
        cancelled_while_it_hangs(service, lambda: again(store, "a"))
        (document,) = store.documents()
        assert document.status is DocumentStatus.READY
        assert document.error
        assert document.error.code == "cancelled"
    assert "old allowance" in found(store, "the allowance")
    assert outcome(store.retry("a")) == {"travel.md": "ready"}
    assert "new allowance" in found(store, "the allowance")
    assert_sound(store, serviced.data_dir)


@pytest.mark.timeout(50)  # seconds, less than MODEL_TIMEOUT: nothing waits for the service
@pytest.mark.usefixtures("impatient")
def test_a_newer_file_that_was_refused_is_still_told_of_when_a_reindex_is_cancelled(
    store: IndexStore, service: EmbeddingService, serviced: Settings
) -> None:
    store.ingest("a", [uploaded(serviced, "travel.md", "# Travel\n\nThe old allowance.")]).wait()
    assert outcome(store.ingest("a", [uploaded(serviced, "travel.md", "")])) == {"travel.md": "empty_document"}
    cancelled_while_it_hangs(service, lambda: store.reindex("a"))
    (document,) = store.documents()
    assert document.status is DocumentStatus.READY
    assert document.error
    assert document.error.code == "empty_document"
    assert_sound(store, serviced.data_dir)


@pytest.mark.timeout(50)  # seconds, less than MODEL_TIMEOUT: nothing waits for the service
@pytest.mark.usefixtures("impatient")
def test_a_document_without_a_newer_version_is_as_before_when_tries_to_reindex_it_fail_or_are_cancelled(
    store: IndexStore, service: EmbeddingService, serviced: Settings
) -> None:
    store.ingest("a", [uploaded(serviced, "travel.md", "# Travel\n\nThe allowance.")]).wait()
    service.refused = "allowance"
    assert outcome(store.reindex("a")) != {"travel.md": "ready"}
    service.refused = None
    cancelled_while_it_hangs(service, lambda: store.reindex("a"))
    (document,) = store.documents()
    assert (document.status, document.error) == (DocumentStatus.READY, None)
    assert len(originals(serviced.data_dir)) == 1
    assert_sound(store, serviced.data_dir)


def test_a_file_whose_name_is_decomposed_as_on_a_mac_is_found_by_a_retry(store: IndexStore, write: Write) -> None:
    name = unicodedata.normalize("NFD", "ガイド/ブック.md")
    file = write(name)
    file.write_bytes(b"")
    (refused,) = store.ingest("a", given(file)).wait()
    assert refused.source != str(file)
    write(name)
    (retried,) = store.retry("a").wait()
    assert (retried.source, retried.status) == (refused.source, IngestStatus.READY)


# Archives


def test_the_members_of_an_archive_are_documents_and_follow_it(
    store: IndexStore, serviced: Settings, tmp_path: Path
) -> None:
    texts = {"a_md": "# A\n\nabout apples", "b_txt": "about pears", "c_exe": "MZ"}
    archive = packed(tmp_path / "all.zip", **texts)
    assert outcome(store.ingest("a", given(archive))) == {"a.md": "ready", "b.txt": "ready", "c.exe": "unknown_kind"}
    assert {each.parent for each in store.documents()} == {str(archive)}
    assert {each.source for each in store.documents()} == {f"{archive}/{name}" for name in ("a.md", "b.txt", "c.exe")}

    again = store.ingest("a", given(archive))
    assert outcome(again) == {"a.md": "unchanged", "b.txt": "unchanged", "c.exe": "unknown_kind"}

    packed(archive, a_md="# A\n\nabout plums")
    assert outcome(store.ingest("a", given(archive))) == {"a.md": "ready", "b.txt": "removed", "c.exe": "removed"}
    assert stood(store) == {"a.md": "ready"}
    assert found(store, "fruit") == "about plums"
    assert_sound(store, serviced.data_dir)

    assert len(store.remove("a", str(archive))) == 1
    assert originals(serviced.data_dir) == []


@pytest.mark.soak
def test_an_archive_that_cannot_be_read_is_a_document_that_failed_and_its_former_members_stay(
    store: IndexStore, serviced: Settings, tmp_path: Path
) -> None:
    archive = packed(tmp_path / "all.zip", a_md="# A\n\nabout apples")
    store.ingest("a", given(archive)).wait()
    archive.write_bytes(archive.read_bytes()[:40])
    (code,) = outcome(store.ingest("a", given(archive))).values()
    assert code == "unreadable"
    assert stood(store) == {"all.zip": "failed", "a.md": "ready"}
    assert_sound(store, serviced.data_dir)
    packed(archive, a_md="# A\n\nabout plums")
    assert outcome(store.ingest("a", given(archive))) == {"a.md": "ready"}
    assert stood(store) == {"a.md": "ready"}


def test_a_cancelled_archive_leaves_the_members_that_were_done_and_nothing_else(
    store: IndexStore,
    service: EmbeddingService,
    serviced: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    members = {f"m{i}_md": f"# M\n\nabout the number {i}" for i in range(8)}
    archives = [packed(tmp_path / name, **members) for name in ("first.zip", "second.zip")]
    service.is_held = True
    goes_on = stopped_after("first.zip/m3.md", monkeypatch)
    job = store.ingest("a", given(*archives))
    service.wait_for_requests(1)
    job.cancel()
    goes_on.set()
    service.is_held = False
    job.wait()
    assert {each.source for each in store.documents()} == {each.source for each in job.results}
    assert all(Path(each.source).suffix == ".md" for each in store.documents())
    assert_sound(store, serviced.data_dir)


# Several jobs at the same time


@pytest.mark.soak
def test_two_jobs_add_to_one_index_side_by_side(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.delay = 0.02
    jobs = [store.ingest("a", given(*(write(f"{job}{i}.md") for i in range(4)))) for job in "xy"]
    assert [set(outcome(job).values()) for job in jobs] == [{"ready"}, {"ready"}]
    assert [(index.name, index.documents, index.chunks) for index in store.indexes()] == [("a", 8, 8)]
    assert_sound(store, serviced.data_dir)


def test_of_a_document_given_to_two_jobs_the_later_version_stays(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held = True
    first = store.ingest("a", given(write("a.md", words="The first version.")))
    service.wait_for_requests(1)
    second = store.ingest("a", given(write("a.md", words="The second version.")))
    assert eventually(lambda: second.items and second.items[0].chunks)
    service.is_held = False
    assert outcome(first) == {"a.md": "superseded"}
    assert outcome(second) == {"a.md": "ready"}
    assert [each.text for each in store.search("a", "part", k=5)] == [found(store, "part")]
    assert "second version" in found(store, "part")
    assert_sound(store, serviced.data_dir)


def test_a_document_given_twice_to_one_job_is_told_of_once(
    store: IndexStore, serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it is ready before the job comes to what was given after it."""
    admit = SourceAdmission.admit_source

    def when_all_before_are_ready(*its: Any) -> PendingVersion | None:
        assert eventually(lambda: set(stood(store).values()) <= {"ready"})
        return admit(*its)

    monkeypatch.setattr(SourceAdmission, "admit_source", when_all_before_are_ready)
    twice = [uploaded(serviced, "up.md", "# Up\n\nThe same file.") for _ in range(2)]
    file = write("a.md")
    job = store.ingest("a", [*given(file, file), *twice, *given(write("b.md"))])
    assert outcome(job) == {"a.md": "ready", "up.md": "ready", "b.md": "ready"}
    assert [Path(each.source).name for each in job.results] == ["a.md", "up.md", "b.md"]
    assert len(store.documents()) == 3
    assert_sound(store, serviced.data_dir)


def test_of_two_files_with_one_name_the_last_is_added_and_the_other_is_told_of(
    store: IndexStore, serviced: Settings
) -> None:
    texts = ("# Budget\n\nof the sales team", "# Budget\n\nof the warehouse")
    job = store.ingest("a", [uploaded(serviced, "budget.md", text) for text in texts])
    job.wait()
    told = [(each.source, each.error.code if each.error else each.status.value) for each in job.results]
    assert told == [("budget.md", "same_name"), ("budget.md", "ready")]
    assert "warehouse" in found(store, "budget")
    assert stood(store) == {"budget.md": "ready"}
    assert_sound(store, serviced.data_dir)


def test_an_archive_given_twice_to_one_job_is_told_of_once(
    store: IndexStore, serviced: Settings, tmp_path: Path
) -> None:
    archive = packed(tmp_path / "all.zip", a_md="# A\n\nabout apples")
    job = store.ingest("a", given(archive, archive))
    assert outcome(job) == {"a.md": "ready"}
    assert len(job.results) == 1
    assert stood(store) == {"a.md": "ready"}
    assert_sound(store, serviced.data_dir)


def test_a_document_that_is_removed_while_it_is_added_is_gone(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    file = write("a.md")
    service.is_held = True
    job = store.ingest("a", given(file, write("b.md")))
    service.wait_for_requests(1)
    assert [each.source for each in store.remove("a", str(file))] == [str(file)]
    service.is_held = False
    assert outcome(job) == {"a.md": "superseded", "b.md": "ready"}
    assert stood(store) == {"b.md": "ready"}
    assert_sound(store, serviced.data_dir)


def test_an_index_that_is_deleted_takes_the_jobs_into_it_along(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held = True
    job = store.ingest("a", given(*(write(f"{i}.md") for i in range(5))))
    other = store.ingest("b", given(write("other.md")))
    service.wait_for_requests(2)
    deleting = threading.Thread(target=store.delete_index, args=("a",))
    deleting.start()
    assert eventually(lambda: job.is_cancelled)
    service.is_held = False
    deleting.join()
    assert job.is_finished
    assert outcome(other) == {"other.md": "ready"}
    assert [index.name for index in store.indexes()] == ["b"]
    assert len(originals(serviced.data_dir)) == 1
    assert_sound(store, serviced.data_dir)


def test_a_job_follows_its_index_to_another_name(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held = True
    job = store.ingest("a", given(write("0.md"), write("1.md")))
    service.wait_for_requests(1)
    store.rename_index("a", "規程")
    service.is_held = False
    assert outcome(job) == {"0.md": "ready", "1.md": "ready"}
    assert job.index == "規程"
    assert [(index.name, index.documents) for index in store.indexes()] == [("規程", 2)]
    assert_sound(store, serviced.data_dir)


def test_a_job_that_was_dismissed_goes_on_unseen(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held = True
    job = store.ingest("a", given(write("0.md")))
    service.wait_for_requests(1)
    store.dismiss(job)
    assert store.ingestions == ()
    service.is_held = False
    assert outcome(job) == {"0.md": "ready"}


# Faults of the service, the parser and the disk


@pytest.mark.parametrize("chunks", [1, 12])  # fewer and more than a call takes
def test_a_text_that_the_service_refuses_costs_its_document_alone(
    store: IndexStore,
    service: EmbeddingService,
    serviced: Settings,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    chunks: int,
) -> None:
    monkeypatch.setattr(ServiceEmbeddings, "batch", 8)
    service.refused = "unspeakable"
    files = [write(f"{i}.md", sections=chunks, words="unspeakable" if i == 1 else "") for i in range(4)]
    service.is_held = True
    job = store.ingest("a", given(*files))
    # While the first is embedded, the others wait. They are then embedded together.
    assert eventually(lambda: [bool(item.chunks) for item in job.items] == [True] * 4)
    service.is_held = False
    assert outcome(job) == {
        "0.md": "ready", "1.md": "request_refused", "2.md": "ready", "3.md": "ready"
    }  # fmt: skip
    assert_sound(store, serviced.data_dir)


@pytest.mark.parametrize("status", [HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus(422)])
def test_a_service_that_takes_few_texts_at_once_is_asked_with_fewer(
    store: IndexStore, service: EmbeddingService, write: Write, status: HTTPStatus
) -> None:
    service.most, service.too_many = 10, status
    assert outcome(store.ingest("a", given(write("long.md", sections=40)))) == {"long.md": "ready"}
    before = len(service.calls)
    assert outcome(store.ingest("a", given(write("next.md", sections=40)))) == {"next.md": "ready"}
    assert max(map(len, service.calls[before:])) <= 10
    assert "part 39" in found(store, "next.md part 39")


def test_a_refused_text_does_not_make_the_calls_of_other_documents_smaller(
    store: IndexStore, service: EmbeddingService, write: Write
) -> None:
    service.refused = "what b.md says in part 50"
    assert outcome(store.ingest("a", given(write("b.md", sections=64)))) == {"b.md": "request_refused"}
    store.add("a", write("a.md", sections=64))
    assert len(service.calls[-1]) == 64


def test_a_service_that_fails_for_a_while_costs_what_it_was_asked_meanwhile(
    store: IndexStore,
    service: EmbeddingService,
    serviced: Settings,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ServiceEmbeddings, "batch", 8)
    service.fails(Refusal(503), times=1)
    outcomes = outcome(store.ingest("a", given(*(write(f"{i}.md", sections=9) for i in range(4)))))
    assert sorted(set(outcomes.values())) == ["ready", "service_failed"]
    assert_sound(store, serviced.data_dir)
    assert set(outcome(store.retry("a")).values()) == {"ready"}
    assert store.indexes()[0].chunks == 36


def test_vectors_of_another_length_than_the_index_has_are_refused_with_what_to_do(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    store.add("a", write("ready.md"))
    service.dimensions = 100
    job = store.ingest("a", given(write("new.md")))
    assert outcome(job) == {"new.md": "embedding_model_mismatch"}
    assert job.results[0].error
    assert "model-a (256)" in job.results[0].error.en
    assert "model-a (100)" in job.results[0].error.en
    assert_sound(store, serviced.data_dir)


def test_vectors_that_change_their_length_within_a_document_are_refused(
    store: IndexStore, service: EmbeddingService, serviced: Settings, write: Write
) -> None:
    service.is_held, service.passes = True, 1
    job = store.ingest("a", given(write("new.md", sections=100)))
    service.wait_for_requests(2)
    service.dimensions = 100
    service.is_held = False
    assert outcome(job) == {"new.md": "embedding_model_mismatch"}
    assert_sound(store, serviced.data_dir)


@linux
@pytest.mark.usefixtures("own_parsers")
@pytest.mark.parametrize(
    ("is_killed", "code"),
    [
        # A hang is also in tests/index_store/parsing/worker/test_parser.py, without a store.
        pytest.param(False, "parser_timed_out", marks=pytest.mark.soak),
        (True, "parser_failed"),
    ],
)
def test_a_parser_that_hangs_or_is_killed_costs_one_file(
    serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch, is_killed: bool, code: str
) -> None:
    request = Parser._request
    limits = iter(() if is_killed else (1.0,))  # not for the other files: a new process may take longer to start

    def in_time(parser: Parser, *its: Any, **details: Any) -> ParserRequest:
        asked = request(parser, *its, **details)
        return replace(asked, seconds=next(limits, asked.seconds))

    with IndexStore(serviced.model_copy(update={"parser_workers": 1})) as store:
        store.add("a", write("first.md"))
        (worker,) = parsers_of(os.getpid())
        os.kill(worker, signal.SIGSTOP)
        monkeypatch.setattr(Parser, "_request", in_time)
        job = store.ingest("a", given(*(write(f"{i}.md") for i in range(3))))
        if is_killed:
            # Wait until the parser waits for this process: if it died earlier, it would be replaced.
            assert eventually(lambda: any(thread.name == "parser-watch" for thread in threading.enumerate()))
            os.kill(worker, signal.SIGKILL)
        assert sorted(outcome(job).values()) == [code, "ready", "ready"]
        assert set(outcome(store.retry("a")).values()) == {"ready"}
        assert_sound(store, serviced.data_dir)


@pytest.mark.soak
@linux
@pytest.mark.usefixtures("own_parsers")
def test_a_version_that_was_replaced_before_it_was_read_is_told_so(serviced: Settings, write: Write) -> None:
    with IndexStore(serviced.model_copy(update={"parser_workers": 1})) as store:
        store.add("a", write("first.md"))
        (worker,) = parsers_of(os.getpid())
        os.kill(worker, signal.SIGSTOP)
        older = store.ingest("a", given(write("other.md"), write("a.md", words="The older version.")))
        assert eventually(lambda: is_kept(serviced, "older"))
        newer = store.ingest("a", given(write("a.md", words="The newer version.")))
        assert eventually(lambda: not is_kept(serviced, "older"))
        os.kill(worker, signal.SIGCONT)
        assert outcome(older) == {"other.md": "ready", "a.md": "superseded"}
        assert outcome(newer) == {"a.md": "ready"}
        assert_sound(store, serviced.data_dir)


def is_kept(settings: Settings, words: str) -> bool:
    """Whether an original has these words."""
    for path in originals(settings.data_dir):
        with suppress(FileNotFoundError):  # deleted in the meantime
            if words in path.read_text():
                return True
    return False


FULL = 4_000_000
"""largest size of a file, in bytes, in the test below"""


@linux
def test_a_file_that_does_not_fit_on_the_disk_fails_in_one_sentence_and_the_others_are_added(
    serviced: Settings, write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.write(b"x" * FULL * 2)
    with IndexStore(serviced.model_copy(update={"parser_workers": 1})) as store:
        store.add("a", write("first.md"))  # starts the parser, so that its process is not limited
        with full_disk(FULL):
            job = store.ingest("a", given(write("a.md"), tmp_path / "large.txt", write("b.md")))
            outcomes = outcome(job)
        assert outcomes == {"a.md": "ready", "large.txt": "store_failed", "b.md": "ready"}
        (error,) = [each.error for each in job.results if each.error]
        assert "large.txt could not be saved; the disk may be full." in error.en
        assert not [record for record in caplog.records if record.exc_info]
        assert_sound(store, serviced.data_dir)


def test_a_job_and_an_upload_end_in_a_sentence_in_a_folder_that_became_read_only(
    store: IndexStore, serviced: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = uploaded(serviced, "a.md", "# A\n\nhere")

    def refused(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")  # Linux says so also of a file that is not there

    with monkeypatch.context() as read_only:
        for of, change in ((Folder, "stage"), (Path, "unlink"), (shutil, "copyfileobj")):
            read_only.setattr(of, change, refused)
        job = store.ingest("a", [upload])
        assert eventually(lambda: job.is_finished)
        assert outcome(job) == {"a.md": "store_failed"}
        with pytest.raises(errors.StoreFailed):
            uploaded(serviced, "b.md", "# B")
    assert outcome(store.ingest("a", [upload])) == {"a.md": "ready"}
    assert not upload.path.exists()


@pytest.mark.parametrize("lacks", ["ingestion into a", "ingestion into a: whether it may"])
def test_a_job_for_which_the_machine_has_no_thread_ends_and_its_index_can_be_deleted(
    serviced: Settings, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    start = threading.Thread.start

    def started(thread: threading.Thread) -> None:
        if thread.name in (lacks, "progress"):
            raise RuntimeError("can't start new thread")
        start(thread)

    with people_of(serviced) as people:
        hana = people("hana")
        hana.create_index("a")
        upload = uploaded(serviced, "a.md", "# A")
        with monkeypatch.context() as few:
            few.setattr(threading.Thread, "start", started)
            job = hana.ingest("a", [upload])
        assert list(job.as_completed()) == []
        assert job.is_finished
        assert job.failure
        assert not upload.path.exists()
        hana.delete_index("a")


def test_a_document_whose_vectors_do_not_fit_into_memory_fails_and_leaves_no_file(
    store: IndexStore, serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = DocumentTask.embedded

    def as_if_large(task: DocumentTask) -> EmbeddedVersion:
        if task.version.name == "large.md":
            raise MemoryError("no room for its vectors")
        return embedded(task)

    monkeypatch.setattr(DocumentTask, "embedded", as_if_large)
    assert outcome(store.ingest("a", given(write("large.md")))) == {"large.md": "index_store_error"}
    assert outcome(store.ingest("a", given(write("a.md")))) == {"a.md": "ready"}
    assert_sound(store, serviced.data_dir)


def test_what_was_read_of_a_document_and_cannot_be_deleted_costs_no_other_document(
    store: IndexStore, service: EmbeddingService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink

    def failing(path: Path, *, missing_ok: bool = False) -> None:
        unlink(path, missing_ok=missing_ok)
        if path.parent.name == "parsing":
            raise OSError(errno.EIO, "Input/output error")

    service.refused = "broken"
    monkeypatch.setattr(Path, "unlink", failing)
    job = store.ingest("a", given(write("a.md", words="broken"), write("b.md")))
    assert outcome(job) == {"a.md": "request_refused", "b.md": "ready"}


# While questions are asked


def test_a_job_gives_way_to_questions_that_this_machine_answers(
    store: IndexStore, service: EmbeddingService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "GIVE_WAY_SECONDS", 60)
    with store.answering(), store.answering():
        job = store.ingest("a", given(write("a.md")))
        assert eventually(lambda: job.items and job.items[0].stage is Stage.EMBEDDING)
        assert eventually(lambda: is_under_way(Precedence.give_way))
        assert not service.texts
    assert outcome(job) == {"a.md": "ready"}


def test_a_job_ends_even_if_questions_never_stop(
    store: IndexStore, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "GIVE_WAY_SECONDS", 0.01)
    with store.answering():
        assert outcome(store.ingest("a", given(write("a.md")))) == {"a.md": "ready"}


@linux
def test_files_are_read_by_processes_that_let_others_go_first(
    store: IndexStore, service: EmbeddingService, write: Write
) -> None:
    store.ingest("a", given(write("a.md"))).wait()
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    readers = parsers_of(os.getpid())
    assert readers
    assert {os.getpriority(os.PRIO_PROCESS, each) for each in readers} == {min(mine + NICENESS, 19)}
