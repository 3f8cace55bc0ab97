import os
import stat
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.base.settings import Settings
from index_store.store.index_store import IndexStore

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
    assert kept.value.__traceback__  # the error still exists, and with it all objects of the failed start


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
