"""Which backend of a data folder is in use: changed by a single rename.

    moving/        what is prepared, while what is in use stays as it is
        to             which backend it is to be
        new/           what is to take its place: files, or the ids that say that servers have it
        switch.json    names that it takes the place of
    switching/     the same, once that is decided: whoever opens the folder next finishes it

So at any moment one backend is in use, and whole.
"""

import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from index_store.base.folders import changes_of, make_private

MOVING = "moving"
SWITCHING = "switching"

TO, NEW, OLD, NAMES = "to", "new", "old", "switch.json"

ASIDE = "before-move"
"""with which the name of the folder begins that has what was in use before"""


def prepared(folder: Path, to: str) -> Path:
    """Where what is to be in use is put. What an earlier move left there stays, if it was to the same backend."""
    moving = folder / MOVING
    noted = moving / TO
    if not noted.exists() or noted.read_text(encoding="utf-8") != to:
        shutil.rmtree(moving, ignore_errors=True)
        make_private(moving / NEW)
        noted.write_text(to, encoding="utf-8")
    return moving / NEW


def switch(folder: Path, old: Sequence[str]) -> Path:
    """What is prepared is in use from now on, instead of `old`, files and folders of these names. Where those are now.

    By a process that owns the folder and has closed all that is in it. Raises OSError.
    """
    moving = folder / MOVING
    make_private(moving / OLD)
    aside = f"{ASIDE}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    (moving / NAMES).write_text(json.dumps({"aside": aside, "old": list(old)}), encoding="utf-8")
    _write_all_to_disk()
    moving.rename(folder / SWITCHING)
    finish(folder)
    return folder / aside


def finish(folder: Path) -> None:
    """A switch whose process has died. Raises OSError."""
    switching = folder / SWITCHING
    if not switching.exists():
        return
    with changes_of(folder):  # another process may open it at the same moment
        if (switching / NAMES).exists():
            noted = json.loads((switching / NAMES).read_text(encoding="utf-8"))
            _put_aside(folder, noted["old"], folder / noted["aside"])
            for each in (switching / NEW).iterdir():
                each.rename(folder / each.name)
            _write_all_to_disk()
            (switching / NAMES).unlink()
        shutil.rmtree(switching, ignore_errors=True)


def _put_aside(folder: Path, names: Sequence[str], place: Path) -> None:
    old = folder / SWITCHING / OLD
    if old.exists():
        for name in names:
            if (folder / name).exists():
                (folder / name).rename(old / name)
        old.rename(place)


def _write_all_to_disk() -> None:
    """So that a power cut finds either backend whole. Windows has no such call."""
    if hasattr(os, "sync"):
        os.sync()
