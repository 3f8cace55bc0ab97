"""A process of the parser, used directly through its protocol: it answers each request, and ends with its owner."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from index_store.base.settings.settings import Settings
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.worker.parser import Parser
from index_store.parsing.worker.protocol import ParserRequest, ParserResponse
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel watches the owner on Linux alone")

COMMAND = [sys.executable, "-m", "index_store.parsing.worker.worker"]

PATIENCE = 60
"""seconds for a process to end"""


def request(path: Path, result: Path) -> bytes:
    return ParserRequest(
        str(path), path.name, "txt", str(result), seconds=60, memory=2**30, file_size=2**20, chunk_size=100,
        chunk_overlap=0,
    ).line()  # fmt: skip


def test_a_request_that_comes_while_a_file_is_read_ends_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    small = tmp_path / "small.txt"
    small.write_text("Words.")
    theirs, ours = os.pipe()
    with subprocess.Popen(
        [*COMMAND, str(theirs)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, pass_fds=[theirs]
    ) as process:
        os.close(theirs)
        assert process.stdin
        assert process.stdout
        process.stdin.write(request(pipe, tmp_path / "first"))
        process.stdin.flush()
        with pipe.open("w") as writer:  # waits until the process opens it
            process.stdin.write(request(small, tmp_path / "second"))
            process.stdin.flush()
            writer.write("More words.")
        answers = [ParserResponse.model_validate_json(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
    os.close(ours)
    assert [answer.chunks for answer in answers] == [1, 1]


BUSY = """
import re, sys
from index_store.parsing.worker import worker
worker._end_with_owner(int(sys.argv[1]))
print("begun", flush=True)
re.match("(a+)+$", "a" * 60 + "b")  # for years, in native code that never lets another thread run
"""


def test_an_owner_that_is_gone_ends_a_process_that_hangs_in_native_code() -> None:
    theirs, ours = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", BUSY, str(theirs)], stdout=subprocess.PIPE, cwd=ROOT, pass_fds=[theirs]
    ) as process:
        os.close(theirs)
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        os.close(ours)
        assert process.wait(PATIENCE) < 0


@pytest.mark.soak  # one that goes later is tested above
def test_an_owner_that_was_gone_before_ends_a_process_too() -> None:
    theirs, ours = os.pipe()
    os.close(ours)
    command = [*COMMAND, str(theirs)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=ROOT, pass_fds=[theirs], timeout=PATIENCE, check=False)
    os.close(theirs)
    assert done.returncode == 0


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("busy", [0, 2], ids=["idle", "two busy loops beside it"])
def test_no_load_of_a_hundred_thousand_is_lost(settings: Settings, handbook: Path, busy: int) -> None:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    parser = Parser(settings)
    try:
        for _ in range(100_000):
            parser.load(RawFile(handbook, handbook.name), "md").close()
    finally:
        parser.close()
        for loop in loops:
            loop.kill()
            loop.wait()
