"""A parser's process as its owner sees it: started on first use, kept between files, started anew after a crash."""

import logging
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from index_store.base import errors
from index_store.parsing.worker.protocol import Answer, Request

log = logging.getLogger(__name__)

ROOT = Path(__file__).parents[3]

LOOK = 0.1
"""seconds between looks at the clock and at whether the file is still wanted"""

ANSWER = 1024 * 1024
"""bytes of a line that is answered at most: a title, numbers, or an error; all else goes through a file"""

DYING = 5
"""seconds that a process which has closed its output may take to end, so that how it ended is known"""

COMPLAINTS = 8000
"""bytes of a traceback that are logged"""

_KEPT = re.compile(r"PATH|HOME|LANG|LC_.*|TZ|TMP|TEMP|TMPDIR|SYSTEMROOT|LD_LIBRARY_PATH|VIRTUAL_ENV|PYTHON.*", re.I)
"""what of the environment Python needs: a file that takes over native code should find no keys"""


class Process:
    """One request at a time."""

    def __init__(self) -> None:
        self._popen: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None
        self._lifeline: IO[bytes] | None = None
        """a pipe that is never written to; when this end closes, as by the owner's death, the kernel ends the process"""

    @property
    def pid(self) -> int | None:
        return self._popen.pid if self._popen else None

    def ask(self, request: Request, is_cancelled: Callable[[], bool]) -> Answer:
        """Raises ParserFailed, ParserTimedOut and Cancelled, after which there is no process any more."""
        popen = self._running()
        why_killed: list[errors.DocumentError] = []
        answered = threading.Event()

        def watch() -> None:
            deadline = time.monotonic() + request.seconds
            while not answered.wait(LOOK):
                if is_cancelled():
                    why_killed.append(errors.Cancelled(name=request.name))
                elif time.monotonic() > deadline:
                    why_killed.append(errors.ParserTimedOut(name=request.name, seconds=f"{request.seconds:g}"))
                else:
                    continue
                popen.kill()
                return

        watcher = threading.Thread(target=watch, name="parser-watch", daemon=True)
        watcher.start()
        line = b""
        try:
            popen.stdin.write(request.line())
            popen.stdin.flush()
            line = popen.stdout.readline(ANSWER)
        except BrokenPipeError:
            pass  # it died, as an empty line says too
        except BaseException:
            # Ctrl-C: what it still answers would be taken for the next file's.
            self.stop()
            raise
        finally:
            answered.set()
            watcher.join()
        if why_killed:
            self.stop()
            raise why_killed[0]
        try:
            answer = Answer.model_validate_json(line)
        except ValidationError as error:
            self._report(request.name)
            self.stop()
            raise errors.ParserFailed(name=request.name) from error
        if answer.is_worn:
            self.stop()
        return answer

    def stop(self) -> None:
        if self._popen:
            self._popen.kill()
            self._popen.communicate()
            self._popen = None
        if self._lifeline:
            self._lifeline.close()
            self._lifeline = None
        if self._complaints:
            self._complaints.close()
            self._complaints = None

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._popen and self._popen.poll() is None:
            return self._popen
        self.stop()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
        search_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        # Threads of a mathematical library are started when it is imported, each with memory of its own.
        single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
        inherited = []
        if sys.platform == "linux":
            theirs, ours = os.pipe()
            self._lifeline = os.fdopen(ours, "wb", buffering=0)
            inherited.append(theirs)
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "index_store.parsing.worker.worker", *map(str, inherited)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                env={**kept, **single, "PYTHONPATH": search_path, "PYTHONIOENCODING": "utf-8"},
                pass_fds=inherited,
                # Ctrl-C is for the owner alone, who then ends this process by closing its input.
                start_new_session=True,
            )
        finally:
            for descriptor in inherited:
                os.close(descriptor)
        return self._popen

    def _report(self, name: str) -> None:
        try:
            code = self._popen.wait(DYING)
        except subprocess.TimeoutExpired:
            code = None
        self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, self._complaints.tell() - COMPLAINTS))
        text = self._complaints.read().decode(errors="replace")
        log.warning("the parser's process ended with %s on %s\n%s", code, name, text)
