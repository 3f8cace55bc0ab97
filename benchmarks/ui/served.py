"""The app of `app.py` with one more route: its engine answers a question without a page.

`streamlit run benchmarks/ui/served.py`.
"""

import time
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app import lifespan, middleware, routes, say_that_it_crashed
from pages import samples
from pages.server.process import engine
from rag.trace.events import Token


async def ask(request: Request) -> Response:
    """The request's body has question and pipeline."""
    asked = await request.json()
    return JSONResponse(await run_in_threadpool(_ask, asked["question"], asked["pipeline"]))


def _ask(question: str, pipeline: str) -> dict[str, float]:
    begun = time.perf_counter()
    run = engine().ask(question, index=samples.INDEX, pipeline_name=pipeline)
    first, events = None, 0
    for event in run.stream():
        events += not isinstance(event, Token)
        if first is None and isinstance(event, Token) and event.text:
            first = time.perf_counter() - begun
    result = run.result()
    if first is None or result.status != "finished":
        raise RuntimeError(f"{pipeline}: {result.status}, {result.error}")
    return {"first": first, "total": time.perf_counter() - begun, "events": events}


app = st.App(
    Path(__file__).parents[2] / "pages" / "index.py",
    routes=[*routes, Route("/ask", ask, methods=["POST"])],
    middleware=middleware,
    lifespan=lifespan,
    on_script_error=say_that_it_crashed,
)
