"""Code in a Python process of its own, such as Streamlit's server with pages that are scripts."""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from tests.conftest import ROOT

SERVER = """
import asyncio
import sys
import threading
import time
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.session_manager import SessionClient, SessionClientDisconnectedError

from pages.server import streamlit_fixes

streamlit_fixes.apply()


class Connection(SessionClient):
    client_context = None

    def __init__(self, at_first=lambda: None):
        self.at_first = at_first
        self.is_open = True
        self.messages = []

    @property
    def got(self):
        return [message.WhichOneof("type") for message in self.messages]

    def write_forward_msg(self, message):
        if not self.is_open:
            raise SessionClientDisconnectedError
        if not self.messages:
            self.at_first()
        self.messages.append(message)


    def drawn(self, kind):
        # the fragment and the id of each element of this kind
        drawn = (each.delta for each in self.messages if each.HasField("delta"))
        of_kind = (each for each in drawn if each.new_element.HasField(kind))
        return [(each.fragment_id, getattr(each.new_element, kind).id) for each in of_kind]


async def told(kind, times, *connections):
    async with asyncio.timeout(60):
        while sum(each.got.count(kind) for each in connections) < times:
            await asyncio.sleep(0.01)


async def finished(times, *connections):
    await told("script_finished", times, *connections)


async def opened(runtime, times=1):
    page = Connection()
    session = runtime.connect_session(page, {})

    def send(*values, **state):
        asked = ClientState(**state)
        for value in values:
            asked.widget_states.widgets.add(**value)
        runtime.handle_backmsg(session, BackMsg(rerun_script=asked), client=page)

    for each in range(times):
        send()
        await finished(each + 1, page)
    return page, send


async def main():
    files = MemoryUploadedFileManager("/files")
    media = MemoryMediaFileStorage("/media")
    runtime = Runtime(RuntimeConfig(sys.argv[1], media, files, on_script_error=print))
    await runtime.start()
    await act(runtime)
    runtime.stop()
    await runtime.stopped
"""


def run(code: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False
    )


FORKS = """
import json
import os
import traceback
from functools import cache

from streamlit.components.v2 import manifest_scanner

# as in tests/faster/streamlit_starts.py
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
manifest_scanner.scan_component_manifests()


def fork(job):
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for number, path in enumerate((os.devnull, *job["files"])):
        os.dup2(os.open(path, os.O_RDWR), number)
    sys.argv[1:] = job["arguments"]
    status = 0
    try:
        exec(job["code"], globals())
    except BaseException:
        status = 1
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


while job := sys.stdin.readline():
    print(fork(json.loads(job)), flush=True)
"""


class Forks:
    """A context manager. Runs each code after that of SERVER, in a process of its own: a fork of one that has loaded
    Streamlit, which takes a second.
    """

    def __enter__(self) -> Self:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, "-c", SERVER + FORKS], cwd=ROOT, **pipes)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, code: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
        with TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("stdout", "stderr")]
            for each in files:
                each.touch()
            job = {"code": code, "arguments": [*map(str, arguments)], "files": [*map(str, files)]}
            self._process.stdin.write(f"{json.dumps(job)}\n")
            self._process.stdin.flush()
            status = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(code, status, *(each.read_text(encoding="utf-8") for each in files))
