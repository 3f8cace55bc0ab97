"""`GET /healthz`: the process answers. `GET /readyz`: it can serve people, because its data is open and readable.

The answer is only yes or no; the log says why not. A model service that is down does not count, because documents,
search and past answers work without it. If the Chroma server or the storage of the originals is away, the answer is
`degraded` with status 200. A no would stop all replicas at the same time.
"""

import logging

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from index_store.base.errors import PlainError
from pages.server.process import whole_engine

UNCACHED = {"Cache-Control": "no-store"}

log = logging.getLogger(__name__)


async def healthz(_: Request) -> Response:
    return PlainTextResponse("ok\n", headers=UNCACHED)


async def readyz(_: Request) -> Response:
    try:
        is_whole = await run_in_threadpool(_read_both)
    except (PlainError, SQLAlchemyError) as error:
        log.warning("Not ready: %s", error)
        return PlainTextResponse("not ready\n", 503, UNCACHED)
    return PlainTextResponse("ready\n" if is_whole else "degraded\n", headers=UNCACHED)


def _read_both() -> bool:
    """Reads catalogue and history; the first call opens them. Returns whether all other parts are available too."""
    current = whole_engine()
    current.store.indexes()
    current.history.run("")
    return current.store.trouble is None
