"""Each test runs in a process of its own, because Streamlit has one server a process."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.pages.server.streamlit_process import Forks, run

FRAGMENT_FINISHED = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY

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

THEME = """
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

SECTIONS = ["theme", "theme.light", "theme.dark", "theme.sidebar", "theme.light.sidebar", "theme.dark.sidebar"]

def themes():
    made = [CustomThemeConfig() for _ in SECTIONS]
    for message, section in zip(made, SECTIONS):
        app_session._populate_theme_msg(message, section)
    return [each.SerializeToString(deterministic=True) for each in made]

of_streamlit = themes()
from pages.server import streamlit_fixes

streamlit_fixes.apply()
first = themes()
config.get_options_for_section = None
print(any(first), first == of_streamlit, themes() == first)
"""

OPTIONS = """
import copy
import threading

from streamlit import config

from pages.server import streamlit_fixes

streamlit_fixes.apply()
config.get_option("server.port")
read = []

def read_in_another_thread(key):
    thread = threading.Thread(target=lambda: read.append(config.get_option(key)), daemon=True)
    thread.start()
    return thread

with config._config_lock:
    read_in_another_thread("server.port").join(60)
    # as when Streamlit begins to read the files again
    config._config_options = copy.deepcopy(config._config_options_template)
    waiting = read_in_another_thread("server.headless")
    waiting.join(0.2)
    print(read, waiting.is_alive())
    config.get_config_options(force_reparse=True, options_from_flags={"server.headless": True})
waiting.join(60)
print(read)
"""


CONNECTING_AGAIN = """
async def act(runtime):
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
    await finished(1, before, after)
    print(*after.got)


asyncio.run(main())
"""

OPENING = """
async def act(runtime):
    print(*sys.path)
    await opened(runtime)


asyncio.run(main())
"""

DRAWING = """
import gc

async def act(runtime):
    gc.collect = lambda *generation: print("collected")
    await opened(runtime, times=3)
    print("drawn")


asyncio.run(main())
"""

PRESSED_PAGE = """
import streamlit as st

@st.fragment(run_every=1)
def fragment():
    st.button("Press", on_click=lambda: print("pressed"))

fragment()
"""

PRESSING = """
async def act(runtime):
    page, send = await opened(runtime)
    [(fragment, button)] = page.drawn("button")
    for times, by_interval in enumerate((True, False), start=2):
        send({"id": button, "trigger_value": True}, fragment_id=fragment, is_auto_rerun=by_interval)
        await finished(times, page)


asyncio.run(main())
"""

REPLACING_PAGE = """
import sys
import time
from pathlib import Path

import streamlit as st

def draw():
    if st.button("Press", key="press", on_click=lambda: print("pressed")):
        print("seen")
    if st.checkbox("Tick", key="tick", on_change=lambda: print("ticked")):
        print("seen")

@st.fragment
def first():
    draw()

@st.fragment
def second():
    draw()

st.session_state.runs = st.session_state.get("runs", 0) + 1
if st.session_state.runs == 2:
    while not Path(sys.argv[2]).exists():
        time.sleep(0.01)
first() if st.session_state.runs == 1 else second()
"""

PRESSING_LATE = """
async def act(runtime):
    Path(sys.argv[2]).touch()
    page, send = await opened(runtime, times=2)
    fragment, button = page.drawn("button")[0]
    send({"id": button, "trigger_value": True}, fragment_id=fragment)
    await finished(3, page)


asyncio.run(main())
"""

TICKING_LATE = PRESSING_LATE.replace("button", "checkbox").replace("trigger_value", "bool_value")

PRESSING_WHILE_REPLACED = """
async def act(runtime):
    page, send = await opened(runtime)
    [(fragment, button)] = page.drawn("button")
    send()
    await told("new_session", 2, page)
    send({"id": button, "trigger_value": True}, fragment_id=fragment)
    Path(sys.argv[2]).touch()
    await finished(3, page)


asyncio.run(main())
"""

TICKING_WHILE_REPLACED = PRESSING_WHILE_REPLACED.replace("button", "checkbox").replace("trigger_value", "bool_value")


ENDING_PAGE = """
import sys
import time
from pathlib import Path

import streamlit as st

@st.fragment(run_every=1)
def fragment():
    st.write("fragment")

fragment()
st.session_state.runs = st.session_state.get("runs", 0) + 1
while st.session_state.runs == 2 and not Path(sys.argv[2]).exists():
    time.sleep(0.01)
"""

ASKING_AT_THE_END = """
async def act(runtime):
    page, send = await opened(runtime)
    fragment = next(each.auto_rerun.fragment_id for each in page.messages if each.HasField("auto_rerun"))
    Path(sys.argv[2]).touch()
    send()
    # The script ends before the server can send its last messages.
    while any("ScriptRunner" in thread.name for thread in threading.enumerate()):
        time.sleep(0.01)
    send(fragment_id=fragment, is_auto_rerun=True)
    await finished(3, page)
    print(*(each.script_finished for each in page.messages if each.HasField("script_finished")))


asyncio.run(main())
"""

ASKING_JUST_BEFORE_THE_END = """
from streamlit.runtime.app_session import AppSession

async def act(runtime):
    page, send = await opened(runtime)
    fragment = next(each.auto_rerun.fragment_id for each in page.messages if each.HasField("auto_rerun"))
    has_fragment = AppSession.has_fragment

    def end_meanwhile(session, asked):
        Path(sys.argv[2]).touch()
        while any("ScriptRunner" in thread.name for thread in threading.enumerate()):
            time.sleep(0.01)
        return has_fragment(session, asked)

    send()
    await told("new_session", 2, page)
    AppSession.has_fragment = end_meanwhile
    send(fragment_id=fragment, is_auto_rerun=True)
    await finished(3, page)
    print(*(each.script_finished for each in page.messages if each.HasField("script_finished")))


asyncio.run(main())
"""

COMPARED_PAGE = """
import sys
import time
from pathlib import Path

import streamlit as st

class Slow:
    def __init__(self, name):
        self.name = name

    def __ne__(self, other):
        Path(sys.argv[2]).touch()
        time.sleep(0.5)
        return self.name != other.name

if "options" not in st.session_state:
    st.session_state.options = {each: [Slow("a"), Slow("b")] for each in ("first", "second")}
for name, options in st.session_state.options.items():
    st.selectbox(name, options, format_func=lambda each: each.name, on_change=print, args=(name,))
"""

ASKING_AGAIN = """
async def act(runtime):
    page, send = await opened(runtime)
    chosen = [{"id": each, "string_value": "b"} for _, each in page.drawn("selectbox")]
    send(*chosen)
    while not Path(sys.argv[2]).exists():
        await asyncio.sleep(0.01)
    send(*chosen)
    await finished(2, page)


asyncio.run(main())
"""

RENAMING_PAGE = """
import streamlit as st

run = st.session_state.run = st.session_state.get("run", 0) + 1
print(*st.multiselect("chosen", ["a", "b"], format_func=lambda each: f"{each} {(run + 1) // 2}", key="chosen"))
"""

CHOOSING = """
async def act(runtime):
    page, send = await opened(runtime)
    [(_, chosen)] = page.drawn("multiselect")
    known = ["b 1"]  # the browser knows what is chosen by its text
    for run in range(2, 6):
        send({"id": chosen, "string_array_value": {"data": known}})
        await finished(run, page)
        drawn = [each.delta.new_element.multiselect for each in page.messages if each.HasField("delta")]
        known = [*drawn[-1].raw_values] if drawn[-1].set_value else known


asyncio.run(main())
"""

LOOKING_FOR_WHAT_IS_GONE = """
async def act(runtime):
    Path(sys.argv[2]).touch()
    page, send = await opened(runtime, times=2)
    gone, there = (fragment for fragment, _ in page.drawn("button"))
    for fragment in (gone, there):
        send(fragment_id=fragment, is_auto_rerun=True)
    await finished(3, page)
    stopped = [[*each.stop_auto_rerun.fragment_ids] for each in page.messages if each.HasField("stop_auto_rerun")]
    print(stopped == [[gone]])


asyncio.run(main())
"""


ASKING_FOR_MORE = """
async def act(runtime):
    page = Connection()
    session = runtime.connect_session(page, {})
    operation, files = BackMsg(), BackMsg()
    operation.backend_operation_request.session_id = session
    operation.backend_operation_request.dismiss_skills_nudge.SetInParent()
    files.file_urls_request.file_names.append("a.md")
    for each in (operation, BackMsg(load_git_info=True), BackMsg(clear_cache=True), BackMsg(), files):
        runtime.handle_backmsg(session, each, client=page)
    await told("file_urls_response", 1, page)
    print(*page.got)


asyncio.run(main())
"""

UPLOADING_AT_THE_END = """
import asyncio

import uvicorn

from pages.server import streamlit_fixes
from pages.server.streamlit_fixes import shutdown

shutdown.LAST_REQUESTS = 1
streamlit_fixes.apply()


async def receive_all(scope, receive, send):
    while (await receive()).get("more_body"):
        pass


async def main():
    server = uvicorn.Server(uvicorn.Config(receive_all, port=0, lifespan="off", access_log=False))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    _, upload = await asyncio.open_connection(*server.servers[0].sockets[0].getsockname())
    upload.write(b"POST / HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 1000\\r\\n\\r\\nthe first part")
    while not server.server_state.tasks:
        await asyncio.sleep(0.01)
    server.should_exit = True
    async with asyncio.timeout(30):
        await serving
    print("ended")


asyncio.run(main())
"""


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as forks:
        yield forks


@pytest.mark.soak  # what a version of Streamlit does, which only `make lock` changes
def test_an_opened_page_does_not_look_up_the_files_of_all_modules() -> None:
    """It takes 0.1 to 0.2 s of the event loop."""
    done = run(WATCHING)
    assert done.stdout.split() == ["0"], done.stderr


@pytest.mark.soak  # what a version of Streamlit does, which only `make lock` changes
def test_the_theme_is_read_once_and_is_the_one_that_streamlit_makes() -> None:
    done = run(THEME)
    assert done.stdout.split() == ["True", "True", "True"], done.stderr


@pytest.mark.soak  # what a version of Streamlit does, which only `make lock` changes
def test_options_are_read_without_waiting_for_each_other_and_never_while_their_files_are_being_read() -> None:
    done = run(OPTIONS)
    assert done.stdout.splitlines() == ["[8501] True", "[8501, True]"], done.stderr


def test_the_server_does_not_search_for_garbage_whenever_it_has_drawn_something(forks: Forks, tmp_path: Path) -> None:
    """With 20 tabs that took 88% of the time: the setting stands in .streamlit/config.toml."""
    script = tmp_path / "page.py"
    script.write_text("import streamlit as st\nst.write('drawn')\n", encoding="utf-8")
    done = forks.run(DRAWING, script)
    assert done.stdout.split() == ["drawn"], done.stderr


def test_a_page_does_not_change_the_folders_in_which_another_thread_just_looks_for_a_module(
    forks: Forks, tmp_path: Path
) -> None:
    """While Streamlit inserted and removed one, a first question failed: an installed module was not found."""
    script = tmp_path / "page.py"
    script.write_text("import sys\nprint(*sys.path)\n", encoding="utf-8")
    done = forks.run(OPENING, script)
    before, during = done.stdout.splitlines()
    assert during == before


def test_a_page_that_connects_again_while_the_server_sends_to_others_gets_all_that_was_written_for_it(
    forks: Forks, tmp_path: Path
) -> None:
    script = tmp_path / "page.py"
    script.write_text("import streamlit as st\nst.write('drawn')\n", encoding="utf-8")
    done = forks.run(CONNECTING_AGAIN, script)
    assert {"new_session", "delta", "script_finished"} <= set(done.stdout.split()), done.stderr


def test_a_press_that_the_browser_also_sends_with_a_fragment_whose_interval_ended_counts_once(
    forks: Forks, tmp_path: Path
) -> None:
    script = tmp_path / "page.py"
    script.write_text(PRESSED_PAGE, encoding="utf-8")
    done = forks.run(PRESSING, script)
    assert done.stdout.split() == ["pressed"], done.stderr


@pytest.mark.parametrize(
    "acting",
    [
        PRESSING_WHILE_REPLACED,
        TICKING_LATE,
        pytest.param(PRESSING_LATE, marks=pytest.mark.soak),
        pytest.param(TICKING_WHILE_REPLACED, marks=pytest.mark.soak),
    ],
)
def test_what_a_person_does_in_a_fragment_that_the_page_has_replaced_or_is_just_replacing_is_not_lost(
    forks: Forks, tmp_path: Path, acting: str
) -> None:
    script = tmp_path / "page.py"
    script.write_text(REPLACING_PAGE, encoding="utf-8")
    done = forks.run(acting, script, tmp_path / "may-draw")
    assert done.stdout.split() in (["pressed", "seen"], ["ticked", "seen"]), done.stderr


@pytest.mark.parametrize(
    "asking", [pytest.param(ASKING_AT_THE_END, marks=pytest.mark.soak), ASKING_JUST_BEFORE_THE_END]
)
def test_a_page_is_told_that_it_is_complete_even_if_one_of_its_fragments_is_due_at_this_moment(
    forks: Forks, tmp_path: Path, asking: str
) -> None:
    """Otherwise the browser keeps what was drawn before, such as the button that stops an answer."""
    script = tmp_path / "page.py"
    script.write_text(ENDING_PAGE, encoding="utf-8")
    done = forks.run(asking, script, tmp_path / "may-end")
    whole, fragment = (str(each) for each in (ForwardMsg.FINISHED_SUCCESSFULLY, FRAGMENT_FINISHED))
    assert done.stdout.split() == [whole, whole, fragment], done.stderr


def test_two_requests_for_a_page_in_one_moment_do_not_disturb_each_other(forks: Forks, tmp_path: Path) -> None:
    """As of somebody who goes back twice. The second changed the values that the first was just comparing."""
    script = tmp_path / "page.py"
    script.write_text(COMPARED_PAGE, encoding="utf-8")
    done = forks.run(ASKING_AGAIN, script, tmp_path / "compares")
    assert done.stdout.split() == ["first", "second"], done.stderr


def test_what_is_chosen_of_several_stays_chosen_when_its_text_changes(forks: Forks, tmp_path: Path) -> None:
    """As of a document that is being added, and then ready: the search went over all documents."""
    script = tmp_path / "page.py"
    script.write_text(RENAMING_PAGE, encoding="utf-8")
    done = forks.run(CHOOSING, script)
    assert done.stdout.split("\n") == ["", "b", "b", "b", "b", ""], done.stderr


def test_a_browser_that_looks_for_a_fragment_that_is_gone_is_told_to_stop(forks: Forks, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text(REPLACING_PAGE, encoding="utf-8")
    done = forks.run(LOOKING_FOR_WHAT_IS_GONE, script, tmp_path / "may-draw")
    assert done.stdout.split() == ["True"], done.stderr


def test_a_connection_gets_no_answer_to_what_no_page_asks(forks: Forks, tmp_path: Path) -> None:
    """Anybody who reaches the port can send it, before a sign-in too. The server would tell the branch of its checkout
    and the names of changed files there, and run ten processes for that while everybody waits.
    """
    script = tmp_path / "page.py"
    script.write_text("import streamlit as st\nst.write('drawn')\n", encoding="utf-8")
    for command in (
        ("init", "--initial-branch=main"),
        ("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty", "--message=a"),
        ("remote", "add", "origin", "https://github.com/example/secret-plans.git"),
        ("update-ref", "refs/remotes/origin/main", "HEAD"),
        ("branch", "--set-upstream-to=origin/main"),
    ):
        subprocess.run(["git", *command], cwd=tmp_path, capture_output=True, check=True)
    done = forks.run(ASKING_FOR_MORE, script)
    told = set(done.stdout.split())
    assert "file_urls_response" in told, done.stderr
    assert told.isdisjoint({"git_info_changed", "backend_operation_response"})


@pytest.mark.soak
def test_an_upload_that_does_not_end_does_not_keep_the_server_from_ending() -> None:
    done = run(UPLOADING_AT_THE_END)
    assert done.stdout.split() == ["ended"], done.stderr
