"""Who is at the browser: finds the person behind a request.

Claims are taken once, when someone signs in or a tab connects (`sign_in.py`): a cookie, or a tab, of last week is not
to bring back the groups of last week. From then on a request only says which person it is of, and whether that one may
still come in is asked of the people each time.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from index_store.access.access import Access
from index_store.access.people import SignInClaims
from index_store.access.principal import LOCAL, Principal
from index_store.base.errors import AccessWithdrawn, PlainError
from pages.server.providers import Provider
from pages.server.settings import Settings


class NotSignedIn(PlainError):
    en = "Nobody is signed in here. Reload the page to sign in."
    ja = "サインインしていません。ページを再読み込みしてサインインしてください。"


Cookies = Mapping[str, str]
Headers = Callable[[str], Iterable[str]]
"""name -> all values"""


def identify(settings: Settings, access: Callable[[], Access], cookies: Cookies, headers: Headers) -> Principal:
    """Of one request, or of the one that a tab came by. Raises NotSignedIn, AccessWithdrawn; what `access` raises."""
    if settings.auth == "none":
        return LOCAL
    if settings.auth == "oidc":
        person = access().sign_ins.person_id(shown(cookies))
    else:
        subject = _only(headers(settings.auth_user_header))
        person = access().people.id_of(settings.auth_user_header, subject) if subject else None
    if person is None:
        raise NotSignedIn
    principal = access().people.current(person)
    if principal is None:
        raise AccessWithdrawn
    return principal


def shown(cookies: Cookies) -> bytes:
    """What of its cookies a browser is known by."""
    return cookies.get(USER_COOKIE_NAME, "").encode()


def claim_of_token(provider: Provider, token: Mapping[str, Any]) -> SignInClaims:
    """`token`: the claims of an ID token that was checked."""
    groups = token.get(provider.groups_claim)
    return SignInClaims(
        issuer=_text(token.get("iss")),
        subject=_text(token.get("sub")),
        name=_text(token.get("name")) or _text(token.get("preferred_username")),
        mail=_text(token.get("email")),
        mail_is_verified=token.get("email_verified") is True,
        groups=frozenset(map(_text, groups)) if isinstance(groups, list) else frozenset(filter(None, [_text(groups)])),
    )


def claim_of_headers(settings: Settings, headers: Headers) -> SignInClaims | None:
    """Of a proxy that is believed, which has checked the mail address too. None where it names nobody."""
    subject = _only(headers(settings.auth_user_header))
    if not subject:
        return None
    return SignInClaims(
        issuer=settings.auth_user_header,
        subject=subject,
        name=_only(headers(settings.auth_name_header)),
        mail=_only(headers(settings.auth_mail_header)),
        mail_is_verified=True,
        groups=frozenset(filter(None, map(str.strip, _only(headers(settings.auth_groups_header)).split(",")))),
    )


def _only(values: Iterable[str]) -> str:
    """Empty where there are several: the proxy has then added its own to what a browser sent."""
    found = list(values)
    # ASGI hands headers on as Latin-1; proxies write UTF-8.
    return found[0].strip().encode("latin-1", "replace").decode("utf-8", "replace") if len(found) == 1 else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
