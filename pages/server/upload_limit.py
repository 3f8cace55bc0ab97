"""Limits the uploads that the server keeps in memory until a page takes them.

Streamlit bounds one file (`server.maxUploadSize`), not how many there are, and takes any id for a file: what no page
knows of would stay for as long as the tab is open.
"""

import re
from collections import Counter

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

MEGABYTE = 1024 * 1024
MOST_HELD = 256 * MEGABYTE
"""bytes of one tab at a time: the largest file, and some beside it"""

_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+")
REFUSED = "Too much at once: add these files when the others are there."


class UploadLimit:
    """ASGI middleware: refuses an upload (413) if its tab would have more than MOST_HELD in memory."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._coming: Counter[str] = Counter()
        """bytes, by session"""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = _UPLOAD.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if not upload:
            await self._app(scope, receive, send)
            return
        session, size = upload[1], _size(Headers(scope=scope))
        if _held(session) + self._coming[session] + size > MOST_HELD:
            await PlainTextResponse(REFUSED, status_code=413, headers={"Connection": "close"})(scope, receive, send)
            return
        self._coming[session] += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming[session] -= size
            self._coming += Counter()  # drops those that are at 0


def _size(headers: Headers) -> int:
    """In bytes; of one that does not tell, the most that it may have."""
    told = headers.get("content-length", "")
    return int(told) if told.isdecimal() else config.get_option("server.maxUploadSize") * MEGABYTE


def _held(session: str) -> int:
    manager = get_instance().uploaded_file_mgr
    if not isinstance(manager, MemoryUploadedFileManager):
        return 0
    return sum(len(file.data) for file in tuple(manager.file_storage.get(session, {}).values()))
