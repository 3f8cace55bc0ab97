"""The app of `app.py` with two more routes: a new engine for a test, and the bytes of uploads in memory.

`streamlit run tests/browser/served.py`. A new process for each test would take seconds. Instead, a new engine, with a
data folder and services of the test, replaces the previous one.
"""

import os
import threading
import time
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from streamlit.runtime import get_instance

from app import lifespan, middleware, routes, say_that_it_crashed, secrets
from pages.server.process import close_engine, whole_engine

LAST_RUNS = 60
"""seconds for the scripts of pages that were just closed"""


async def renew(request: Request) -> Response:
    """The request's body has the settings, with the names of `.env`."""
    settings = await request.json()
    await run_in_threadpool(_renew, settings)
    return PlainTextResponse("renewed")


async def held(_: Request) -> Response:
    """Bytes of uploads in memory. Streamlit's own metrics have this number too, but are closed."""
    stats = await run_in_threadpool(get_instance().uploaded_file_mgr.get_stats)
    return PlainTextResponse(str(sum(each.byte_length for family in stats.values() for each in family)))


def _renew(settings: dict[str, str]) -> None:
    end = time.monotonic() + LAST_RUNS
    while _scripts_run() and time.monotonic() < end:
        time.sleep(0.02)
    close_engine()
    os.environ |= settings
    whole_engine()


def _scripts_run() -> bool:
    return any("scriptThread" in thread.name for thread in threading.enumerate())


app = st.App(
    Path(__file__).parent.parent.parent / "pages" / "index.py",
    routes=[*routes, Route("/renew", renew, methods=["POST"]), Route("/held", held)],
    middleware=middleware,
    secrets=secrets,
    lifespan=lifespan,
    on_script_error=say_that_it_crashed,
)
