"""The server: `streamlit run app.py`. It serves the pages, and gives the engine back when it ends."""

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from index_store.base.errors import InvalidSetting
from pages.gate import Gate
from pages.originals import original
from pages.process import close_engine
from pages.settings import Settings
from pages.upload_limit import UploadLimit
from pages.words import say

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
# One line a request to a model would drown what matters.
logging.getLogger("httpx2").setLevel(logging.WARNING)
logging.getLogger("httpx").setLevel(logging.WARNING)
log = logging.getLogger("app")


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    yield
    close_engine()


def say_that_it_crashed(error: Exception) -> bool:
    """For faults of ours: the log gets the trace, the page a sentence."""
    log.error("A page failed", exc_info=error)
    st.error(say("app.crashed"))
    return True


def gate() -> Middleware:
    try:
        return Middleware(Gate, names=Settings().names)
    except InvalidSetting as error:  # there is no page yet that could tell it
        sys.exit(f"{error.sentence('en')}\n{error.sentence('ja')}")


routes = [Route("/originals/{document_id}", original)]
middleware = [gate(), Middleware(UploadLimit)]

app = st.App(
    "pages/index.py",
    routes=routes,
    middleware=middleware,
    lifespan=lifespan,
    on_script_error=say_that_it_crashed,
)
