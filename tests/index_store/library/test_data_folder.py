import errno
import os
import stat
from pathlib import Path

import pytest
from pydantic import SecretStr

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.library.opening import open_catalogue, open_shared_library
from index_store.store.index_store import IndexStore
from index_store.transfer.backup.backup import back_up

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights as POSIX has them")


def rights(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_a_folder_that_could_not_be_written_to_is_not_held(serviced: Settings) -> None:
    owner = serviced.data_dir / "index_store.pid"
    owner.mkdir(parents=True)
    with pytest.raises(errors.DataFolderUnusable) as kept:
        IndexStore(serviced)
    owner.rmdir()
    IndexStore(serviced).close()
    for language in ("en", "ja"):
        assert os.strerror(errno.EISDIR) in kept.value.sentence(language)
    assert kept.value.__traceback__  # the error still exists, and with it all objects of the failed start


@pytest.mark.parametrize("kind", ["file", "link", "below a file"])
def test_a_data_folder_that_is_a_file_or_a_link_to_nothing_is_told_as_such(serviced: Settings, kind: str) -> None:
    folder = serviced.data_dir
    if kind == "link":
        folder.symlink_to(folder.with_name("unmounted"))
    else:
        folder.write_text("")
    settings = serviced.model_copy(update={"data_dir": folder / "data"}) if kind == "below a file" else serviced
    with pytest.raises(errors.DataFolderIsFile) as told:
        IndexStore(settings)
    assert f"The data folder {settings.data_dir} can't be used: it, or a folder above it, is a file or a link" in str(
        told.value
    )
    assert "リンク先のないリンク" in told.value.sentence("ja")


@pytest.mark.sqlite_alone
def test_a_catalogue_that_can_not_be_opened_is_told_with_the_reason_that_sqlite_gives(serviced: Settings) -> None:
    (serviced.data_dir / "catalogue.sqlite3").mkdir(parents=True)
    with pytest.raises(errors.DataFolderUnusable) as told:
        IndexStore(serviced)
    for language in ("en", "ja"):
        assert "unable to open database file" in told.value.sentence(language)


def test_a_new_data_folder_is_private_to_its_account(serviced: Settings, caplog: pytest.LogCaptureFixture) -> None:
    IndexStore(serviced).close()
    assert rights(serviced.data_dir) == 0o700
    assert "chmod" not in caplog.text


@pytest.mark.parametrize("shared", [0o755, 0o2770])
def test_a_folder_that_was_there_keeps_its_rights_and_the_log_says_that_it_is_open(
    serviced: Settings, caplog: pytest.LogCaptureFixture, shared: int
) -> None:
    serviced.data_dir.mkdir()
    serviced.data_dir.chmod(shared)
    IndexStore(serviced).close()
    assert rights(serviced.data_dir) == shared
    assert "To prevent this, use `chmod 700`" in caplog.text
    assert str(serviced.data_dir) in caplog.text


def test_an_app_starts_and_warns_if_the_links_of_an_interrupted_backup_can_not_be_deleted(
    serviced: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """A backup of root leaves both so that the app's account can't use them."""
    (serviced.data_dir / "backup.links").mkdir(parents=True)
    (serviced.data_dir / "backup.lock").mkdir()
    IndexStore(serviced).close()
    assert "The links that an interrupted backup has left" in caplog.text


def test_a_new_folder_for_originals_is_private_to_its_account(
    serviced: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    share = tmp_path / "share"
    elsewhere = serviced.model_copy(update={"originals_url": SecretStr(f"file://{share}")})
    IndexStore(elsewhere).close()
    assert rights(share) == 0o700
    assert "chmod" not in caplog.text
    share.chmod(0o2770)  # such as one that several accounts share
    IndexStore(elsewhere).close()
    assert rights(share) == 0o2770
    assert f"can read the folder {share}. To prevent this, use `chmod 700`" in caplog.text


def test_a_folder_for_originals_that_can_not_be_used_is_named(serviced: Settings, tmp_path: Path) -> None:
    share = tmp_path / "mount" / "originals"
    share.parent.write_text("")
    with pytest.raises(errors.DataFolderUnusable, match=f"{share} can't be used"):
        IndexStore(serviced.model_copy(update={"originals_url": SecretStr(f"file://{share}")}))


@pytest.fixture
def folder_of_another(serviced: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As root sees it."""
    serviced.data_dir.mkdir()
    if os.geteuid() == 0:
        os.chown(serviced.data_dir, 10001, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return serviced.data_dir


def test_root_makes_no_file_in_a_folder_of_another_account(serviced: Settings, folder_of_another: Path) -> None:
    queued = serviced.model_copy(
        update={"database_url": SecretStr("postgresql://localhost/a"), "chroma_url": SecretStr("http://localhost")}
    )
    assert queued.has_queue
    for writing in (
        lambda: IndexStore(serviced),
        lambda: IndexStore(queued),
        lambda: open_shared_library(queued),
        lambda: open_catalogue(serviced).__enter__(),
        lambda: back_up(folder_of_another, folder_of_another.parent / "saved.zip"),
    ):
        with pytest.raises(errors.NotAsRoot) as refused:
            writing()
        assert f"sudo -u '#{folder_of_another.stat().st_uid}'" in refused.value.sentence("en")
    assert list(folder_of_another.iterdir()) == []
