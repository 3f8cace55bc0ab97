import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from index_store import errors
from index_store.loaders import parser as parser_module
from index_store.loaders.parser import Parser


@pytest.fixture
def parser() -> Iterator[Parser]:
    parser = Parser(seconds=60)
    yield parser
    parser.close()


def worker_of(parser: Parser) -> int:
    assert parser._process
    return parser._process.pid


def test_the_process_is_kept_between_files(parser: Parser, handbook: Path) -> None:
    parser.load(handbook, "md", "handbook.md")
    first = worker_of(parser)
    parser.load(handbook, "md", "handbook.md")
    assert worker_of(parser) == first


def test_a_refusal_crosses_the_process_with_its_words(parser: Parser, tmp_path: Path) -> None:
    file = tmp_path / "photo.txt"
    file.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(errors.WrongContent, match=r"photo\.txt.*PNG"):
        parser.load(file, "txt", "photo.txt")


def test_a_crash_costs_one_file(parser: Parser, handbook: Path, tmp_path: Path) -> None:
    parser.load(handbook, "md", "handbook.md")
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)  # reading it waits until the process is killed below

    crash = threading.Timer(0.5, os.kill, (worker_of(parser), signal.SIGSEGV))
    crash.start()
    with pytest.raises(errors.ParserFailed):
        parser.load(pipe, "txt", "pipe.txt")
    assert parser.load(handbook, "md", "handbook.md").title == "出張旅費規程"


def test_a_hang_is_ended_after_its_time_and_costs_one_file(handbook: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    parser = Parser(seconds=3)
    started = time.monotonic()
    with pytest.raises(errors.ParserTimedOut, match="3 seconds"):
        parser.load(pipe, "txt", "pipe.txt")
    assert time.monotonic() - started < 6
    assert parser.load(handbook, "md", "handbook.md").title == "出張旅費規程"
    parser.close()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
def test_a_file_that_needs_too_much_memory_costs_one_file(parser: Parser, handbook: Path, tmp_path: Path) -> None:
    huge = tmp_path / "huge.txt"
    with huge.open("wb") as file:
        file.truncate(3 * 1024**3)  # sparse: takes no room on disk
    with pytest.raises(errors.ParserFailed):
        parser.load(huge, "txt", "huge.txt")
    assert parser.load(handbook, "md", "handbook.md").title == "出張旅費規程"


def test_the_process_ends_when_its_owner_does(handbook: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from index_store.loaders.parser import Parser\n"
        "parser = Parser(60); parser.load(Path(sys.argv[1]), 'md', 'a.md'); print(parser._process.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    env = {**os.environ, "PYTHONPATH": str(parser_module.ROOT)}
    done = subprocess.run([sys.executable, "-c", code, str(handbook)], capture_output=True, text=True, env=env)
    worker = Path("/proc") / done.stdout.strip()
    for _ in range(100):
        if not worker.exists() or "Z" in (worker / "stat").read_text().rsplit(")", 1)[1].split()[0]:
            return
        time.sleep(0.1)
    pytest.fail("the parser's process is still there")


def test_the_process_does_not_get_the_keys(parser: Parser, handbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret")
    parser.load(handbook, "md", "handbook.md")
    assert b"sk-a-secret" not in Path(f"/proc/{worker_of(parser)}/environ").read_bytes()
