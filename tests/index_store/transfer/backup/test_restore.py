"""A restore: only from a complete backup of this app, only into an empty folder, and all or nothing."""

import json
import random
import shutil
import signal
import stat
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from index_store.base.errors import RestoreUnfinished, StoreInUse
from index_store.base.settings.settings import Settings
from index_store.store.index_store import IndexStore
from index_store.transfer.backup import errors
from index_store.transfer.backup.restore import restore
from index_store.vectors.local.probe import is_half_written
from tests.helpers.full_disk import full_disk, linux
from tests.index_store.small_graphs import GRAPH, small_graphs
from tests.index_store.soundness import assert_sound
from tests.index_store.transfer.backup.conftest import Command, Write, started

pytestmark = pytest.mark.sqlite_alone


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "other"


def files(folder: Path) -> dict[str, bytes]:
    """All files except locks, which are not in a backup."""
    locks = {"index_store.lock", "index_store.pid", "changes.lock", "backup.lock"}
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name not in locks
    }


def rewritten(archive: Path, change: Callable[[dict[str, bytes], dict], object]) -> Path:
    """The same archive after `change` has changed its files and its manifest."""
    with zipfile.ZipFile(archive) as packed:
        content = {name: packed.read(name) for name in packed.namelist()}
    manifest = json.loads(content.pop("manifest.json"))
    change(content, manifest)
    made = archive.with_name("rewritten.zip")
    with zipfile.ZipFile(made, "w") as packed:
        for name, each in content.items():
            packed.writestr(name, each)
        packed.writestr("manifest.json", json.dumps(manifest))
    return made


@pytest.mark.parametrize(
    ("name", "language"), [("catalogue.sqlite3", "en"), ("notes.txt", "ja"), ("chroma/chroma.sqlite3", "en")]
)
def test_a_folder_that_is_not_empty_is_refused_and_stays(
    archive: Path, target: Path, command: Command, name: str, language: str
) -> None:
    (target / name).parent.mkdir(parents=True)
    (target / name).write_text("mine")
    done = command("restore", "--language", language, archive, folder=target)
    assert done.returncode == 1
    assert name.partition("/")[0] in done.stderr
    assert {"en": "is not empty", "ja": "空ではありません"}[language] in done.stderr
    assert files(target) == {name: b"mine"}


def test_a_folder_that_others_can_read_is_told_once(
    archive: Path, target: Path, command: Command, caplog: pytest.LogCaptureFixture
) -> None:
    target.mkdir()
    target.chmod(0o755)
    assert command("restore", archive, folder=target).returncode == 0
    assert caplog.text.count("Other accounts can read the folder") == 1


def test_the_folder_of_a_running_app_is_refused(app: IndexStore, serviced: Settings, archive: Path) -> None:
    with pytest.raises(StoreInUse):
        restore(archive, serviced.data_dir)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgresql+psycopg://nobody@127.0.0.1:9/none"),
        pytest.param("CHROMA_URL", "http://127.0.0.1:9", marks=pytest.mark.soak),
        pytest.param("ORIGINALS_URL", "file:///{elsewhere}", marks=pytest.mark.soak),
    ],
)
def test_it_is_restored_and_checked_in_the_folder_though_the_settings_name_servers(
    archive: Path, target: Path, command: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value.format(elsewhere=target.with_name("elsewhere")))
    done = command("restore", archive, folder=target)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("restored")


def test_models_that_were_fetched_may_be_there(archive: Path, target: Path) -> None:
    (target / "models").mkdir(parents=True)
    restore(archive, target)
    assert (target / "catalogue.sqlite3").exists()


def test_a_flipped_byte_is_noticed_wherever_what_was_saved_is_touched(archive: Path, target: Path) -> None:
    restore(archive, target)
    right = files(target)
    whole = archive.read_bytes()
    chance = random.Random("flipped")
    refused = 0
    for place in (chance.randrange(len(whole)) for _ in range(40)):
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        shutil.rmtree(target, ignore_errors=True)
        try:
            restore(archive, target)
        except (errors.BackupDamaged, errors.NotABackup):
            refused += 1
            assert files(target) == {} if target.exists() else True
        else:
            assert files(target) == right  # a byte without effect, such as one in the time of a file
    assert refused > 30


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.999])
def test_a_truncated_archive_is_refused(archive: Path, target: Path, share: float) -> None:
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(errors.NotABackup, match="it is incomplete"):
        restore(archive, target)
    assert not target.exists()


def test_a_foreign_archive_is_refused(tmp_path: Path, target: Path) -> None:
    for content in ({"a.txt": b"a"}, {"manifest.json": b"{}"}, {"manifest.json": b"\xff"}):
        with zipfile.ZipFile(tmp_path / "foreign.zip", "w") as packed:
            for name, each in content.items():
                packed.writestr(name, each)
        with pytest.raises(errors.NotABackup):
            restore(tmp_path / "foreign.zip", target)
    (tmp_path / "text.zip").write_text("This is no archive.")
    with pytest.raises(errors.NotABackup):
        restore(tmp_path / "text.zip", target)
    assert not target.exists()


@pytest.mark.parametrize(("name", "reason"), [("missing.zip", "No such file or directory"), (".", "Is a directory")])
def test_a_backup_that_is_not_at_its_path_is_not_told_to_be_incomplete(
    tmp_path: Path, target: Path, name: str, reason: str
) -> None:
    with pytest.raises(errors.BackupUnreadable, match=f"can't be read: {reason}") as refused:
        restore(tmp_path / name, target)
    assert "途中で切れています" not in refused.value.sentence("ja")
    assert not target.exists()


def test_one_of_a_newer_version_is_refused_with_the_version(archive: Path, target: Path) -> None:
    newer = rewritten(archive, lambda _, manifest: manifest["versions"].update({"catalogue.sqlite3": "9999"}))
    with pytest.raises(errors.BackupNewer, match="has version 9999") as refused:
        restore(newer, target)
    assert "9999" in refused.value.sentence("ja")
    with pytest.raises(errors.BackupNewer, match="has version 2"):
        restore(rewritten(archive, lambda _, manifest: manifest.update(layout=2)), target)
    assert not target.exists()


def test_an_original_that_is_not_the_one_that_was_saved_is_named(archive: Path, target: Path) -> None:
    def change(content: dict[str, bytes], _: object) -> None:
        name = next(name for name in content if name.startswith("originals/"))
        content[name] = b"X" * len(content[name])

    with pytest.raises(errors.BackupDamaged, match=r"originals/.* is not what was saved"):
        restore(rewritten(archive, change), target)
    assert files(target) == {}


HOSTILE = [
    "../outside.sqlite3", "/tmp/outside.sqlite3", "chroma/../../outside", "..\\outside.sqlite3", "C:\\a.sqlite3",
    ".env", "models/a.gguf", "index_store.pid", "originals/staging/a", "chroma/a/b/c", "chroma/", "a\n.sqlite3",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_no_backup_has_is_refused(archive: Path, target: Path, name: str) -> None:
    def change(content: dict[str, bytes], manifest: dict) -> None:
        content[name] = b""
        manifest["files"][name] = [0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]

    with pytest.raises(errors.BackupDamaged):
        restore(rewritten(archive, change), target)
    assert not target.exists()


def test_a_link_is_refused(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        content = {info.filename: (info, packed.read(info)) for info in packed.infolist()}
    with zipfile.ZipFile(archive, "w") as packed:
        for name, (info, each) in content.items():
            if name == "catalogue.sqlite3":
                info.external_attr = (stat.S_IFLNK | 0o777) << 16
            packed.writestr(info, each)
    with pytest.raises(errors.BackupDamaged, match=r"catalogue\.sqlite3"):
        restore(archive, target)


def test_more_or_less_than_the_manifest_has_is_refused(archive: Path, target: Path) -> None:
    def more(content: dict[str, bytes], _: object) -> None:
        content["more.sqlite3"] = b""

    def less(content: dict[str, bytes], _: object) -> None:
        del content[next(name for name in content if name.startswith("originals/"))]

    def longer(content: dict[str, bytes], _: object) -> None:
        content["catalogue.sqlite3"] += b"\0" * 4096

    for change in (more, less, longer):
        with pytest.raises(errors.BackupDamaged):
            restore(rewritten(archive, change), target)
    with zipfile.ZipFile(archive, "a") as packed, pytest.warns(UserWarning, match="Duplicate name"):
        packed.writestr("catalogue.sqlite3", b"")
    with pytest.raises(errors.BackupDamaged):
        restore(archive, target)


@pytest.mark.soak  # the files that it leaves, without a process: the next test
@pytest.mark.parametrize("stage", ["originals", "catalogue.sqlite3", "restoring", "restoring/catalogue.sqlite3"])
def test_killed_in_the_midst_it_leaves_a_folder_that_no_app_opens_and_that_is_restored_to_again(
    serviced: Settings, archive: Path, command: Command, target: Path, stage: str
) -> None:
    with started(target, "restore", archive) as process:
        while not (target / stage).exists() and process.poll() is None:
            time.sleep(0.0002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    other = serviced.model_copy(update={"data_dir": target})
    if (target / "restoring").exists():
        with pytest.raises(RestoreUnfinished) as refused:
            IndexStore(other)
        assert "`python -m index_store restore` again" in refused.value.sentence("en")
        assert "もう一度実行" in refused.value.sentence("ja")
        assert command("restore", archive, folder=target).returncode == 0
    with IndexStore(other) as store:
        assert_sound(store, target)
        assert len(store.documents()) == 2


def test_files_of_an_interrupted_restore_do_not_block_the_next_restore(
    serviced: Settings, archive: Path, target: Path
) -> None:
    restore(archive, target)
    right = files(target)
    (target / "restoring").mkdir()
    (target / "catalogue.sqlite3").rename(target / "restoring" / "catalogue.sqlite3")
    (target / "catalogue.sqlite3-wal").write_text("of nothing")
    with pytest.raises(RestoreUnfinished):
        IndexStore(serviced.model_copy(update={"data_dir": target}))
    restore(archive, target)
    assert files(target) == right


@linux
def test_on_a_full_disk_it_says_so_and_the_folder_stays_empty(archive: Path, target: Path) -> None:
    with full_disk(), pytest.raises(errors.RestoreFailed, match="MB of room"):
        restore(archive, target)
    assert files(target) == {}
    restore(archive, target)


@pytest.fixture
def large(serviced: Settings, write: Write) -> Iterator[IndexStore]:
    with small_graphs(), IndexStore(serviced) as store:
        store.add("a", write("large.md", sections=GRAPH))
        yield store


def statuses(settings: Settings, folder: Path) -> set[str]:
    with IndexStore(settings.model_copy(update={"data_dir": folder})) as store:
        assert store.check() == []
        return {each.status.value for each in store.documents()}


@pytest.mark.parametrize("is_torn", [False, True])
def test_a_graph_is_restored_as_whole_or_as_half_written_as_it_was(
    serviced: Settings, large: IndexStore, command: Command, tmp_path: Path, target: Path, is_torn: bool
) -> None:
    if is_torn:
        [graph] = serviced.data_dir.glob("chroma/*/data_level0.bin")
        graph.touch()
    command("backup", tmp_path / "saved.zip")
    restore(tmp_path / "saved.zip", target)
    [last] = target.glob("chroma/*/index_metadata.pickle")
    assert is_half_written(last.parent) is is_torn


@pytest.mark.soak  # as the process that opens it next sees it: above
def test_a_graph_that_was_whole_is_taken_for_whole(
    serviced: Settings, large: IndexStore, command: Command, tmp_path: Path, target: Path
) -> None:
    command("backup", tmp_path / "saved.zip")
    restore(tmp_path / "saved.zip", target)
    assert list(target.glob("chroma/*/index_metadata.pickle"))
    assert statuses(serviced, target) == {"ready"}


@pytest.mark.soak  # above, and test_chroma.py
def test_a_graph_that_a_killed_app_left_half_written_is_embedded_again_and_the_check_finds_nothing(
    serviced: Settings, large: IndexStore, command: Command, tmp_path: Path, target: Path
) -> None:
    large.close()
    [graph] = serviced.data_dir.glob("chroma/*/data_level0.bin")
    graph.touch()
    command("backup", tmp_path / "saved.zip")
    restore(tmp_path / "saved.zip", target)
    assert statuses(serviced, target) == {"pending"}
