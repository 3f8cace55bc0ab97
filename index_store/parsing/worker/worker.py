"""The parser's process: reads one request per line, answers one line, until its standard input ends.

A file can crash or hang a parser, or make it take all memory; only this process is lost then. It is not a sandbox: it
limits memory, time and written files, but not what native code under an attacker's control may do.
"""

import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from index_store.base.errors import DocumentError, NoText, ParserFailed, TooMuchText
from index_store.base.errors.causes import causes
from index_store.parsing.chunking.chunker import chunk_document
from index_store.parsing.loaders.document import CHARACTERS, RawFile
from index_store.parsing.loaders.formats import BY_KIND, Load
from index_store.parsing.worker import limits
from index_store.parsing.worker.protocol import Listing, ParserRequest, ParserResponse, Refusal, write_sections

if TYPE_CHECKING:
    from index_store.parsing.loaders.archive import Unpacked

FILES = 200
"""after which the process is replaced, to free what libraries leak; starting one takes 0.25 s"""

NICENESS = 10
"""of 19: answers and pages, for which people wait, go before parsing"""

GRACE = 10
"""seconds beyond a file's own time, after which the process ends itself if the kernel does not watch its owner"""


def main() -> None:
    # Output of libraries must not get into the answers or into a log: it may quote the document.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    complaints = os.fdopen(os.dup(2), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    faulthandler.enable(complaints)
    sys.excepthook = lambda _kind, error, _trace: _complain(error, complaints.write)

    if sys.platform != "win32":
        os.nice(NICENESS)
    for lifeline in sys.argv[1:]:
        _end_with_owner(int(lifeline))
    libraries = limits.address_space()
    for count, line in enumerate(sys.stdin, 1):
        request = ParserRequest.of_line(line)
        with _ended_in_time(request.seconds):
            before = limits.address_space()
            limits.lift()
            work = _work(request)
            libraries += limits.address_space() - before
            limits.limit(request.memory, request.file_size)
            answer = _answer(request, work)
        grown = limits.address_space() - libraries
        # Memory that is not freed, because of leaks or fragments, would be added to the next file's limit.
        if count >= FILES or grown > request.memory // 4:
            answer = answer.model_copy(update={"is_worn": True})
        answers.write(answer.model_dump_json() + "\n")
        answers.flush()


def _work(request: ParserRequest) -> Callable[[], ParserResponse]:
    """Imports the libraries first, so that they don't count as the file's memory."""
    if request.folder is not None:
        from index_store.parsing.loaders.archive import unpack

        return partial(_unpack, unpack, request, Path(request.folder))
    return partial(_load, BY_KIND[request.kind].loader(), request)


def _answer(request: ParserRequest, work: Callable[[], ParserResponse]) -> ParserResponse:
    try:
        return work()
    except DocumentError as error:
        return ParserResponse(refusal=Refusal.of(error))
    except (MemoryError, RecursionError):
        return ParserResponse(refusal=Refusal.of(ParserFailed(name=request.name)), is_worn=True)


def _load(load: Load, request: ParserRequest) -> ParserResponse:
    loaded = load(RawFile(Path(request.path), request.name, request.charset))
    if sum(len(page.markdown) for page in loaded.pages) > CHARACTERS:
        raise TooMuchText(name=request.name, limit=f"{CHARACTERS:,}")
    found = chunk_document(loaded, request.chunk_size, request.chunk_overlap, request.archive_folder)
    chunks = sum(len(section.chunks) for section in found)
    if not chunks:
        raise NoText(name=request.name)
    write_sections(Path(request.result), found)
    return ParserResponse(
        title=loaded.title, pages_without_text=loaded.pages_without_text, sections=len(found), chunks=chunks
    )


def _unpack(unpack: Callable[[Path, str, Path], "Unpacked"], request: ParserRequest, folder: Path) -> ParserResponse:
    unpacked = unpack(Path(request.path), request.name, folder)
    listing = Listing(
        members=[(member.name, member.path) for member in unpacked.members],
        refused=[(name, Refusal.of(error)) for name, error in unpacked.refused],
    )
    Path(request.result).write_text(listing.model_dump_json(), encoding="utf-8")
    return ParserResponse()


def _complain(error: BaseException, write: Callable[[str], object]) -> None:
    """Writes a traceback without the error's own words: they may quote the document."""
    for each in causes(error):
        write("".join(traceback.format_tb(each.__traceback__)) + type(each).__qualname__ + "\n")


def _end_with_owner(lifeline: int) -> None:
    """Makes the kernel end this process when its owner is gone, even within native code that holds Python's lock.

    The owner holds the other end of the pipe `lifeline` and never writes to it, so its only event is the hang-up.
    Standard input can't be watched instead: the owner's next write is an event, too. PR_SET_PDEATHSIG would end this
    process with the *thread* that started it.
    """
    if sys.platform == "linux":
        import fcntl
        import select

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
        already = select.poll()
        already.register(lifeline, 0)
        if already.poll(0):
            sys.exit()


@contextmanager
def _ended_in_time(seconds: float) -> Iterator[None]:
    """Used if the kernel does not watch the owner: limits a file's time to what its owner would wait."""
    if sys.platform == "linux" or not hasattr(signal, "alarm"):
        yield
        return
    signal.alarm(int(seconds) + GRACE)
    yield
    signal.alarm(0)


if __name__ == "__main__":
    main()
