"""Each test runs in a process of its own, because Streamlit has one server a process."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

WATCHING = """
from types import SimpleNamespace

import app
from streamlit.watcher import local_sources_watcher
from streamlit.watcher.local_sources_watcher import LocalSourcesWatcher

looked_up = []
local_sources_watcher.get_module_paths = lambda module: looked_up.append(module) or set()
watcher = LocalSourcesWatcher(SimpleNamespace(get_pages=dict, main_script_path="app.py"))
watcher.update_watched_modules()
print(len(looked_up))
"""

CONNECTING_AGAIN = """
import asyncio
import sys
import threading
import time

import app
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime, RuntimeConfig
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.session_manager import SessionClient, SessionClientDisconnectedError


class Connection(SessionClient):
    client_context = None

    def __init__(self, at_first=lambda: None):
        self.at_first = at_first
        self.is_open = True
        self.got = []

    def write_forward_msg(self, message):
        if not self.is_open:
            raise SessionClientDisconnectedError
        if not self.got:
            self.at_first()
        self.got.append(message.WhichOneof("type"))


async def main():
    files = MemoryUploadedFileManager("/files")
    runtime = Runtime(RuntimeConfig(sys.argv[1], MemoryMediaFileStorage("/media"), files))
    await runtime.start()

    def connect_again():
        before.is_open = False
        runtime.disconnect_session(page, client=before)
        runtime.connect_session(after, {}, existing_session_id=page)

    neighbour, before, after = Connection(connect_again), Connection(), Connection()
    next_to_it, page = (runtime.connect_session(connection, {}) for connection in (neighbour, before))
    for session, connection in ((next_to_it, neighbour), (page, before)):
        runtime.handle_backmsg(session, BackMsg(rerun_script=ClientState()), client=connection)
    # Both scripts end before the server sends anything.
    while any("ScriptRunner" in thread.name for thread in threading.enumerate()):
        time.sleep(0.01)
    async with asyncio.timeout(10):
        while "script_finished" not in (*before.got, *after.got):
            await asyncio.sleep(0.01)
    print(*after.got)
    runtime.stop()
    await runtime.stopped


asyncio.run(main())
"""


def test_an_opened_page_does_not_look_up_the_files_of_all_modules() -> None:
    """It takes 0.1 to 0.2 s of the event loop."""
    done = subprocess.run([sys.executable, "-c", WATCHING], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0"], done.stderr


def test_a_page_that_connects_again_while_the_server_sends_to_others_gets_all_that_was_written_for_it(
    tmp_path: Path,
) -> None:
    script = tmp_path / "page.py"
    script.write_text("import streamlit as st\nst.write('drawn')\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CONNECTING_AGAIN, str(script)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    got = done.stdout.split()
    assert {"new_session", "delta", "script_finished"} <= set(got), done.stderr
