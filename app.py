"""The server: `streamlit run app.py`. It serves the pages, opens the engine and closes it at the end."""

import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from sqlalchemy.exc import SQLAlchemyError
from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit import config

from index_store.base.command_line.terminal import write_log
from index_store.base.errors import AccessWithdrawn, PlainError
from pages.server import streamlit_fixes
from pages.server.health import healthz, readyz
from pages.server.identity import NotSignedIn
from pages.server.originals import original
from pages.server.page_shell import PageShell, style_sheet
from pages.server.process import Ending, close_engine, whole_engine
from pages.server.providers import for_streamlit
from pages.server.requests.gate import BelowTheRoot, RequestGate, refuse_others
from pages.server.requests.proxies import OtherProxies, Proxies
from pages.server.settings import ServerSettings, server_settings, unknown_names
from pages.server.sign_in import SignIn
from pages.server.sticky import Sticky
from pages.server.upload_limit import UploadLimit
from pages.widgets.controls.errors import show_error
from pages.widgets.controls.script import SCRIPTS
from pages.words.say import say

write_log(logging.INFO, "%(asctime)s %(levelname)s %(name)s: %(message)s")
# One line per request to a model would hide what matters.
logging.getLogger("httpx2").setLevel(logging.WARNING)
logging.getLogger("httpx").setLevel(logging.WARNING)
log = logging.getLogger("app")


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    opening = threading.Thread(target=open_engine, name="opening")
    opening.start()
    yield
    opening.join()
    close_engine(for_good=True)


def open_engine() -> None:
    """Without waiting for a page: jobs, deletions and upgrades go on after a restart. If it fails, each page tries
    again.
    """
    try:
        whole_engine()
    except (PlainError, SQLAlchemyError) as error:
        log.warning("The data can't be opened: %s", error)


def say_that_it_crashed(error: Exception) -> bool:
    """For errors in our code: the log gets the traceback, the page a sentence. Without access, and while the app ends,
    that is said instead.
    """
    if isinstance(error, (AccessWithdrawn, Ending, NotSignedIn)):
        show_error(error)
        return True
    log.error("A page failed", exc_info=error)
    st.error(say("app.crashed"))
    return True


def for_others(settings: ServerSettings) -> bool:
    """Whether other machines may connect."""
    return settings.auth != "none" or settings.allow_anonymous


def middlewares() -> list[Middleware]:
    """What each request passes, in this order. A wrong setting ends the process, because no page could show it."""
    try:
        settings = server_settings()
        if not for_others(settings):
            refuse_others(config.get_option("server.address"))
        if (config.get_option("server.baseUrlPath") or "").strip("/"):
            raise BelowTheRoot
        if settings.proxies and os.environ.get("FORWARDED_ALLOW_IPS") != "":
            raise OtherProxies
    except PlainError as error:
        sys.exit(f"{error.sentence('en')}\n{error.sentence('ja')}")
    if unknown := unknown_names():
        log.warning("Names in .env that are no settings are ignored: %s", ", ".join(unknown))
    return [
        Middleware(Proxies, networks=settings.proxies, identity=settings.identity_headers),
        Middleware(
            RequestGate,
            names=settings.names,
            scripts=SCRIPTS.values(),
            for_others=for_others(settings),
            signs_in=settings.auth == "oidc",
        ),
        Middleware(Sticky),
        Middleware(SignIn, settings=settings),
        Middleware(UploadLimit),
        Middleware(PageShell),
    ]


def secrets_of(settings: ServerSettings) -> dict[str, Any]:
    """The secrets that Streamlit gets."""
    cookie_secret = settings.cookie_secret.get_secret_value()
    if cookie_secret:
        config.set_option("server.cookieSecret", cookie_secret)  # Streamlit also signs with it where nobody signs in
    return for_streamlit(settings.app_url, settings.providers, cookie_secret) if settings.auth == "oidc" else {}


routes = [
    Route("/healthz", healthz),
    Route("/readyz", readyz),
    Route("/style.css", style_sheet),
    Route("/originals/{document_id}", original),
]
middleware = middlewares()
streamlit_fixes.apply()
secrets = secrets_of(server_settings())

app = st.App(
    "pages/index.py",
    routes=routes,
    middleware=middleware,
    secrets=secrets,
    lifespan=lifespan,
    on_script_error=say_that_it_crashed,
)
