"""An S3 server, moto's, with its own process and port; and a port in front of it that can be slow, silent or closed."""

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import httpx

from tests.servers.ports import free_port

PATIENCE = 60
"""seconds for its start"""

KEY, SECRET = "AKIAOFTESTS", "of+tests/secret"


class S3Server:
    """A context manager. It keeps its objects in memory."""

    def __init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        program, quiet = Path(sys.executable).with_name("moto_server"), subprocess.DEVNULL
        command = [str(program), "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env={**os.environ, "PYTHONPATH": ""})
        deadline = time.monotonic() + PATIENCE
        while not self._is_up():
            assert self._process.poll() is None, f"{command} has ended"
            assert time.monotonic() < deadline, "the S3 server has not started in time"
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _is_up(self) -> bool:
        try:
            return httpx.get(self.url, timeout=5).is_success
        except httpx.TransportError:
            return False

    def new_bucket(self) -> str:
        name = f"bucket-{uuid.uuid4().hex}"
        httpx.put(f"{self.url}/{name}", headers=_SIGNED).raise_for_status()
        return name

    def names(self, bucket: str) -> list[str]:
        """Names of all objects, as stored."""
        answer = httpx.get(f"{self.url}/{bucket}?list-type=2", headers=_SIGNED).raise_for_status().text
        return [part.partition("</Key>")[0] for part in answer.split("<Key>")[1:]]

    def read(self, bucket: str, name: str) -> bytes:
        return httpx.get(f"{self.url}/{bucket}/{name}", headers=_SIGNED).raise_for_status().content

    def write(self, bucket: str, name: str, content: bytes) -> None:
        httpx.put(f"{self.url}/{bucket}/{name}", content=content, headers=_SIGNED).raise_for_status()

    def remove(self, bucket: str, name: str) -> None:
        httpx.delete(f"{self.url}/{bucket}/{name}", headers=_SIGNED).raise_for_status()

    @contextmanager
    def knowing_no_key(self) -> Iterator[None]:
        """A context manager: inside it, keys are checked, and no key is valid."""
        self._let_in_unseen("0")
        try:
            yield
        finally:
            self._let_in_unseen("inf")

    def _let_in_unseen(self, requests: str) -> None:
        httpx.post(f"{self.url}/moto-api/reset-auth", content=requests.encode()).raise_for_status()


_SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=tests/20260101/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=none"
}
"""shows moto that the request is for S3; moto checks no signature unless told to"""


class Between:
    """A context manager: a port that leads to a server. Its behaviour may change at any moment."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.delay = 0.0
        """seconds before each piece of an answer"""
        self.is_silent = False
        """accepts everything and sends nothing"""
        self.is_gone = False
        """every connection ends immediately"""
        self.before: Callable[[bytes], object] = lambda _: None
        """called with each piece of a request before it is passed on"""
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._listening.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(OSError):
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client, socket.create_connection(("127.0.0.1", self._to)) as server:
            while not self._closed.is_set() and not self.is_gone:
                for end in select.select([client, server], [], [], 0.05)[0]:
                    piece = end.recv(1 << 16)
                    if not piece:
                        return
                    if end is client:
                        self.before(piece)
                        if self.is_gone:
                            return
                        server.sendall(piece)
                        continue
                    self._closed.wait(self.delay)
                    while self.is_silent and not self._closed.wait(0.05):
                        pass
                    client.sendall(piece)
