"""Originals in S3, with a local server: each fault is reported as one sentence, and nothing is lost."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from botocore import loaders
from botocore.retries.standard import ExponentialBackoff
from pydantic import SecretStr

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import DocumentStatus
from index_store.ingestion import retry
from index_store.ingestion.sources import FileSource
from index_store.library.originals import s3 as s3_module
from index_store.library.originals.folder import MARK
from index_store.store.index_store import IndexStore
from index_store.transfer.backup.backup import back_up
from index_store.transfer.backup.errors import CatalogueNotInFolder, OriginalsNotInFolder, VectorsNotInFolder
from tests.helpers.back_doors import library_of
from tests.helpers.full_disk import full_disk, linux, too_many_open_files
from tests.helpers.waiting import eventually
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.soundness import assert_sound, content
from tests.servers.s3 import KEY, SECRET, Between, S3Server

Write = Callable[..., Path]


@pytest.fixture
def bucket(s3: S3Server) -> str:
    return s3.new_bucket()


@pytest.fixture
def between(s3: S3Server) -> Iterator[Between]:
    with Between(s3.port) as between:
        yield between


@pytest.fixture
def stored(serviced: Settings, bucket: str, between: Between) -> Settings:
    """Settings with the keys in Amazon's variables, and everything else in the address."""
    return at(serviced, f"s3://{bucket}/some/prefix?endpoint_url={between.url}")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A file that is too large for one request. It can be stored, but it is no real Word file."""
    file = tmp_path / "large.docx"
    file.write_bytes(b"".join(b"line %07d of a large file\n" % number for number in range(120_000)))
    return file


def at(settings: Settings, url: str) -> Settings:
    return settings.model_copy(
        update={
            "originals_url": SecretStr(url),
            "aws_access_key_id": SecretStr(KEY),
            "aws_secret_access_key": SecretStr(SECRET),
        }
    )


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter waiting times than in real use, to save time."""
    monkeypatch.setattr(retry, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(s3_module, "CHECK_SECONDS", 0.1)
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0.05)


def test_a_file_in_s3_is_read_from_anywhere_in_it(stored: Settings, large: Path) -> None:
    lines = large.read_bytes()
    with IndexStore(stored) as store:
        original = store.original(store.add("a", large).document_id or "")
        assert original.size == len(lines)
        assert content(original) == lines
        with original.open() as stream:
            stream.seek(2_000_000)
            assert stream.read(20) == lines[2_000_000:2_000_020]
            stream.seek(-5, os.SEEK_END)
            assert stream.read(20) == lines[-5:]


def test_nothing_is_left_but_the_originals_and_whose_they_are(
    stored: Settings, s3: S3Server, bucket: str, write: Write, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(write("b.md"), "b.md")
    with IndexStore(stored) as store:
        store.add("a", write("a.md"))
        store.add("a", write("a.md", words="new"))
        store.ingest("a", [FileSource(tmp_path / "all.zip")]).wait()
        assert [each.status.value for each in store.reindex("a").wait()] == ["ready"] * 2
        ids = [each.id for each in store.documents()]
        names = [name.removeprefix("some/prefix/") for name in s3.names(bucket)]
        assert sorted(name.partition("-")[0] for name in names) == sorted([MARK, *(f"{id_[:2]}/{id_}" for id_ in ids)])
        store.delete_index("a")
        assert [name.removeprefix("some/prefix/") for name in s3.names(bucket)] == [MARK]
    assert list((stored.data_dir / "originals").iterdir()) == []


def test_keys_that_are_refused_are_told_of_and_appear_nowhere(
    stored: Settings, s3: S3Server, write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "index_store")
    with IndexStore(stored) as store:
        assert store.add("a", write("a.md")).error is None
        with s3.knowing_no_key():
            refused = store.add("a", write("b.md"))
            assert refused.error
            assert refused.error.code == "originals_refused"
            with pytest.raises(errors.OriginalsRefused):
                store.original(store.documents()[0].id)
            assert isinstance(store.trouble, errors.OriginalsRefused)
        assert eventually(lambda: store.trouble is None)
        assert store.add("a", write("b.md")).error is None
        assert_sound(store, stored.data_dir)
    with s3.knowing_no_key(), IndexStore(stored) as store:  # it starts anyway
        assert eventually(lambda: isinstance(store.trouble, errors.OriginalsRefused))
    said = f"{caplog.text}{refused}{stored!r}"
    assert KEY not in said
    assert SECRET not in said


def test_a_bucket_that_is_not_there_is_named(stored: Settings, serviced: Settings, s3: S3Server, write: Write) -> None:
    nowhere = at(serviced, f"s3://no-such-bucket?endpoint_url={s3.url}")
    with IndexStore(nowhere) as store:
        added = store.add("a", write("a.md"))
        assert added.error
        assert added.error.code == "bucket_missing"
        assert "no-such-bucket" in added.error.en


def test_an_app_starts_while_s3_is_away_and_goes_on_when_it_is_back(
    stored: Settings, s3: S3Server, bucket: str, between: Between, write: Write
) -> None:
    with IndexStore(stored) as store:
        [one, two, three] = [store.add("a", write(f"{name}.md")).document_id or "" for name in ("a", "b", "c")]
    between.is_gone = True
    with IndexStore(stored) as store:
        assert isinstance(store.trouble, errors.OriginalsAway)
        assert store.search("a", "What does a.md say in part 0?", k=1)[0].document_id == one
        with pytest.raises(errors.OriginalsAway):
            store.original(one)
        added = store.add("a", write("d.md"))
        assert added.error
        assert added.error.code == "originals_away"
        store.remove_documents([two])
        assert {each.id for each in store.documents()} == {one, three}
        assert any(two in name for name in s3.names(bucket))
        between.is_gone = False
        assert eventually(lambda: store.trouble is None)
        assert eventually(lambda: not any(two in name for name in s3.names(bucket)))  # its removal is finished
        assert store.add("a", write("d.md")).error is None
        assert_sound(store, stored.data_dir)


@pytest.mark.soak  # away for other calls: above
def test_a_document_whose_original_can_not_be_fetched_fails_and_is_tried_again(
    stored: Settings, between: Between, service: EmbeddingService, write: Write
) -> None:
    file = write("a.md")

    def goes(piece: bytes) -> None:
        """Closes the port when the file is fetched for parsing."""
        between.is_gone = piece.startswith(b"GET") and b"staging" not in piece and MARK.encode() not in piece

    with IndexStore(stored) as store:
        between.before = goes
        failed = store.add("a", file)
        assert failed.error
        assert failed.error.code == "originals_away"
        between.before, between.is_gone = lambda _: None, False
        file.unlink()
        assert eventually(lambda: store.trouble is None)
        assert [each.status.value for each in store.retry("a").wait()] == ["ready"]
        assert_sound(store, stored.data_dir)


@pytest.mark.soak
def test_a_service_that_is_slow_is_waited_for_and_one_that_says_nothing_is_not(
    stored: Settings, between: Between, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexStore(stored) as store:
        between.delay = 0.2
        assert store.add("a", write("a.md")).error is None
        between.delay = 0.0
        with monkeypatch.context() as impatient:  # only here: a call that is answered may take longer
            impatient.setattr(s3_module, "CALL", 1.0)
            impatient.setattr(s3_module, "TRANSFER", 1.0)
            between.is_silent = True
            silent = store.add("a", write("b.md"))
            assert silent.error
            assert silent.error.code == "originals_away"
            between.is_silent = False
        assert eventually(lambda: store.trouble is None)
        assert store.add("a", write("b.md")).error is None


@pytest.mark.soak
@linux
def test_a_full_disk_where_an_original_is_fetched_to_is_told(
    stored: Settings, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexStore(stored) as store:
        assert store.add("a", large).error
        fetched = library_of(store).originals.local

        def with_a_full_disk(*version: Any) -> ExitStack:
            with full_disk():
                held = ExitStack()
                held.enter_context(fetched(*version))
                return held

        monkeypatch.setattr(library_of(store).originals, "local", with_a_full_disk)
        [failed] = store.retry("a").wait()
        assert failed.error
        assert failed.error.code == "store_failed"
        assert store.trouble is None  # the local disk is full, not the service


class Returning(s3_module.S3):
    """Its watcher sees the service return as soon as somebody has seen that it is away."""

    @property
    def trouble(self) -> errors.PlainError | None:
        seen, self._seen = self._seen, None
        return seen

    @trouble.setter
    def trouble(self, error: errors.PlainError | None) -> None:
        self._seen = error


def test_a_service_that_returns_while_a_call_is_refused_is_still_told_to_be_away(
    s3: S3Server, bucket: str, tmp_path: Path
) -> None:
    place = s3_module.Bucket(bucket, "some/prefix", endpoint_url=s3.url, key=KEY, secret=SECRET)
    backend = Returning(place, tmp_path, is_alone=True)
    backend.begin()
    with closing(backend):
        backend.watch(lambda: None)
        backend.trouble = errors.OriginalsAway(host="127.0.0.1")
        with pytest.raises(errors.OriginalsAway):
            backend.owner()


@pytest.mark.soak
@linux
def test_s3_is_used_again_after_this_machine_had_too_many_open_files_for_a_while(
    s3: S3Server, bucket: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The fixture `s3` shares one loader. Here, a new client opens botocore's files, as in the app.
    monkeypatch.setattr("botocore.session.create_loader", loaders.create_loader)
    place = s3_module.Bucket(bucket, "some/prefix", endpoint_url=s3.url, key=KEY, secret=SECRET)
    backend = s3_module.S3(place, tmp_path, is_alone=True)
    backend.begin()
    with closing(backend):
        backend.trouble = errors.OriginalsAway(host="127.0.0.1")
        with too_many_open_files():
            backend.watch(lambda: None)
            assert eventually(lambda: "Too many open files" in caplog.text)
        assert eventually(lambda: backend.trouble is None, seconds=20)
        assert backend.owner() is None


@pytest.mark.parametrize(
    "moment",
    [b"PUT /", b"x-amz-copy-source"],
    ids=["on its way", "before it is kept"],
)
@pytest.mark.soak  # a process that only leaves: the next test
def test_a_process_that_is_killed_while_a_file_is_on_its_way_leaves_nothing(
    stored: Settings, s3: S3Server, bucket: str, between: Between, write: Write, moment: bytes
) -> None:
    file = write("a.md", words="of many " * 20_000)
    with IndexStore(stored) as store:
        store.create_index("a")
    reached = threading.Event()

    def stop(piece: bytes) -> None:
        if moment in piece.lower() or (moment == b"PUT /" and piece.startswith(moment)):
            between.is_silent = True
            reached.set()

    between.before = stop
    environment = {
        **os.environ,
        "DATA_DIR": str(stored.data_dir),
        "ORIGINALS_URL": f"s3://{bucket}/some/prefix?endpoint_url={between.url}",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "OPENAI_BASE_URL": str(stored.openai_base_url),
        "EMBEDDING_MODEL": stored.embedding_model,
    }
    command = [sys.executable, "-m", "index_store", "add", str(file), "--index", "a"]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    assert reached.wait(60)
    child.send_signal(signal.SIGKILL)
    child.wait()
    between.before, between.is_silent = lambda _: None, False
    if moment != b"PUT /":
        assert any("staging" in name for name in s3.names(bucket))
    with IndexStore(stored) as store:
        assert [name.removeprefix("some/prefix/") for name in s3.names(bucket)] == [MARK]
        assert store.add("a", file).error is None
        assert_sound(store, stored.data_dir)


@pytest.mark.soak  # from the data folder: tests/index_store/store/test_user_store.py
def test_what_was_kept_is_gone_on_with_by_the_next_process(
    stored: Settings, service: EmbeddingService, write: Write
) -> None:
    files = [write(f"{number}.md") for number in range(4)]
    service.is_held = True
    with IndexStore(stored) as store:
        store.ingest("a", [FileSource(file) for file in files])
        assert eventually(lambda: len(store.documents()) == 4)
        threading.Timer(0.5, lambda: setattr(service, "is_held", False)).start()  # while the store is closing
    for file in files:
        file.unlink()
    with IndexStore(stored) as store:
        for again in store.resume():
            again.wait()
        assert [each.status for each in store.documents()] == [DocumentStatus.READY] * 4
        assert_sound(store, stored.data_dir)


# Which store the originals belong to


@pytest.mark.soak
def test_two_installations_do_not_sweep_each_others_originals(
    stored: Settings, s3: S3Server, bucket: str, write: Write, tmp_path: Path
) -> None:
    with IndexStore(stored) as store:
        store.add("a", write("a.md"))
    before = s3.names(bucket)
    another = {"data_dir": tmp_path / "another", "database_url": None}
    with pytest.raises(errors.OriginalsOfAnother, match=bucket):
        IndexStore(stored.model_copy(update=another))
    assert s3.names(bucket) == before
    with IndexStore(stored) as store:
        assert_sound(store, stored.data_dir)


def test_a_folder_moves_to_s3_and_back_when_its_files_are_copied(
    serviced: Settings, stored: Settings, s3: S3Server, bucket: str, write: Write
) -> None:
    with IndexStore(serviced) as store:
        store.add("a", write("a.md"))
    local = serviced.data_dir / "originals"
    with pytest.raises(errors.OriginalsInFolder, match="originals"):
        IndexStore(stored)
    for file in local.glob("??/*"):
        s3.write(bucket, f"some/prefix/{file.parent.name}/{file.name}", file.read_bytes())
    shutil.move(local, local.with_name("originals-before"))
    with IndexStore(stored) as store:
        assert_sound(store, stored.data_dir)
        assert store.add("a", write("a.md")).status.value == "unchanged"
        assert [each.status.value for each in store.reindex("a").wait()] == ["ready"]  # works without stored digests
    with pytest.raises(errors.OriginalsElsewhere):
        IndexStore(serviced)
    # If the catalogue or the vectors are elsewhere, too, that is reported first.
    with pytest.raises((OriginalsNotInFolder, CatalogueNotInFolder, VectorsNotInFolder)):
        back_up(serviced.data_dir, serviced.data_dir.parent / "backup.zip")
    for name in s3.names(bucket):
        place = local / name.removeprefix("some/prefix/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(s3.read(bucket, name))
    (serviced.data_dir / "originals.id").unlink()
    with IndexStore(serviced) as store:
        assert_sound(store, serviced.data_dir)


def test_a_share_that_is_not_mounted_is_not_written_to(serviced: Settings, tmp_path: Path, write: Write) -> None:
    shared = serviced.model_copy(update={"originals_url": SecretStr(f"file://{tmp_path}/mnt/share")})
    with IndexStore(shared) as store:
        store.add("a", write("a.md"))
    shutil.move(tmp_path / "mnt", tmp_path / "away")
    with pytest.raises(errors.OriginalsNotThere, match="mnt/share"):
        IndexStore(shared)
    assert not (tmp_path / "mnt").exists()
    shutil.move(tmp_path / "away", tmp_path / "mnt")
    with IndexStore(shared) as store:
        assert_sound(store, shared.data_dir)


def test_a_share_that_is_unmounted_while_the_app_runs_is_not_written_to(
    serviced: Settings, tmp_path: Path, write: Write
) -> None:
    share = tmp_path / "share"
    with IndexStore(serviced.model_copy(update={"originals_url": SecretStr(f"file://{share}")})) as store:
        store.add("a", write("a.md"))
        shutil.move(share, tmp_path / "away")
        share.mkdir()  # the folder that it was mounted on
        refused = store.add("a", write("b.md"))
        assert refused.error
        assert "Check that the share is mounted" in refused.error.sentence("en")
        assert list(share.iterdir()) == []
        share.rmdir()
        shutil.move(tmp_path / "away", share)
        assert store.add("a", write("b.md")).error is None
        assert_sound(store, serviced.data_dir)


@pytest.mark.parametrize(
    "url",
    [
        "s3://", "s3:///prefix", "http://bucket/prefix", "file://host/share", "file:///", "/mnt/share",
        "s3://b?secert=x", "s3://key:of-a-secret@bucket", "file:///mnt?key=x", "s3://b?key=",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(errors.InvalidSetting, match="ORIGINALS_URL") as refused:
        Settings(originals_url=SecretStr(url))
    assert "of-a-secret" not in str(refused.value)


# Also in test_database.py, without all modules of the command.
@pytest.mark.soak
def test_without_the_setting_nothing_of_s3_is_loaded() -> None:
    script = (
        "import sys, index_store.commands; sys.exit(bool({'s3fs', 'botocore', 'aiobotocore'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
