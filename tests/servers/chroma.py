"""A Chroma server, `chroma run` of the package, with its own folder and port; and a proxy in front of it."""

import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self

import httpx

from tests.servers.loopback import Connection, Fault, LoopbackServer, Refusal, Request
from tests.servers.ports import free_port

ROOM = 64 * 1024
"""bytes of a file on a full disk: without the 32 KB that SQLite's connections share, Chroma hangs"""

PATIENCE = 60
"""seconds for its start"""


class ChromaServer:
    """A context manager. After another start, it has the same port."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: stays, and may already have content. Without it, a temporary folder is used and removed."""
        self._is_kept = folder is not None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="chroma-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        if not self._is_kept:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._process and self._process.pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def command(self) -> list[str]:
        program, data = Path(sys.executable).with_name("chroma"), self.folder / "data"
        return [str(program), "run", "--path", str(data), "--host", "127.0.0.1", "--port", str(self._port)]

    def start(self) -> None:
        # Not to a file: on a full disk, a failed write of its output would end it.
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(self.command, stdout=quiet, stderr=quiet, cwd=self.folder)
        deadline = time.monotonic() + PATIENCE
        while not self.is_up():
            assert self._process.poll() is None, f"{self.command} has ended"
            assert time.monotonic() < deadline, "Chroma has not started in time"
            time.sleep(0.05)

    def is_up(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/v2/heartbeat", timeout=5).is_success
        except httpx.TransportError:
            return False

    def run(self, query: str, *values: str) -> str:
        """The answer of Chroma's own database, which stores its collections."""
        with closing(sqlite3.connect(self.folder / "data" / "chroma.sqlite3")) as database:
            ((found,),) = database.execute(query, values).fetchall()
        return str(found)

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """Like tests/helpers/full_disk.py, for the server: its files are longer than allowed. Linux only."""
        assert self._process
        soft, hard = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (ROOM, hard))
        try:
            yield
        finally:
            resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (soft, hard))

    def kill(self) -> None:
        """Like `kill -9`, whatever it is doing."""
        if self._process:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._process = None


class ChromaProxy(LoopbackServer):
    """Passes requests on, unless `fails` says otherwise."""

    def __init__(self, server: ChromaServer) -> None:
        super().__init__()
        self._to = server.url
        self.delay = 0.0
        """seconds before each answer"""
        self.largest = 40_000_000
        """largest accepted request in bytes"""
        self.before: Callable[[Request], object] = lambda _: None
        """called with each request before it is passed on"""
        self._client = httpx.Client(timeout=60)

    def __exit__(self, *details: object) -> None:
        super().__exit__(*details)
        self._client.close()

    def respond(self, request: Request, connection: Connection, trouble: Fault | Refusal | None) -> None:
        if isinstance(trouble, Refusal) or trouble in (Fault.HANGS, Fault.CLOSES):
            super().respond(request, connection, trouble)
            return
        connection.wait(self.delay)
        length = int(request.headers.get("content-length", 0))
        if length > self.largest:
            connection.send_json(413, {"reason": "<html>Request Entity Too Large</html>"})
            return
        self.before(request)
        answer = self._client.request(request.method, self._to + request.path, json=request.body or None)
        connection.send_json(answer.status_code, answer.json(), fault=trouble)
