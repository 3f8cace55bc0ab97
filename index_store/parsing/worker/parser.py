"""Parses files to sections in a few processes: a file that crashes its parser, hangs or takes all memory affects no
other file.
"""

import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from index_store.base import errors
from index_store.base.settings.settings import MEGABYTE, Settings
from index_store.parsing.loaders.document import RawFile
from index_store.parsing.worker.process import CHECK_SECONDS, Process
from index_store.parsing.worker.protocol import Listing, ParsedDocument, ParserRequest, ParserResponse

if TYPE_CHECKING:
    from index_store.parsing.loaders.archive import Unpacked

WRITTEN = 512 * MEGABYTE
"""of sections: the JSON of the most characters that a document may have, with the headings of each chunk"""

LISTING = 64 * MEGABYTE
"""of JSON: the members of an archive, about 200,000"""


def _never() -> bool:
    return False


class Parser:
    """At most `PARSER_WORKERS` processes, each started at first use and with one file at a time.

    Thread-safe; calls are served in the order in which they came. Results are passed through `DATA_DIR/parsing`, a
    folder that this parser owns.
    """

    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        """`folder`: a folder of this process, in place of `DATA_DIR/parsing`."""
        self._settings = settings
        self._folder = folder or settings.data_dir.absolute() / "parsing"
        self._free = [Process() for _ in range(settings.parser_workers)]
        self._waiting: deque[object] = deque()
        self._turn = threading.Condition()
        self._is_closed = threading.Event()
        for leftover in self._folder.glob("*"):
            leftover.unlink()

    def load(self, file: RawFile, kind: str, is_cancelled: Callable[[], bool] = _never) -> ParsedDocument:
        """`is_cancelled` is called ten times a second, from another thread.

        Raises DocumentError: Cancelled, ParserFailed, ParserTimedOut, TooMuchText, NoText, and what the loader raises.
        """
        with self._result_file() as result:
            request = self._request(
                file.path,
                file.name,
                kind=kind,
                charset=file.charset,
                archive_folder=file.archive_folder,
                result=str(result),
                file_size=WRITTEN,
            )
            answer = self._ask(request, is_cancelled)
            return ParsedDocument(
                answer.title,
                file.name,
                answer.sections,
                answer.chunks,
                result,
                pages_without_text=answer.pages_without_text,
            )

    def unpack(self, path: Path, name: str, folder: Path, is_cancelled: Callable[[], bool] = _never) -> "Unpacked":
        """An archive's members, as files in `folder`, which the caller must clear in any case.

        Raises DocumentError.
        """
        from index_store.parsing.loaders.archive import Member, Unpacked

        file_size = max(int(self._settings.max_file_mb * MEGABYTE), LISTING)
        with self._result_file() as result:
            request = self._request(
                path, name, kind="zip", folder=str(folder.absolute()), result=str(result), file_size=file_size
            )
            self._ask(request, is_cancelled)
            listing = _listing(result, name)
            result.unlink()
        inside = folder.resolve()
        if any(at.is_symlink() or inside not in at.resolve().parents for _, at in listing.members):
            raise errors.ParserFailed(name=name)
        return Unpacked(
            members=[Member(name=member, path=at) for member, at in listing.members],
            refused=[(member, refusal.error(member)) for member, refusal in listing.refused],
        )

    def close(self) -> None:
        """Ends every process; files that are being read or wait are Cancelled. Closing twice is fine."""
        self._is_closed.set()
        with self._turn:
            self._turn.notify_all()
            self._turn.wait_for(lambda: len(self._free) == self._settings.parser_workers)
            for process in self._free:
                process.stop()

    def _request(self, path: Path, name: str, **details: Any) -> ParserRequest:
        return ParserRequest(
            path=str(path.absolute()),
            name=name,
            seconds=self._settings.parser_timeout,
            memory=self._settings.parser_memory_mb * MEGABYTE,
            chunk_size=self._settings.chunk_size,
            chunk_overlap=self._settings.chunk_overlap,
            **details,
        )

    def _ask(self, request: ParserRequest, is_cancelled: Callable[[], bool]) -> ParserResponse:
        def is_unwanted() -> bool:
            return self._is_closed.is_set() or is_cancelled()

        with self._process(request.name, is_unwanted) as process:
            answer = process.ask(request, is_unwanted)
        if answer.refusal:
            raise answer.refusal.error(request.name)
        return answer

    @contextmanager
    def _process(self, name: str, is_unwanted: Callable[[], bool]) -> Iterator[Process]:
        """A free process, when it is this caller's turn."""
        caller = object()
        with self._turn:
            self._waiting.append(caller)
            try:
                while True:
                    if is_unwanted():
                        raise errors.Cancelled(name=name)
                    if self._free and self._waiting[0] is caller:
                        break
                    self._turn.wait(CHECK_SECONDS)
                # The last one used, because it is already running.
                process = self._free.pop()
            finally:
                self._waiting.remove(caller)
                self._turn.notify_all()
        try:
            yield process
        finally:
            with self._turn:
                self._free.append(process)
                self._turn.notify_all()

    @contextmanager
    def _result_file(self) -> Iterator[Path]:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / uuid.uuid4().hex
        try:
            yield path
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _listing(file: Path, name: str) -> Listing:
    try:
        with file.open("rb") as stream:
            return Listing.model_validate_json(stream.read(LISTING))
    except ValidationError as error:
        raise errors.ParserFailed(name=name) from error
