"""Changes which backend of a data folder is in use, by a single rename.

    moving/        prepared data, while the data in use stays as it is
        to             the new backend
        new/           its data: files, or the ids that say that servers have the data
        switch.json    names of the files and folders that it replaces
    switching/     the same after the decision: the next process that opens the folder finishes the switch

So at any moment one complete backend is in use.
"""

import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from index_store.base.folders import changes_of, make_private, write_all_to_disk

MOVING = "moving"
SWITCHING = "switching"

TO, NEW, OLD, NAMES = "to", "new", "old", "switch.json"

ASIDE = "before-move"
"""the start of the name of the folder that keeps the data used before"""


def prepared(folder: Path, to: str) -> Path:
    """The folder for the new backend's data. Data of an earlier, unfinished move to the same backend stays there."""
    moving = folder / MOVING
    noted = moving / TO
    if not noted.exists() or noted.read_text(encoding="utf-8") != to:
        shutil.rmtree(moving, ignore_errors=True)
        make_private(moving / NEW)
        noted.write_text(to, encoding="utf-8")
    return moving / NEW


def switch(folder: Path, old: Sequence[str]) -> Path:
    """Puts the prepared data in use, in place of `old`, names of files and folders. Returns the folder that has those.

    The caller owns the folder and has closed everything in it. Raises OSError.
    """
    moving = folder / MOVING
    make_private(moving / OLD)
    aside = f"{ASIDE}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    (moving / NAMES).write_text(json.dumps({"aside": aside, "old": list(old)}), encoding="utf-8")
    write_all_to_disk()  # so that a power cut leaves one complete backend
    moving.rename(folder / SWITCHING)
    finish_switch(folder)
    return folder / aside


def finish_switch(folder: Path) -> None:
    """Finishes a switch, also of a process that has died. Raises OSError."""
    switching = folder / SWITCHING
    if not switching.exists():
        return
    with changes_of(folder):  # another process may open it at the same moment
        if (switching / NAMES).exists():
            noted = json.loads((switching / NAMES).read_text(encoding="utf-8"))
            _put_aside(folder, noted["old"], folder / noted["aside"])
            for each in (switching / NEW).iterdir():
                each.rename(folder / each.name)
            write_all_to_disk()
            (switching / NAMES).unlink()
        shutil.rmtree(switching, ignore_errors=True)


def _put_aside(folder: Path, names: Sequence[str], place: Path) -> None:
    old = folder / SWITCHING / OLD
    if old.exists():
        for name in names:
            if (folder / name).exists():
                (folder / name).rename(old / name)
        old.rename(place)
