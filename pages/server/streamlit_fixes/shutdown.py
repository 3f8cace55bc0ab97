"""The end of the server."""

import socket

import uvicorn

LAST_REQUESTS = 5
"""seconds that requests have to end when the server ends"""


def apply() -> None:
    _wait_a_moment_for_the_last_requests()


def _wait_a_moment_for_the_last_requests() -> None:
    """Streamlit lets uvicorn wait for all requests without a limit: an upload over a slow line kept the app from
    closing its data until it was killed.
    """
    shutdown = uvicorn.Server.shutdown

    async def shutdown_soon(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        server.config.timeout_graceful_shutdown = LAST_REQUESTS
        await shutdown(server, sockets)

    uvicorn.Server.shutdown = shutdown_soon  # type: ignore[method-assign, assignment]
