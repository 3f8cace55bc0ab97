from pathlib import Path

import pytest

from index_store.base.folders import write_note
from index_store.library.originals.folder import Folder
from tests.helpers.full_disk import full_disk, linux

pytestmark = linux

OWNER = "4f0c2a" * 6


def test_a_note_that_a_full_disk_refuses_stays_as_it_was(tmp_path: Path) -> None:
    note = tmp_path / "database.id"
    write_note(note, "before")
    with full_disk(len(OWNER) - 1), pytest.raises(OSError, match="too large"):
        write_note(note, OWNER)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [(note.name, "before")]


def test_a_share_that_was_full_at_the_first_start_belongs_to_nobody_else(tmp_path: Path) -> None:
    share = Folder(tmp_path / "share", is_alone=True)
    with full_disk(len(OWNER) - 1), pytest.raises(OSError, match="too large"):
        share.mark(OWNER)
    assert share.owner() is None
