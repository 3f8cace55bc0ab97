"""Sign-in and sign-out, around Streamlit's own routes; blocks what needs a sign-in.

Streamlit and Authlib speak with the provider. The rest is done here: the server stores each sign-in, so that it can end
it; a failure is shown on our page, in the reader's language; and the reader returns to the requested address.
"""

import json
import logging
import secrets
from collections.abc import Mapping, Set
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_server_config import SESSION_COOKIE_NAME, USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks

from index_store.base.errors import AccessWithdrawn, PlainError
from pages.server.identity import NotSignedIn, claim_of_headers, claim_of_token, identify, sign_in_cookie
from pages.server.process import access, principal_of
from pages.server.providers import CALLBACK, provider_key
from pages.server.requests.refusal import refuse
from pages.server.settings import ServerSettings

LOGIN, LOGOUT = "/auth/login", "/auth/logout"
FOR_PEOPLE = ("/originals/", "/media/", "/_stcore/upload_file/")
"""paths that serve or accept people's data"""

LEEWAY = 5 * 60
"""seconds that the clocks of a provider and of this machine may differ"""

CAME_FROM = "came_from"
"""cookie: the address from which someone went to sign in"""
IN_ADDRESSES = "%/?&=+"
"""signs that stay in that cookie: encoded twice, a search for 300 Japanese characters is too long for one"""
AWAY = 10 * 60
"""lifetime of that cookie in seconds"""

OUTCOME = "sign_in"
"""query parameter with the result of a sign-in that failed"""

VISIT = timedelta(hours=8)
"""With a proxy, each tab is a sign-in. It is recorded only if the person was away for this long."""

log = logging.getLogger(__name__)


def allow_for_clocks() -> None:
    """Raises the allowed difference of clocks to LEEWAY: Authlib allows two minutes, and Streamlit can't set it."""
    from authlib.integrations import starlette_client  # slow to import, and most installations have no provider

    class Lenient(starlette_client.StarletteOAuth2App):  # type: ignore[misc]
        async def authorize_access_token(self, request: Request, **options: Any) -> Any:
            return await super().authorize_access_token(request, **{"leeway": LEEWAY, **options})

    starlette_client.StarletteOAuth2App = Lenient  # Streamlit makes its own class from this one


class SignIn:
    """ASGI middleware, after the proxies and the gate."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        if settings.auth == "oidc":
            allow_for_clocks()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        auth = self._settings.auth
        if scope["type"] == "http" and auth != "none" and scope["path"].startswith(FOR_PEOPLE):
            try:
                await run_in_threadpool(principal_of, HTTPConnection(scope))
            except PlainError as error:
                status = 403 if isinstance(error, (NotSignedIn, AccessWithdrawn)) else 503
                await refuse(error, scope, receive, send, status)
                return
        elif scope["type"] == "http" and auth == "oidc" and scope["path"] in (LOGIN, CALLBACK, LOGOUT):
            answer = await self._answer(Request(scope, receive))
            await answer(scope, receive, send)
            return
        elif scope["type"] == "websocket" and auth == "header":
            await run_in_threadpool(self._take_claims, HTTPConnection(scope))
        await self._app(scope, receive, send)

    def _take_claims(self, connection: HTTPConnection) -> None:
        """Signs in the person of a tab that connects. If this fails, the page says so."""
        claim = claim_of_headers(self._settings, connection.headers.getlist)
        try:
            if claim:
                access().signed_in(claim, visit=VISIT)
        except PlainError as error:
            log.warning("A tab whose proxy signs its person in could not be accepted: %s", error)

    async def _answer(self, request: Request) -> Response:
        if request.url.path != CALLBACK and request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return _to("/")  # pages of other sites can't sign people in or out
        if request.url.path == LOGIN:
            return await self._begin(request)
        if request.url.path == LOGOUT:
            await run_in_threadpool(self._sign_out, sign_in_cookie(request.cookies))
            location, headers = await self._of_streamlit(request)
            return _with_cookies(_to(location or "/"), headers, {SESSION_COOKIE_NAME, USER_COOKIE_NAME})
        return await self._end(request)

    def _sign_out(self, cookie: bytes) -> None:
        try:
            access().signed_out(cookie)
        except PlainError as error:
            log.warning("A sign-out can't be saved, so only the browser has deleted its cookie: %s", error)

    async def _begin(self, request: Request) -> Response:
        came_from = _address(request.headers.get("referer", ""))
        if await run_in_threadpool(self._is_signed_in, request.cookies):
            return _to(came_from)  # another tab has signed in: a second sign-in would end that of the first
        location, headers = await self._of_streamlit(request)
        if not location:
            return _to(came_from, "unreachable")
        answer = _with_cookies(_to(location), headers, {SESSION_COOKIE_NAME})
        kept = quote(came_from, safe=IN_ADDRESSES)
        answer.set_cookie(CAME_FROM, kept, AWAY, path=CALLBACK, httponly=True, samesite="lax")
        return answer

    def _is_signed_in(self, cookies: Mapping[str, str]) -> bool:
        try:
            identify(self._settings, access, lambda: cookies, lambda _: ())
        except PlainError:
            return False
        return True

    async def _end(self, request: Request) -> Response:
        """The answer to a browser that comes back from the provider, after a sign-in or a sign-out."""
        came_from = _address(request.cookies.get(CAME_FROM, ""))
        _, headers = await self._of_streamlit(request)
        cookies, query = _set_in(headers), request.query_params
        outcome = ""
        cookie = ""
        if signed := _get_signed_cookie_with_chunks(cookies, USER_COOKIE_NAME):
            token = json.loads(signed)
            cookie = _cookie(token)
            outcome = await run_in_threadpool(self._take_in, token, cookie.encode(), sign_in_cookie(request.cookies))
        elif "state" in query or "error" in query:  # otherwise it comes back from a sign-out
            outcome = "cancelled" if query.get("error") == "access_denied" else "failed"
        answer = _with_cookies(_to(came_from, outcome), headers, {SESSION_COOKIE_NAME})
        answer.delete_cookie(CAME_FROM, CALLBACK)
        if cookie and not outcome:
            lasting = int(self._settings.sign_in_lasts.total_seconds())
            answer.set_cookie(USER_COOKIE_NAME, cookie, lasting, httponly=True, samesite="lax")
        return answer

    def _take_in(self, token: Mapping[str, Any], cookie: bytes, before: bytes) -> str:
        """The reason of a failure; empty if the person is signed in. `before`: the browser's cookie until now."""
        number = next(n for n in range(len(self._settings.providers)) if provider_key(n) == token["provider"])
        provider = self._settings.providers[number]
        claim = claim_of_token(provider, token)
        if claim.issuer.rstrip("/") != provider.issuer.rstrip("/"):
            # Authlib checks a token against the provider's own metadata, which may have another provider's name.
            log.error("%r signs people in as %.200r, not as the issuer in the settings", provider.name, claim.issuer)
            return "failed"
        try:
            person = access().signed_in(claim)
            access().sign_ins.end(before)
            access().sign_ins.begin(person.id, cookie, self._settings.sign_in_lasts)
        except AccessWithdrawn:
            return "withdrawn"
        except PlainError as error:
            log.warning("A sign-in could not be accepted: %s", error)
            return "failed"
        return ""

    async def _of_streamlit(self, request: Request) -> tuple[str, Headers]:
        """The address to which Streamlit sends the browser (empty if it fails), and the headers of its answer."""
        start: Message = {}

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)

        await self._app(request.scope, request.receive, keep)
        headers = Headers(raw=start["headers"])
        return headers.get("location", ""), headers


def _to(address: str, outcome: str = "") -> Response:
    if outcome:
        address += f"{'&' if '?' in address else '?'}{OUTCOME}={outcome}"
    return RedirectResponse(address, 302, {"Cache-Control": "no-store"})


def _address(url: str) -> str:
    """Path and query of `url`, so it can only lead to a page of this app."""
    parts = urlsplit(url)
    query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if name != OUTCOME])
    path = "/" + parts.path.replace("\\", "/").lstrip("/")
    return f"{path}?{query}" if query else path


def _set_in(headers: Headers) -> dict[str, str]:
    """The cookies that an answer sets, without those that it deletes."""
    pairs = [cookie.partition(";")[0].partition("=") for cookie in headers.getlist("set-cookie")]
    return {name: value for name, _, value in pairs if value.strip('"')}


def _cookie(token: Mapping[str, Any]) -> str:
    """The value of our cookie, used instead of Streamlit's, which would contain all claims: a random id, and the fields
    that Streamlit's sign-out reads.
    """
    kept = {name: token[name] for name in ("provider", "origin", "is_logged_in")}
    value = json.dumps({**kept, "id": secrets.token_urlsafe(32)})
    return create_signed_value(get_cookie_secret(), USER_COOKIE_NAME, value).decode()


def _with_cookies(answer: Response, headers: Headers, names: Set[str]) -> Response:
    """Copies only the cookies `names` from another answer: claims and tokens of the provider stay on the server."""
    own = MutableHeaders(raw=answer.raw_headers)
    for cookie in headers.getlist("set-cookie"):
        if cookie.partition("=")[0] in names:
            own.append("set-cookie", cookie)
    return answer
