"""A parser's process, seen by its owner: started on first use, kept between files, restarted after a crash."""

import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from index_store.base import errors
from index_store.base.process.child_process import environment
from index_store.parsing.worker.protocol import ParserRequest, ParserResponse

log = logging.getLogger(__name__)

ROOT = Path(__file__).parents[3]

CHECK_SECONDS = 0.1
"""seconds between checks of the time, and of whether the file is still wanted"""

ANSWER = 1024 * 1024
"""bytes of an answer at most: a title, numbers, or an error; all other data is in a file"""

DYING = 5
"""seconds for a process that has closed its output to end, so that its exit status is known"""

COMPLAINTS = 8000
"""bytes of a traceback that are logged"""


@dataclass(frozen=True)
class _Running:
    popen: "subprocess.Popen[bytes]"
    requests: IO[bytes]
    answers: IO[bytes]
    complaints: IO[bytes]
    lifeline: IO[bytes] | None
    """a pipe that nobody writes to: when this end closes, even by the owner's death, the kernel ends the process"""


class Process:
    """Handles one request at a time."""

    def __init__(self) -> None:
        self._running: _Running | None = None

    def ask(self, request: ParserRequest, is_cancelled: Callable[[], bool]) -> ParserResponse:
        """Raises ParserFailed, ParserTimedOut and Cancelled; after each, the process has ended."""
        running = self._started()
        why_killed: list[errors.DocumentError] = []
        answered = threading.Event()

        def watch() -> None:
            deadline = time.monotonic() + request.seconds
            while not answered.wait(CHECK_SECONDS):
                if is_cancelled():
                    why_killed.append(errors.Cancelled(name=request.name))
                elif time.monotonic() > deadline:
                    why_killed.append(errors.ParserTimedOut(name=request.name, seconds=f"{request.seconds:g}"))
                else:
                    continue
                running.popen.kill()
                return

        watcher = threading.Thread(target=watch, name="parser-watch", daemon=True)
        watcher.start()
        line = b""
        try:
            # If the process has died, no answer comes either.
            with suppress(BrokenPipeError):
                running.requests.write(request.line())
                running.requests.flush()
                line = running.answers.readline(ANSWER)
        except BaseException:
            # Ctrl-C: a late answer would be taken for the next file's.
            self.stop()
            raise
        finally:
            answered.set()
            watcher.join()
        if why_killed:
            self.stop()
            raise why_killed[0]
        try:
            answer = ParserResponse.model_validate_json(line)
        except ValidationError as error:
            _report(running, request.name)
            self.stop()
            raise errors.ParserFailed(name=request.name) from error
        if answer.is_worn:
            self.stop()
        return answer

    def stop(self) -> None:
        running, self._running = self._running, None
        if running:
            running.popen.kill()
            running.popen.communicate()
            running.complaints.close()
            if running.lifeline:
                running.lifeline.close()

    def _started(self) -> _Running:
        if self._running and self._running.popen.poll() is None:
            return self._running
        self.stop()
        self._running = _start()
        return self._running


def _start() -> _Running:
    search_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # A mathematical library starts its threads when it is imported, each with its own memory.
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
    lifeline: IO[bytes] | None = None
    inherited: list[int] = []
    if sys.platform == "linux":
        theirs, ours = os.pipe()
        inherited.append(theirs)
        lifeline = os.fdopen(ours, "wb", buffering=0)
    try:
        popen = subprocess.Popen(  # noqa: S603 - of this very program
            [sys.executable, "-m", "index_store.parsing.worker.worker", *map(str, inherited)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={**environment(), **single, "PYTHONPATH": search_path, "PYTHONIOENCODING": "utf-8"},
            pass_fds=inherited,
            # Only the owner gets Ctrl-C; it then ends this process by closing its input.
            start_new_session=True,
        )
    finally:
        for descriptor in inherited:
            os.close(descriptor)
    if popen.stdin is None or popen.stdout is None:
        raise AssertionError("both are pipes")
    return _Running(popen, popen.stdin, popen.stdout, complaints, lifeline)


def _report(running: _Running, name: str) -> None:
    try:
        code = running.popen.wait(DYING)
    except subprocess.TimeoutExpired:
        code = None
    complaints = running.complaints
    complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, complaints.tell() - COMPLAINTS))
    text = complaints.read().decode(errors="replace")
    log.warning("the parser's process ended with %s on %s\n%s", code, name, text)
