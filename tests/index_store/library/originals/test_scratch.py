import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from index_store.library.originals.folder import Folder
from index_store.library.originals.scratch import STAGED_SECONDS


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Folder]:
    """The originals as one of several processes has them open."""
    with closing(opened(tmp_path / "originals")) as folder:
        yield folder


def opened(place: Path) -> Folder:
    folder = Folder(place, is_alone=False)
    folder.begin()
    return folder


def let_a_day_pass(place: Path) -> None:
    for staging in place.glob("staging*"):
        then = time.time() - STAGED_SECONDS - 60
        os.utime(staging, (then, then))


def test_a_process_that_starts_leaves_the_files_of_one_that_lives(one: Folder, tmp_path: Path) -> None:
    place = tmp_path / "originals"
    with one.work_folder() as crawl:
        (crawl / "page.html").write_text("a page")
        let_a_day_pass(place)
        with closing(opened(place)):
            assert one.stage(crawl / "page.html", move=True).size == len("a page")


def test_a_process_whose_folder_was_deleted_makes_it_again(one: Folder, tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("words")
    for staging in (tmp_path / "originals").glob("staging*"):
        for left in staging.iterdir():
            left.unlink()
        staging.rmdir()
    assert one.stage(file, move=False).size == len("words")


def test_what_a_killed_process_has_left_is_deleted_after_a_day(tmp_path: Path) -> None:
    place, file = tmp_path / "originals", tmp_path / "a.md"
    file.write_text("words")
    script = """
import os, signal, sys
from pathlib import Path
from index_store.library.originals.folder import Folder

folder = Folder(Path(sys.argv[1]), is_alone=False)
folder.begin()
folder.stage(Path(sys.argv[2]), move=False)
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script, place, file], check=False)
    with closing(opened(place)):
        assert len(list(place.glob("staging*"))) == 2
    let_a_day_pass(place)
    with closing(opened(place)):
        assert len(list(place.glob("staging*"))) == 1
    assert list(place.iterdir()) == []
