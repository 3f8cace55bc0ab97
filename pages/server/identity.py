"""Finds the person behind a request.

Claims are read once, when someone signs in or a tab connects (`sign_in.py`), so that an old cookie or tab does not
bring back old groups. After that, a request only identifies the person. Each time, `people` is asked whether this
person still has access.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from index_store.access.access import Access
from index_store.access.people.recognition import SignInClaims
from index_store.access.principal import LOCAL, Principal
from index_store.base.errors import AccessWithdrawn, PlainError
from pages.server.providers import Provider
from pages.server.settings import ServerSettings

log = logging.getLogger(__name__)


class NotSignedIn(PlainError):
    en = "Nobody is signed in here. Reload the page to sign in."
    ja = "サインインしていません。ページを再読み込みしてサインインしてください。"


Cookies = Mapping[str, str]
HeaderValues = Callable[[str], Iterable[str]]
"""name -> all values"""


def identify(
    settings: ServerSettings, access: Callable[[], Access], cookies: Callable[[], Cookies], headers: HeaderValues
) -> Principal:
    """The person of a request, or of the request that opened a tab. `cookies` and `headers` are called only if the way
    of signing in needs them: Streamlit makes them anew each time, and a page asks twenty times who its reader is.

    Raises NotSignedIn, AccessWithdrawn, and the errors of `access`.
    """
    if settings.auth == "none":
        return LOCAL
    if settings.auth == "oidc":
        person = access().sign_ins.person_id(sign_in_cookie(cookies()))
    else:
        subject = _only(headers, settings.auth_user_header)
        person = access().people.id_of(settings.auth_user_header, subject) if subject else None
    if person is None:
        raise NotSignedIn
    principal = access().people.current(person)
    if principal is None:
        raise AccessWithdrawn
    return principal


def sign_in_cookie(cookies: Cookies) -> bytes:
    """The cookie that identifies a signed-in browser."""
    return cookies.get(USER_COOKIE_NAME, "").encode()


def claim_of_token(provider: Provider, token: Mapping[str, Any]) -> SignInClaims:
    """`token`: the claims of a checked ID token."""
    groups = token.get(provider.groups_claim)
    if groups is None:
        _tell_of_missing_groups(provider.groups_claim, token)
    return SignInClaims(
        issuer=_text(token.get("iss")),
        subject=_text(token.get("sub")),
        name=_text(token.get("name")) or _text(token.get("preferred_username")),
        mail=_text(token.get("email")),
        mail_is_verified=token.get("email_verified") is True,
        groups=frozenset(map(_text, groups)) if isinstance(groups, list) else frozenset(filter(None, [_text(groups)])),
    )


def _tell_of_missing_groups(claim: str, token: Mapping[str, Any]) -> None:
    """In the log: a person who is in no group any more has lost a role, and rights that were granted to the group."""
    elsewhere = token.get("_claim_names")
    if isinstance(elsewhere, dict) and claim in elsewhere:
        log.warning(
            "%s left the groups of a person out of the ID token, because there are too many. Let it send only the "
            "groups that are assigned to this app",
            _text(token.get("iss")),
        )
    else:
        log.info("An ID token of %s has no claim %s, so its person is in no group", _text(token.get("iss")), claim)


def claim_of_headers(settings: ServerSettings, headers: HeaderValues) -> SignInClaims | None:
    """The claim of a trusted proxy, which has also verified the mail address. That may be all it says who somebody is.
    None if it names nobody.
    """
    subject = _only(headers, settings.auth_user_header)
    if not subject:
        return None
    # Most proxies separate groups by commas, Authentik by |.
    groups = _only(headers, settings.auth_groups_header).replace("|", ",").split(",")
    return SignInClaims(
        issuer=settings.auth_user_header,
        subject=subject,
        name=_only(headers, settings.auth_name_header),
        mail=_only(headers, settings.auth_mail_header) or (subject if "@" in subject else ""),
        mail_is_verified=True,
        groups=frozenset(filter(None, map(str.strip, groups))),
    )


def _only(headers: HeaderValues, name: str) -> str:
    """The only value; empty if there are several, because the proxy has then added its own to one from the browser.
    Also empty if it is not UTF-8: with unreadable characters replaced, two people could get the same name.
    """
    found = list(headers(name))
    if len(found) != 1:
        return ""
    try:
        # ASGI decodes headers as Latin-1; proxies write UTF-8.
        return found[0].encode("latin-1").decode().strip()
    except UnicodeError:
        log.warning("Ignored a header: %s is not UTF-8. The proxy must write it in UTF-8", name)
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
