"""How often a page reads the events of a run: the interval that the server sends to the browser. What a page of the app
is sent: tests/browser/chat/test_pace.py.
"""

import pytest

from pages.widgets.chat.pace import AT_ONCE, OFTEN, SELDOM, pace
from tests.pages.server.streamlit_process import SERVER, run


def test_a_run_with_news_among_few_is_looked_at_often():
    assert pace(quiet=0, runs=1) == pace(quiet=0.5, runs=4) == OFTEN


def test_the_longer_nothing_comes_the_less_often_it_is_looked_at():
    paces = [pace(quiet=seconds, runs=1) for seconds in (1, 3, 4, 10, 1000)]
    assert paces == sorted(paces)
    assert paces[-1] == SELDOM


@pytest.mark.parametrize("runs", [20, 50, 200])
def test_many_runs_share_the_looks(runs):
    assert runs / pace(quiet=0, runs=runs) == pytest.approx(10, rel=0.05)


RACING_PAGE = """
import sys

from pages.widgets.chat.pace import look_every
import streamlit as st

the = sys.modules["shared"]

@st.fragment(run_every=1)
def fragment():
    the.looks += 1
    if the.looks == 1:
        look_every(0.4, at_once=[the.run])
    else:
        the.loop.call_soon_threadsafe(the.has_ended.wait)
        look_every(0.8, at_once=[the.run])
        the.run.append(the.end)
        the.has_ended.set()

fragment()
"""
"""What the server sends waits until the run has ended."""

RACING = """
from types import SimpleNamespace

from rag.runs.run.run import Run
from rag.trace.events import RunFinished, RunStarted, Totals

async def act(runtime):
    started = RunStarted(run_id="r", conversation_id="c", question="?", index="i", pipeline="naive", model="m", at=1)
    end = RunFinished(status="finished", answer="", outcome="answered", citations=(), totals=Totals())
    sys.modules["shared"] = SimpleNamespace(
        run=Run(started), end=end, looks=0, loop=asyncio.get_running_loop(), has_ended=threading.Event()
    )
    page = Connection()
    session = runtime.connect_session(page, {})
    runtime.handle_backmsg(session, BackMsg(rerun_script=ClientState()), client=page)
    await finished(1, page)
    fragment = next(each.auto_rerun.fragment_id for each in page.messages if each.HasField("auto_rerun"))
    by_interval = ClientState(fragment_id=fragment, is_auto_rerun=True)
    runtime.handle_backmsg(session, BackMsg(rerun_script=by_interval), client=page)
    async with asyncio.timeout(60):
        while page.got.count("auto_rerun") < 4:
            await asyncio.sleep(0.01)
    print(*(round(each.auto_rerun.interval, 2) for each in page.messages if each.HasField("auto_rerun")))


asyncio.run(main())
"""


@pytest.mark.soak  # a race; that the browser looks at once: tests/browser/chat/test_pace.py
def test_what_a_fragment_has_said_before_a_run_ends_does_not_keep_the_browser_from_looking_at_once(tmp_path):
    script = tmp_path / "page.py"
    script.write_text(RACING_PAGE, encoding="utf-8")
    done = run(SERVER + RACING, script)
    assert done.stdout.split() == ["1.0", "0.4", "0.8", str(AT_ONCE)], done.stderr
