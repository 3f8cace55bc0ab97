"""Limits the uploads that the server keeps in memory until a page takes them.

Streamlit limits the size of one file (`server.maxUploadSize`), but not the number of files, and it accepts any id. A
file with an id that no page knows would stay in memory as long as the tab is open.
"""

import re
from collections import Counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from index_store.base.settings.settings import MEGABYTE
from pages.server.requests.refusal import Refused, refuse

MOST_HELD = 256 * MEGABYTE
"""bytes of one tab at a time: the largest file, and a few small ones"""

_UPLOAD = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+")


class TooMuchAtOnce(Refused):
    status = 413
    en = "These files are too large to add at the same time. Wait until the others are added, then add these."
    ja = "一度に追加できる大きさを超えています。ほかのファイルの追加が終わってから、もう一度追加してください。"


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
        headers = Headers(scope=scope)
        session, size = upload[1], _size(headers)
        if _held(session) + self._coming[session] + size > MOST_HELD:
            await refuse(TooMuchAtOnce(), scope, receive, send, TooMuchAtOnce.status, {"Connection": "close"})
            return
        self._coming[session] += size
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming[session] -= size
            self._coming += Counter()  # drops those that are at 0


def _size(headers: Headers) -> int:
    """In bytes; if the request does not say, the largest allowed size."""
    told = headers.get("content-length", "")
    return int(told) if told.isdecimal() else config.get_option("server.maxUploadSize") * MEGABYTE


def _held(session: str) -> int:
    manager = get_instance().uploaded_file_mgr
    if not isinstance(manager, MemoryUploadedFileManager):
        return 0
    return sum(len(file.data) for file in tuple(manager.file_storage.get(session, {}).values()))
