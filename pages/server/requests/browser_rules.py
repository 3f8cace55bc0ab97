"""Headers for the browser: what a page may load and run, and who may frame or read it."""

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import MutableHeaders
from streamlit import file_util

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",  # for browsers that do not know frame-ancestors
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""set on every answer that does not set them itself"""

FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""of a file that is shown by itself: it runs no script and loads nothing. img-src data: is for pictures in the file,
such as the lines of a graph"""

SHELL = Path(file_util.get_static_dir(), "index").with_suffix(".html")
"""Streamlit's page, which its scripts fill"""

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def content_policy(scripts: Iterable[str]) -> str:
    """The Content-Security-Policy of every answer, in addition to its own: a browser obeys both. Nothing is loaded from
    or sent to other origins, however a text on the page is read. Only Streamlit's files and the listed scripts run.

    `scripts`: HTML with each inline script of our pages. The browser recognises them by their hashes, so a script must
    always be the same text. Variable data goes into attributes that the script reads.
    """
    page = SHELL.read_text(encoding="utf-8")
    hashes = " ".join(f"'{_hash(script)}'" for html in (page, *scripts) for script in _INLINE.findall(html))
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'self' {hashes}",
            "style-src 'self' 'unsafe-inline'",  # Streamlit styles its elements by attributes and tags
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' data: blob:",
            "connect-src 'self'",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'self'",
        ]
    )


def tell_browser(headers: MutableHeaders, policy: str, *, is_tls: bool) -> None:
    """Adds to the headers of an answer. `is_tls`: whether the browser's connection is TLS. If so, each cookie becomes
    `Secure`.
    """
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    # Streamlit sets none for the files that people save: no cache may give them to somebody else.
    headers.setdefault("Cache-Control", "private, no-cache")
    headers.append("Content-Security-Policy", policy)
    if is_tls:
        cookies = headers.getlist("set-cookie")
        del headers["set-cookie"]
        for cookie in cookies:
            is_secure = any(part.strip().lower() == "secure" for part in cookie.split(";")[1:])
            headers.append("set-cookie", cookie if is_secure else f"{cookie}; Secure")


def _hash(script: str) -> str:
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
