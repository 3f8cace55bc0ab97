"""The embedded model's process, seen from its parent: started on first use, restarted if it dies, always ended."""

import atexit
import json
import logging
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx2

from index_store.base.process.child_process import environment
from rag.models.embedded.engines import choice
from rag.models.embedded.errors import (
    EmbeddedModelError,
    EngineMissing,
    LibraryMissing,
    ModelDidNotStart,
    ModelMissing,
    ModelNotWritable,
    ProcessorTooOld,
)

log = logging.getLogger(__name__)

START_LIMIT = 180
"""seconds to load the model: 4 from a warm disk, 60 at 20 MB/s"""
HEALTH_LIMIT = 10
"""seconds to answer a first request without a prompt"""
STOP_LIMIT = 5
"""seconds for a child to end after it was told to"""

PATIENT_THREADS = {"GOMP_SPINCOUNT": "1000"}
"""A thread of llama.cpp that waits for other threads of a computation soon sleeps. By default it spins: on a busy
machine it takes the time of the threads that it waits for. Figures: docs/decisions/models/embedded-chat-model.md"""

NO_LIBRARY = re.compile(r"^ImportError: (?P<name>[^:\n]+): cannot open shared object file", re.MULTILINE)
"""how Linux says that a library of the system is missing, in the log of a child"""


@dataclass(frozen=True)
class Endpoint:
    base_url: str
    """of OpenAI's protocol, with /v1"""
    api_key: str = field(repr=False)


class EmbeddedServer:
    """Serves one GGUF file from a child process, so that a crash of native code does not end the app."""

    def __init__(self, model_path: Path, log_path: Path, start_limit: float = START_LIMIT) -> None:
        self.model_path = model_path
        self.log_path = log_path
        self.start_limit = start_limit
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._endpoint: Endpoint | None = None

    def start(self) -> Endpoint:
        """The endpoint of the running model; blocks while it loads. Safe in any thread.

        Raises an EmbeddedModelError.
        """
        with self._lock:
            if self._endpoint and self.is_running():
                return self._endpoint
            if self._child:
                log.warning(
                    "The embedded chat model ended with status %s. It is started again. What it wrote is in %s.",
                    self._child.returncode,
                    self.log_before,
                )
                self._end_child()
            self._endpoint = self._launch()
            return self._endpoint

    def is_running(self) -> bool:
        """True if the model is loaded, so that `start` returns at once."""
        child = self._child
        return self._endpoint is not None and child is not None and child.poll() is None

    def stop(self) -> None:
        """Ends the child process if there is one, also while it loads its model. `start` may be called again."""
        child = self._child
        if child and not self._endpoint:  # a waiting `start` holds the lock
            child.kill()
        with self._lock:
            self._end_child()

    def _launch(self) -> Endpoint:
        if not choice.engine_is_installed():
            raise EngineMissing
        # `is_file` raises an error for a path in the folder of another user.
        if not (os.access(self.model_path, os.R_OK) and self.model_path.is_file()):
            raise ModelMissing(path=self.model_path)
        self._child = child = self._spawn()
        atexit.register(self.stop)
        api_key = secrets.token_urlsafe(32)
        is_given_up = threading.Event()

        def give_up() -> None:
            is_given_up.set()  # before the kill, after which this thread may stand still
            child.kill()

        patience = threading.Timer(self.start_limit, give_up)
        patience.start()
        try:
            address = _introduce(child, api_key)
            httpx2.get(f"{address}/health", timeout=HEALTH_LIMIT, trust_env=False).raise_for_status()
        except (OSError, ValueError, httpx2.HTTPError) as error:
            timed_out = is_given_up.is_set()
            status = self._end_child()
            raise self._explanation(status, timed_out) from error
        finally:
            patience.cancel()
        return Endpoint(base_url=f"{address}/v1", api_key=api_key)

    @property
    def log_before(self) -> Path:
        """Why the process before this one ended. If it is that of another app, it writes on there."""
        return self.log_path.with_name(f"{self.log_path.name}.before")

    def command(self) -> list[str]:
        return [sys.executable, "-m", *choice.command(self.model_path)]

    def _spawn(self) -> subprocess.Popen[str]:
        try:
            self.log_path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                self.log_path.replace(self.log_before)
            with self.log_path.open("w") as log_file:
                return subprocess.Popen(  # noqa: S603 - our own module; the path can't be an option
                    self.command(),
                    cwd=Path(__file__).parents[3],
                    env=environment() | PATIENT_THREADS,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log_file,
                    text=True,
                    start_new_session=True,  # Ctrl-C is for the app, which ends the child when it no longer needs it
                )
        except OSError as error:
            raise ModelNotWritable(folder=self.log_path.parent, reason=error.strerror) from error

    def _explanation(self, status: int | None, timed_out: bool) -> EmbeddedModelError:
        if status == -signal.SIGILL:
            return ProcessorTooOld()
        if missing := NO_LIBRARY.search(self.log_path.read_text(encoding="utf-8", errors="replace")):
            return LibraryMissing(library=missing["name"])
        reason = f"not ready after {self.start_limit:g} s" if timed_out else f"exit status {status}"
        return ModelDidNotStart(path=self.model_path, log=self.log_path, reason=reason)

    def _end_child(self) -> int | None:
        """The child's exit status, negative for a signal; None if there was no child."""
        child, self._child, self._endpoint = self._child, None, None
        if child is None:
            return None
        atexit.unregister(self.stop)
        with suppress(BrokenPipeError):  # text that a dead child did not read
            _pipe(child.stdin).close()
        try:
            child.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        _pipe(child.stdout).close()
        return child.returncode


def _introduce(child: subprocess.Popen[str], api_key: str) -> str:
    """Sends the child its key and returns the address that it prints. Raises ValueError if it ended before."""
    keys = _pipe(child.stdin)
    keys.write(f"{api_key}\n")
    keys.flush()
    return str(json.loads(_pipe(child.stdout).readline())["address"])


def _pipe(end: IO[str] | None) -> IO[str]:
    """A pipe of a child that was started with pipes."""
    if end is None:
        raise TypeError
    return end
