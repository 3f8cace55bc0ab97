"""A backup while the app runs: the archive has one consistent state of the store, or there is no archive."""

import hashlib
import json
import os
import re
import shutil
import signal
import stat
import threading
import time
import zipfile
from pathlib import Path

import pytest

from index_store.access.audit.audit import FOLDER
from index_store.access.audit.entry import Action
from index_store.access.principal import LOCAL
from index_store.base.folders import backup_of, changes_of
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import DocumentStatus
from index_store.ingestion.sources import FileSource
from index_store.library.data_folder import IDENTITY, LINKS, NAMESPACE, ORIGINALS_NOTED
from index_store.library.library import Library
from index_store.store.index_store import IndexStore
from tests.helpers.full_disk import full_disk, linux
from tests.helpers.threads import is_under_way
from tests.helpers.waiting import eventually
from tests.index_store.soundness import assert_sound, content, originals
from tests.index_store.transfer.backup.conftest import Command, Write, started
from tests.old_folders import unpack

pytestmark = pytest.mark.sqlite_alone

OLD_FOLDERS = sorted((Path(__file__).parents[3] / "old_folders").glob("*.tar.xz"))


def restored(settings: Settings, folder: Path) -> IndexStore:
    return IndexStore(settings.model_copy(update={"data_dir": folder}))


def test_what_a_running_app_holds_is_saved_and_found_after_a_restore(
    serviced: Settings, app: IndexStore, process: Command, command: Command, tmp_path: Path
) -> None:
    archive = tmp_path / "saved.zip"
    done = process("backup", archive)
    assert (done.returncode, done.stderr) == (0, "")
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    done = command("restore", archive, folder=tmp_path / "other")
    assert (done.returncode, done.stderr) == (0, "")
    with restored(serviced, tmp_path / "other") as store:
        assert_sound(store, tmp_path / "other")
        assert store.documents() == app.documents()
        for mode in ("vector", "keyword", "hybrid"):
            [hit] = store.search("a", "What does the file of bananas say?", mode=mode, k=1)
            assert hit.source.endswith("bananas.md")
        for document in store.documents():
            assert content(store.original(document.id)) == content(app.original(document.id))
    assert_sound(app, serviced.data_dir)


def test_the_log_of_what_was_done_is_saved_in_whole_lines(
    serviced: Settings, app: IndexStore, command: Command, tmp_path: Path
) -> None:
    app.access.audit.note(Action.ADDED, LOCAL, index="a")
    [file] = (serviced.data_dir / FOLDER).glob("*.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"at":')
    command("backup", tmp_path / "saved.zip")
    assert command("restore", tmp_path / "saved.zip", folder=tmp_path / "other").returncode == 0
    assert (tmp_path / "other" / FOLDER / file.name).read_bytes() == whole


def test_the_archive_is_a_zip_and_its_manifest_has_the_hash_of_every_file(archive: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        manifest = json.loads(packed.read("manifest.json"))
        names = [name for name in packed.namelist() if name != "manifest.json"]
        assert manifest["files"] == {
            name: [len(content := packed.read(name)), hashlib.sha256(content).hexdigest()] for name in names
        }
    assert {"catalogue.sqlite3", "chroma/chroma.sqlite3"} < set(names)
    assert sum(name.startswith("originals/") for name in names) == 2


def test_neither_settings_nor_models_nor_logs_nor_what_is_on_its_way_in_are_saved(
    serviced: Settings, app: IndexStore, command: Command, tmp_path: Path
) -> None:
    for name in (".env", "models/big.gguf", "logs/a.log", "uploads/a.md", "history.damaged-20260101-000000.sqlite3"):
        (serviced.data_dir / name).parent.mkdir(exist_ok=True)
        (serviced.data_dir / name).write_text("OPENAI_API_KEY=secret")
    command("backup", tmp_path / "saved.zip")
    with zipfile.ZipFile(tmp_path / "saved.zip") as packed:
        saved = {name.partition("/")[0] for name in packed.namelist()}
    assert saved == {"catalogue.sqlite3", "chroma", "originals", "audit", "manifest.json"}


@pytest.mark.parametrize("language", ["en", pytest.param("ja", marks=pytest.mark.soak)])
def test_a_file_that_is_there_is_not_written_over(
    app: IndexStore, archive: Path, command: Command, language: str
) -> None:
    before = archive.read_bytes()
    done = command("backup", "--language", language, archive)
    assert (done.returncode, done.stdout) == (1, "")
    assert {"en": "There is already a file", "ja": "はすでにあります"}[language] in done.stderr
    assert archive.read_bytes() == before


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.soak), "ja"])
def test_a_folder_in_place_of_the_file_is_told_with_the_name_of_a_file_in_it(
    app: IndexStore, command: Command, tmp_path: Path, language: str
) -> None:
    (tmp_path / "backups").mkdir()
    done = command("backup", "--language", language, tmp_path / "backups")
    assert (done.returncode, done.stdout) == (1, "")
    assert {"en": "backups is a folder. Give", "ja": "backups はフォルダーです"}[language] in done.stderr
    assert re.search(rf"{tmp_path}/backups/\d{{4}}-\d\d-\d\d\.zip", done.stderr)
    assert not list((tmp_path / "backups").iterdir())


def test_standard_output_is_told_with_the_name_of_a_file_instead(
    app: IndexStore, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    done = command("backup", "--language", "en", "-")
    assert (done.returncode, done.stdout) == (1, "")
    assert "standard output. Give the name of a file" in done.stderr
    assert set(tmp_path.iterdir()) == before


def test_a_place_at_which_the_account_can_not_even_look_is_told_in_a_sentence(
    app: IndexStore, command: Command, tmp_path: Path
) -> None:
    """Such as a folder of another account. A name that is too long is refused to root too."""
    done = command("backup", tmp_path / f"{'a' * 300}.zip")
    assert (done.returncode, done.stdout) == (1, "")
    assert "could not be made: File name too long. The data folder is unchanged." in done.stderr


def test_a_data_folder_that_the_account_may_not_read_is_told_in_a_sentence(command: Command, tmp_path: Path) -> None:
    """As by somebody who is not the account of the app. A name that is too long is refused to root too."""
    done = command("backup", tmp_path / "saved.zip", folder=tmp_path / ("a" * 300))
    assert (done.returncode, done.stdout) == (1, "")
    assert "can't be used: File name too long. Check that this account may read" in done.stderr


def test_a_folder_without_anything_of_the_app_is_not_saved(tmp_path: Path, command: Command) -> None:
    (tmp_path / "empty").mkdir()
    done = command("backup", tmp_path / "saved.zip", folder=tmp_path / "empty")
    assert done.returncode == 1
    assert "has no data of this app" in done.stderr
    assert not (tmp_path / "saved.zip").exists()


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    ("mark", "saved"),
    [
        (IDENTITY, ("pg_dump", "CHROMA_URL", "ORIGINALS_URL")),
        (NAMESPACE, ("Chroma", "ORIGINALS_URL")),
        (ORIGINALS_NOTED, ("ORIGINALS_URL",)),
    ],
)
def test_with_servers_it_names_everything_that_must_be_saved_and_where_the_commands_are(
    tmp_path: Path, command: Command, mark: str, saved: tuple[str, ...], language: str
) -> None:
    folder = tmp_path / "with servers"
    folder.mkdir()
    (folder / mark).touch()
    done = command("backup", "--language", language, tmp_path / "saved.zip", folder=folder)
    assert done.returncode == 1
    for each in (*saved, "docs/growing.md"):
        assert each in done.stderr


def test_two_at_a_time_are_one_too_many(serviced: Settings, app: IndexStore, command: Command, tmp_path: Path) -> None:
    with backup_of(serviced.data_dir):
        done = command("backup", tmp_path / "saved.zip")
    assert "Another backup of the data folder" in done.stderr


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.soak)])
def test_changes_that_go_on_meanwhile_leave_one_consistent_state(
    serviced: Settings, app: IndexStore, process: Command, command: Command, write: Write, tmp_path: Path, times: int
) -> None:
    """In each saved state, each document is found by its own words."""
    back_up = process if times > 1 else command
    is_over = threading.Event()
    faults: list[Exception] = []

    def churn() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            try:
                files = [write(f"{number}-{each}.md", sections=30) for each in range(3)]
                app.ingest("a", [FileSource(file) for file in files]).wait()
                app.remove("a", str(files[number % 3]))
                app.search("a", "What does it say?")
            except Exception as error:  # noqa: BLE001 - the test reports it
                faults.append(error)

    churning = threading.Thread(target=churn)
    churning.start()
    archives = [tmp_path / f"{number}.zip" for number in range(times)]
    saved = [back_up("backup", archive).returncode for archive in archives]
    is_over.set()
    churning.join()
    assert (saved, faults) == ([0] * times, [])
    for archive in archives:
        folder = tmp_path / archive.stem
        assert command("restore", archive, folder=folder).returncode == 0
        with restored(serviced, folder) as store:
            assert store.check() == []
            ready = [each for each in store.documents() if each.status is DocumentStatus.READY]
            assert len(ready) >= 2
            for each in ready:
                [hit] = store.search("a", f"This is what {each.title} says", k=1, document_ids=[each.id])
                assert hit.document_id == each.id
                assert content(store.original(each.id)).startswith(f"# {each.title}".encode())
    assert app.check() == []


def test_changes_wait_during_the_snapshot_and_searches_do_not(
    serviced: Settings, app: IndexStore, write: Write
) -> None:
    """The test holds the lock that the command takes for its snapshot."""
    with changes_of(serviced.data_dir):
        removing = threading.Thread(target=lambda: app.remove_documents([app.documents()[0].id]), daemon=True)
        removing.start()
        assert len(app.search("a", "apples", k=2)) == 2
        assert eventually(lambda: is_under_way(Library.held))
        assert len(app.documents()) == 2
    removing.join()
    assert len(app.documents()) == 1


@pytest.mark.parametrize(
    "stage",
    ["archive", *(pytest.param(each, marks=pytest.mark.soak) for each in ("copies", "copies/catalogue.sqlite3"))],
)
def test_killed_in_the_midst_it_leaves_no_archive_and_the_app_and_the_next_backup_unharmed(
    serviced: Settings, app: IndexStore, command: Command, write: Write, tmp_path: Path, stage: str
) -> None:
    app.ingest("a", [FileSource(write(f"{number}.md", sections=40)) for number in range(5)]).wait()
    file = tmp_path / "saved.zip"
    seen = file.with_name("saved.zip.part") / stage
    with started(serviced.data_dir, "backup", file) as process:
        while not seen.exists() and process.poll() is None:
            time.sleep(0.0005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert_sound(app, serviced.data_dir)
    # The archive may have been made before the signal; then it is complete.
    if file.exists() or process.returncode == 0:
        assert command("restore", file, folder=tmp_path / "early").returncode == 0
    file.unlink(missing_ok=True)
    assert command("backup", file).returncode == 0
    assert not file.with_name("saved.zip.part").exists()
    assert not (serviced.data_dir / LINKS).exists()
    assert command("restore", file, folder=tmp_path / "other").returncode == 0


def test_what_a_killed_backup_kept_of_removed_documents_is_gone_with_the_next_start(
    serviced: Settings, app: IndexStore
) -> None:
    [original, *_] = originals(serviced.data_dir)
    kept = serviced.data_dir / LINKS / original.parent.name / original.name
    kept.parent.mkdir(parents=True)
    os.link(original, kept)
    app.close()
    with IndexStore(serviced):
        assert not kept.exists()
        assert original.exists()


def test_backups_that_are_kept_in_a_folder_named_backup_stay_there(
    serviced: Settings, app: IndexStore, command: Command
) -> None:
    monday, tuesday = (serviced.data_dir / "backup" / f"{day}.zip" for day in ("monday", "tuesday"))
    monday.parent.mkdir()
    monday.write_bytes(b"earlier")
    done = command("backup", tuesday)
    assert (done.returncode, done.stderr) == (0, "")
    app.close()
    with IndexStore(serviced):
        assert monday.read_bytes() == b"earlier"
        assert tuesday.exists()


@linux
def test_on_a_full_disk_it_says_so_and_leaves_nothing(
    serviced: Settings, app: IndexStore, command: Command, tmp_path: Path
) -> None:
    with full_disk():
        done = command("backup", tmp_path / "saved.zip")
    assert done.returncode == 1
    assert "could not be made" in done.stderr
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("saved")] == []
    assert not (serviced.data_dir / LINKS).exists()
    assert_sound(app, serviced.data_dir)


def test_it_is_begun_while_the_app_is_not_running_too(
    serviced: Settings, app: IndexStore, command: Command, tmp_path: Path
) -> None:
    app.close()
    assert command("backup", tmp_path / "saved.zip").returncode == 0
    assert command("restore", tmp_path / "saved.zip", folder=tmp_path / "other").returncode == 0


@pytest.mark.parametrize(
    "name", ["catalogue.sqlite3", pytest.param("history.sqlite3", marks=pytest.mark.soak), "chroma/chroma.sqlite3"]
)
def test_a_damaged_database_is_told_rather_than_saved(
    serviced: Settings, app: IndexStore, command: Command, tmp_path: Path, name: str
) -> None:
    app.close()
    database = serviced.data_dir / name
    shutil.copy(serviced.data_dir / "catalogue.sqlite3", serviced.data_dir / "history.sqlite3")
    content = bytearray(database.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    database.write_bytes(content)
    done = command("backup", tmp_path / "saved.zip")
    assert done.returncode == 1
    assert done.stderr.startswith(f"{database.name} is damaged")
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("saved")] == []


@pytest.mark.parametrize(
    "packed",
    [OLD_FOLDERS[0], *(pytest.param(each, marks=pytest.mark.soak) for each in OLD_FOLDERS[1:])],
    ids=lambda path: path.name.partition(".tar")[0],
)
def test_a_folder_of_an_earlier_version_is_saved_as_it_is_and_restored_by_this_one(
    command: Command, tmp_path: Path, packed: Path
) -> None:
    unpack(packed, tmp_path)
    before = (tmp_path / "data" / "catalogue.sqlite3").read_bytes()
    assert command("backup", tmp_path / "saved.zip").returncode == 0
    assert (tmp_path / "data" / "catalogue.sqlite3").read_bytes() == before
    done = command("restore", tmp_path / "saved.zip", folder=tmp_path / "other")
    assert done.returncode == 0
    assert "restored" in done.stdout
    assert (tmp_path / "other" / "history.sqlite3").exists()
