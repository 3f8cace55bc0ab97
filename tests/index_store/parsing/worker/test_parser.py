import logging
import os
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.worker import process as process_module
from index_store.parsing.worker import worker
from index_store.parsing.worker.parser import Parser
from index_store.parsing.worker.protocol import ParsedDocument
from tests.conftest import ROOT
from tests.helpers.processes import lives, parsers_of
from tests.helpers.waiting import PATIENCE, eventually

linux = pytest.mark.skipif(sys.platform != "linux", reason="limited, or to be seen, on Linux alone")

TITLE = "出張旅費規程"


@pytest.fixture
def parser(settings: Settings) -> Iterator[Parser]:
    with opened(settings) as parser:
        yield parser


@pytest.fixture
def held(tmp_path: Path) -> Callable[[str], Path]:
    """Pipes: files that take as long to read as the test wants."""

    def make(name: str) -> Path:
        path = tmp_path / name
        os.mkfifo(path)
        return path

    return make


@contextmanager
def opened(settings: Settings, **changes: object) -> Iterator[Parser]:
    parser = Parser(settings.model_copy(update=changes))
    yield parser
    parser.close()


def load(parser: Parser, path: Path, **details: object) -> ParsedDocument:
    return parser.load(RawFile(path, path.name), path.suffix[1:], **details)


def asking(cancelled: threading.Event | None = None) -> tuple[threading.Event, Callable[[], bool]]:
    """What to hand in as `is_cancelled`, after an event that is set when the parser first asks: then the file waits."""
    asked = threading.Event()

    def is_cancelled() -> bool:
        asked.set()
        return cancelled is not None and cancelled.is_set()

    return asked, is_cancelled


MEASURED_OWNER = """
import sys, tracemalloc
from pathlib import Path
from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.worker.parser import Parser

data, path = map(Path, sys.argv[1:])
parser = Parser(Settings(_env_file=None, data_dir=data))
tracemalloc.start()
try:
    print(sum(len(section.text) for section in parser.load(RawFile(path, path.name), path.suffix[1:])))
except errors.TooMuchText as error:
    print(error)
print(tracemalloc.get_traced_memory()[1])
parser.close()
"""


def memory_of_owner(data_dir: Path, path: Path) -> tuple[str, int]:
    """How many characters were loaded, or why none, and the most memory in bytes that it took at one time.

    The owner is a process of its own: in the process of the tests, the threads that earlier tests left would count.
    """
    command = [sys.executable, "-c", MEASURED_OWNER, str(data_dir), str(path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told, peak = ended.stdout.splitlines()
    return told, int(peak)


def is_reading(path: Path) -> Callable[[], bool]:
    """Whether a process of the parser has opened the pipe, or is trying to."""

    def opened() -> bool:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    return opened


def test_a_document_comes_in_sections_with_their_chunks(parser: Parser, handbook: Path) -> None:
    split = load(parser, handbook)
    assert (split.title, split.section_count, split.chunk_count) == (TITLE, 2, 2)
    sections = list(split)
    assert [section.headings for section in sections] == [("日当",), ("Trains",)]
    assert [section.text[chunk.start : chunk.end] for section in sections for chunk in section.chunks] == [
        "日当は1日2,500円です。",
        "The green car needs the approval of a director.",
    ]
    assert list(split) == sections


def test_nothing_of_a_document_stays_on_disk_when_its_sections_were_taken(
    settings: Settings, parser: Parser, handbook: Path
) -> None:
    folder = settings.data_dir / "parsing"
    split = load(parser, handbook)
    assert list(folder.iterdir())
    del split
    assert not list(folder.iterdir())
    load(parser, handbook).close()
    assert not list(folder.iterdir())
    empty = handbook.with_name("empty.txt")
    empty.touch()
    with pytest.raises(errors.EmptyDocument):
        load(parser, empty)
    assert not list(folder.iterdir())


def test_what_a_killed_owner_left_on_disk_is_cleared(settings: Settings) -> None:
    folder = settings.data_dir / "parsing"
    folder.mkdir(parents=True)
    (folder / "left").write_text("over")
    with opened(settings):
        assert not list(folder.iterdir())


def test_a_file_whose_name_is_no_text_is_read(parser: Parser, handbook: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(handbook.parent) + b"/\x93\xfa\x93\x96.md"))
    odd.write_bytes(handbook.read_bytes())
    assert parser.load(RawFile(odd, "a.md"), "md").title == TITLE


def test_a_refusal_crosses_the_process_with_its_words(parser: Parser, tmp_path: Path) -> None:
    file = tmp_path / "photo.txt"
    file.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(errors.WrongContent, match=r"photo\.txt.*PNG"):
        load(parser, file)


@pytest.mark.usefixtures("own_parsers")
@linux
def test_a_process_is_kept_between_files(parser: Parser, handbook: Path) -> None:
    assert not parsers_of(os.getpid())
    load(parser, handbook)
    first = parsers_of(os.getpid())
    assert len(first) == 1
    load(parser, handbook)
    assert parsers_of(os.getpid()) == first


@pytest.mark.usefixtures("own_parsers")
@linux
def test_a_process_is_replaced_after_many_files(parser: Parser, handbook: Path) -> None:
    load(parser, handbook)
    first = parsers_of(os.getpid())
    for _ in range(worker.FILES):
        load(parser, handbook)
    assert len(parsers_of(os.getpid())) == 1
    assert parsers_of(os.getpid()) != first


@pytest.mark.usefixtures("own_parsers")
@linux
def test_a_process_that_ran_out_of_memory_is_replaced(parser: Parser, handbook: Path, tmp_path: Path) -> None:
    load(parser, handbook)
    first = parsers_of(os.getpid())
    with pytest.raises(errors.ParserFailed):
        load(parser, sparse(tmp_path, 3 * 1024))
    assert not first & parsers_of(os.getpid())
    assert load(parser, handbook).title == TITLE


@linux
def test_memory_is_limited_to_what_the_setting_says(settings: Settings, tmp_path: Path) -> None:
    file = sparse(tmp_path, 400)
    with opened(settings, parser_memory_mb=256) as parser, pytest.raises(errors.ParserFailed):
        load(parser, file)
    with opened(settings, parser_memory_mb=1024) as parser, pytest.raises(errors.UnknownEncoding):
        load(parser, file)


def sparse(folder: Path, megabytes: int) -> Path:
    file = folder / "zeros.txt"
    with file.open("wb") as stream:
        stream.truncate(megabytes * 1024**2)  # a sparse file: it needs no space on disk
    return file


@pytest.mark.usefixtures("own_parsers")
def test_a_crash_costs_one_file(
    parser: Parser, handbook: Path, held: Callable[[str], Path], caplog: pytest.LogCaptureFixture
) -> None:
    pipe = held("pipe.txt")
    with ThreadPoolExecutor() as threads:
        crashing = threads.submit(load, parser, pipe)
        with pipe.open("w"):  # waits until the parser opens it
            os.kill(parsers_of(os.getpid()).pop(), signal.SIGSEGV)
            with pytest.raises(errors.ParserFailed):
                crashing.result()
    assert "-11 on pipe.txt" in caplog.text
    assert "read_bytes" in caplog.text
    assert load(parser, handbook).title == TITLE


def test_an_error_that_no_loader_should_raise_costs_one_file_and_is_logged_without_its_words(
    parser: Parser, handbook: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "words of the document"
    folder.mkdir()
    with caplog.at_level(logging.WARNING), pytest.raises(errors.ParserFailed, match=r"plan\.txt"):
        parser.load(RawFile(folder, "plan.txt"), "txt")
    assert "IsADirectoryError" in caplog.text
    assert "read_bytes" in caplog.text
    assert "words of the document" not in caplog.text
    assert load(parser, handbook).title == TITLE


def test_a_hang_is_ended_after_its_time(settings: Settings, handbook: Path, held: Callable[[str], Path]) -> None:
    with opened(settings, parser_timeout=1) as parser:
        with pytest.raises(errors.ParserTimedOut, match="1 seconds"):
            load(parser, held("pipe.txt"))
        parser._settings.parser_timeout = settings.parser_timeout  # a new process may take longer to start
        assert load(parser, handbook).title == TITLE


def test_a_hang_does_not_hold_up_others(settings: Settings, handbook: Path, held: Callable[[str], Path]) -> None:
    pipe = held("pipe.txt")
    with opened(settings, parser_workers=2) as parser, ThreadPoolExecutor() as threads:
        hanging = threads.submit(load, parser, pipe)
        with pipe.open("w") as writer:  # waits until the parser opens it
            for _ in range(5):
                assert load(parser, handbook).title == TITLE
            assert not hanging.done()
            writer.write("Words.")
        assert hanging.result().chunk_count == 1


@pytest.mark.usefixtures("own_parsers")
def test_two_files_are_read_side_by_side_and_no_more(settings: Settings, held: Callable[[str], Path]) -> None:
    pipes = [held(f"{number}.txt") for number in range(3)]
    with opened(settings, parser_workers=2) as parser, ThreadPoolExecutor() as threads:
        loading = [threads.submit(load, parser, pipe) for pipe in pipes[:2]]
        # Opening waits until a process reads from the other end.
        writers = [pipe.open("w") for pipe in pipes[:2]]
        is_waiting, is_cancelled = asking()
        loading.append(threads.submit(load, parser, pipes[2], is_cancelled=is_cancelled))
        assert is_waiting.wait(PATIENCE)
        assert not eventually(is_reading(pipes[2]), seconds=1)
        assert len(parsers_of(os.getpid())) == 2
        for writer in writers:
            writer.write("Words.")
            writer.close()
        pipes[2].write_text("Words.")
        assert [each.result().chunk_count for each in loading] == [1, 1, 1]


def test_files_that_wait_are_read_in_the_order_in_which_they_came(
    settings: Settings, held: Callable[[str], Path]
) -> None:
    pipes = [held(f"{number}.txt") for number in range(6)]
    with opened(settings, parser_workers=1) as parser, ThreadPoolExecutor(max_workers=8) as threads:
        first = held("first.txt")
        loading = [threads.submit(load, parser, first)]
        with first.open("w") as writer:
            for pipe in pipes:
                is_waiting, is_cancelled = asking()
                loading.append(threads.submit(load, parser, pipe, is_cancelled=is_cancelled))
                assert is_waiting.wait(PATIENCE)
            writer.write("Words.")
        for pipe in pipes:
            with pipe.open("w") as writer:  # waits until a process reads it: for ever, if the order is wrong
                writer.write("Words.")
        assert [each.result().chunk_count for each in loading] == [1] * 7


@pytest.mark.timeout(50)  # seconds, less than the limit of the parser
def test_a_file_is_cancelled_while_it_is_read_or_waits_within_a_second(
    settings: Settings, handbook: Path, held: Callable[[str], Path]
) -> None:
    pipe = held("pipe.txt")
    cancelled = threading.Event()
    with opened(settings, parser_workers=1) as parser, ThreadPoolExecutor() as threads:
        reading = threads.submit(load, parser, pipe, is_cancelled=cancelled.is_set)
        writer = pipe.open("w")
        is_waiting, is_cancelled = asking(cancelled)
        waiting = threads.submit(load, parser, handbook, is_cancelled=is_cancelled)
        wanted = threads.submit(load, parser, handbook)
        assert is_waiting.wait(PATIENCE)
        cancelled.set()
        for each in (reading, waiting):
            with pytest.raises(errors.Cancelled):
                each.result()
        assert wanted.result().title == TITLE
        writer.close()


@pytest.mark.usefixtures("own_parsers")
@linux
def test_closing_ends_every_process_and_what_it_reads(settings: Settings, held: Callable[[str], Path]) -> None:
    pipes = [held(f"{number}.txt") for number in range(3)]
    with ThreadPoolExecutor() as threads:
        with opened(settings, parser_workers=2) as parser:
            loading = [threads.submit(load, parser, pipe) for pipe in pipes]
            assert eventually(lambda: len(parsers_of(os.getpid())) == 2)
        assert not parsers_of(os.getpid())
        for each in loading:
            with pytest.raises(errors.Cancelled):
                each.result()
    with pytest.raises(errors.Cancelled):
        load(parser, pipes[0])
    parser.close()


OWNER = """
import sys, threading
from pathlib import Path
from index_store.base.settings.settings import Settings
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.worker.parser import Parser

if __name__ == "__main__":
    parser = Parser(Settings(data_dir=Path(sys.argv[1])))

    def load(path: Path) -> None:
        print(parser.load(RawFile(path, path.name), path.suffix[1:]).title, flush=True)

    for argument in sys.argv[2:]:
        threading.Thread(target=load, args=(Path(argument),)).start()
"""


@linux
def test_no_process_outlives_an_owner_that_is_killed(
    settings: Settings, handbook: Path, held: Callable[[str], Path]
) -> None:
    env = {**os.environ, "PYTHONPATH": str(process_module.ROOT)}
    pipe = held("pipe.txt")
    command = [sys.executable, "-c", OWNER, settings.data_dir, pipe, handbook]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, encoding="utf-8") as owner:
        writer = pipe.open("w")  # one process reads it and does not end by itself
        assert owner.stdout is not None
        assert owner.stdout.readline() == f"{TITLE}\n"  # the other one has finished and is idle
        workers = parsers_of(owner.pid)
        assert len(workers) == 2
        owner.kill()
    assert eventually(lambda: not any(map(lives, workers)))
    writer.close()


@pytest.mark.usefixtures("own_parsers")
@linux
def test_a_process_outlives_the_thread_that_started_it(parser: Parser, handbook: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        threads.submit(load, parser, handbook).result()
        thread = threads.submit(threading.get_native_id).result()
    first = parsers_of(os.getpid())
    assert eventually(lambda: not Path(f"/proc/self/task/{thread}").exists())  # Python does not wait for its very end
    load(parser, handbook)
    assert parsers_of(os.getpid()) == first


@pytest.mark.usefixtures("own_parsers")
@linux
def test_a_process_gets_no_keys(parser: Parser, handbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret")
    monkeypatch.setenv("DATABASE_URL", "postgres://user:a-secret@db.example/rag")
    load(parser, handbook)
    (pid,) = parsers_of(os.getpid())
    assert b"a-secret" not in Path(f"/proc/{pid}/environ").read_bytes()


@pytest.mark.parametrize(
    ("suffix", "millions"),
    [("txt", 25), *(pytest.param(each, 200, marks=pytest.mark.soak) for each in ("txt", "md", "csv"))],
)
def test_a_document_of_more_text_than_can_be_split_is_told_so(tmp_path: Path, suffix: str, millions: int) -> None:
    huge = tmp_path / f"huge.{suffix}"
    with huge.open("w") as file:
        for _ in range(millions):
            file.write("A million characters.\n" * 45_455)
    ended, peak = memory_of_owner(tmp_path / "data", huge)
    assert "more than 20,000,000 characters" in ended
    assert peak < 1024**2


@pytest.mark.soak
def test_a_large_document_takes_its_owner_the_memory_of_a_section(tmp_path: Path) -> None:
    large = tmp_path / "large.md"
    with large.open("w") as file:
        for number in range(1000):
            file.write(f"## Part {number}\n\n" + "The quick brown fox jumps over the lazy dog. " * 60 + "\n\n")
    characters, peak = memory_of_owner(tmp_path / "data", large)
    assert int(characters) > 2_600_000
    assert peak < 512 * 1024


@pytest.mark.parametrize("line", [b"no JSON\n", b'{"headings": [], "text": 5}\n', b'{"headings": ["a'])
def test_sections_that_no_parser_wrote_are_refused(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "sections"
    file.write_bytes(line)
    with pytest.raises(errors.ParserFailed, match=r"a\.md"):
        list(ParsedDocument("title", "a.md", 1, 1, file))


def test_an_archive_is_unpacked_in_a_process_too(parser: Parser, handbook: Path, tmp_path: Path) -> None:
    archive = tmp_path / "papers.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(handbook, "travel/規程.md")
        file.writestr("travel/film.mov", b"frames")
    folder = tmp_path / "unpacked"
    folder.mkdir()
    unpacked = parser.unpack(archive, "papers.zip", folder)
    (member,) = unpacked.members
    assert member.name == "travel/規程.md"
    assert member.path.read_bytes() == handbook.read_bytes()
    ((refused, error),) = unpacked.refused
    assert refused == "travel/film.mov"
    assert isinstance(error, errors.UnknownKind)
    archive.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(errors.Unreadable, match=r"papers\.zip"):
        parser.unpack(archive, "papers.zip", folder)
