"""The empty page that Streamlit serves, with our style sheet, our name and the reader's language.

Streamlit fills it by scripts. A style sheet that is an element of a page comes after the code that draws such
elements: for up to a second, everything stood elsewhere and looked different, and the tab was called Streamlit.
"""

from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import get_args

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.server.requests.browser_rules import SHELL
from pages.texts import preferred_language, texts
from rag.text.language import Language

STYLE = (Path(__file__).parents[1] / "assets" / "style.css").read_bytes()
FOR_A_YEAR = {"Cache-Control": "public, max-age=31536000, immutable"}
"""the address changes with the content"""

_SHELL = SHELL.read_bytes()
_OF_A_NAVIGATION = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""headers that Streamlit must not see: it would send its own page compressed, in part, or not again"""


async def style_sheet(_: Request) -> Response:
    return Response(STYLE, media_type="text/css", headers=FOR_A_YEAR)


class PageShell:
    """ASGI middleware: replaces Streamlit's page, at whichever address it is served. Everything else stays as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _may_ask_for_a_page(scope):
            await self._app(scope, receive, send)
            return
        language = _language(scope)
        begun: Message | None = None
        held = b""

        async def send_shell(message: Message) -> None:
            nonlocal begun, held
            if message["type"] == "http.response.start" and _may_be_shell(message):
                begun = message
            elif begun is None:
                await send(message)
            else:
                held += message.get("body", b"")
                if message.get("more_body") and len(held) <= len(_SHELL):
                    return
                if held == _SHELL and not message.get("more_body"):
                    headers = MutableHeaders(raw=begun["headers"])
                    held = shell(language)
                    headers["content-length"] = str(len(held))
                    headers["vary"] = "Accept-Language"
                    del headers["etag"], headers["last-modified"]
                await send(begun)
                begun = None
                await send({**message, "body": held})

        headers = [each for each in scope["headers"] if each[0] not in _OF_A_NAVIGATION]
        await self._app({**scope, "headers": headers}, receive, send_shell)


def _may_ask_for_a_page(scope: Scope) -> bool:
    is_get = scope["type"] == "http" and scope["method"] == "GET"
    return is_get and scope["path"].rfind("/") == 0 and "text/html" in Headers(scope=scope).get("accept", "")


def _may_be_shell(start: Message) -> bool:
    return start["status"] == 200 and Headers(raw=start["headers"]).get("content-length") == str(len(_SHELL))


def _language(scope: Scope) -> Language:
    asked = QueryParams(scope["query_string"]).get("lang")
    languages: tuple[Language, ...] = get_args(Language)
    return next((each for each in languages if each == asked), preferred_language(Headers(scope=scope)))


@cache
def shell(language: Language) -> bytes:
    """At the beginning of the body, the style sheet comes after Streamlit's styles and before those of our elements."""
    link = f'<link rel="stylesheet" href="./style.css?v={sha256(STYLE).hexdigest()[:16]}" />'
    page = _SHELL.decode()
    for part, ours in {
        '<html lang="en">': f'<html lang="{language}">',
        "<title>Streamlit</title>": f"<title>{escape(texts(language)['app.name'])}</title>",
        "<body>": f"<body>\n    {link}",
    }.items():
        page = page.replace(part, ours, 1)
    return page.encode()
