"""The parser's process as its owner sees it: started on first use, kept between files, started anew after a crash."""

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

from index_store import errors
from index_store.loaders.loaded import Loaded

log = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]


class Parser:
    """One file at a time, each at most `seconds`. Raises DocumentError."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._complaints: IO[bytes] | None = None

    def load(self, path: Path, kind: str, name: str, charset: str | None = None) -> Loaded:
        request = {"path": str(path.absolute()), "kind": kind, "name": name, "charset": charset, "seconds": self._seconds}
        with self._lock:
            answer = self._ask(request)
        if "error" in answer:
            raise getattr(errors, answer["error"])(**answer["details"])
        return Loaded.model_validate(answer["loaded"])

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _ask(self, request: dict[str, object]) -> dict:
        process = self._running()
        timed_out = threading.Event()

        def give_up() -> None:
            timed_out.set()
            process.kill()

        timer = threading.Timer(self._seconds, give_up)
        timer.start()
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, UnicodeDecodeError):
            line = ""
        finally:
            timer.cancel()
        if line.endswith("\n"):
            return json.loads(line)
        self._report(request)
        self._stop()
        if timed_out.is_set():
            raise errors.ParserTimedOut(name=request["name"], seconds=f"{self._seconds:g}")
        raise errors.ParserFailed(name=request["name"])

    def _running(self) -> "subprocess.Popen[str]":
        if self._process and self._process.poll() is None:
            return self._process
        self._stop()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        search_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "index_store.loaders.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            encoding="utf-8",
            env={**_environment(), "PYTHONPATH": search_path, "PYTHONIOENCODING": "utf-8"},
            # Ctrl-C is for the owner alone, who then ends this process by closing its input.
            start_new_session=True,
        )
        return self._process

    def _report(self, request: dict[str, object]) -> None:
        if self._complaints:
            self._complaints.seek(0)
            log.info(
                "the parser ended on %s: %s", request["name"], self._complaints.read()[-4000:].decode(errors="replace")
            )

    def _stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._complaints:
            self._complaints.close()
            self._complaints = None


def _environment() -> dict[str, str]:
    """Without the keys: a file that takes over native code should find none."""
    return {name: value for name, value in os.environ.items() if not name.upper().endswith("_KEY")}
