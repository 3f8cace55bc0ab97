"""The normal form of a page's address, and the site that it belongs to.

Addresses are parsed as in browsers (the WHATWG URL standard, by Ada), so that this code reads each address as the
page's author saw it: hosts in any script or number notation, backslashes, dot segments.
"""

import re
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes

import ada_url

from index_store.base.errors import DocumentError
from index_store.crawl.errors import AddressWithPassword, BadAddress
from index_store.parsing.loaders.text.decode import decode

MAX_LENGTH = 2000
"""characters; sitemaps allow 2,048, and longer addresses come from loops"""

MAX_REPEATS = 4
"""times that one segment may be in a path; more comes from a relative link that loops, as in /a/b/a/b/a/b"""

_TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|yclid|msclkid|twclid|ttclid|igshid|mc_cid|mc_eid|_ga|_gl|_hs\w+",
    re.I,
)
_SESSION = re.compile(r"phpsessid|jsessionid|aspsessionid\w*", re.I)
_MAYBE_SESSION = re.compile(r"session_?id|sid|cfid|cftoken", re.I)
"""a session only if its value is a token: a conference has pages like ?session_id=101"""
_TOKEN = re.compile(r"(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[\w-]{16,}", re.I)
_SESSION_IN_PATH = re.compile(r"(?i:;(?:jsessionid|phpsessid|sessionid)=[^/;]*)|/\((?:[A-Z]\([^()/]*\))+\)(?=/)")
"""the second form is of ASP.NET: /(S(lit3py55t21z5v55vlm25s55))/page.aspx"""
_FOR_PRINTERS = re.compile(
    r"print(er|able|view|_?mode|er_?friendly)?=(1|yes|true|on|y)?"
    r"|(action|mode|view|format|layout|display|type)=print(er|able|view)?",
    re.I,
)
"""a parameter that asks for the same page without its menus"""
_SORTED = re.compile(r"C=[NMSD](;|%3B)O=[AD]")
"""of a list of files by Apache: the same files in another order"""
_SIGN_IN = re.compile(r"log[_-]?in|log[_-]?on|sign[_-]?in|auth|session|account|member", re.I)
_SIGN_IN_ALONE = re.compile(
    r"((?<!b)log|sign)[_-]?(in|on)(form|page)?(?![a-z])|sessions?/new(?![a-z])|(?<![a-z])auth(orize)?(?![a-z])", re.I
)
"""what is called so is a form, and no page about members or accounts"""
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
_PARTS = re.compile(
    r"(?P<protocol>https?:)//(?P<person>[^/?#@]*@)?(?P<host>\[[^/?#@\]]*\]|[^/?#@:]*)(?P<port>:[0-9]+)?"
    r"(?P<path>/[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?"
)
"""of an address that Ada has written. Each part that Ada is asked for is another call without the lock of Python's
threads: among the threads that read pages, ten of them for each link took ten times as long."""


class SiteHost(NamedTuple):
    host: str
    """without www."""
    port: str
    """empty: the default port of http or https, which count as one site"""


def normalised(link: str, base: str | None = None) -> str:
    """The address of `link` on the page `base`, without fragment, and without parameters of sessions, of tracking,
    for printers and for another order of files.

    Raises BadAddress and AddressWithPassword.
    """
    try:
        url = ada_url.URL(link, base=base).href
    except (ValueError, UnicodeEncodeError):  # `from None`, here and below: the chain would print the address
        raise BadAddress from None
    parts = _PARTS.fullmatch(url)
    if not parts or not parts["host"].strip("."):
        raise BadAddress
    if parts["person"]:
        raise AddressWithPassword
    host = parts["host"].rstrip(".") + (parts["port"] or "")
    path = _plain(_SESSION_IN_PATH.sub("", parts["path"])) or "/"
    query = _query(parts["query"] or "")
    address = f"{parts['protocol']}//{host}{path}" + (f"?{query}" if query else "")
    if len(address) > MAX_LENGTH:
        raise BadAddress
    return address


def absolute(link: str, base: str) -> str:
    """The address of `link` on the page `base` as it is written, without fragment. Raises BadAddress."""
    try:
        return ada_url.URL(link, base=base).href.partition("#")[0]
    except (ValueError, UnicodeEncodeError):
        raise BadAddress from None


def typed(text: str) -> str:
    """The address that a person typed, maybe without https://. Raises the errors of `normalised`."""
    text = text.strip()
    # A name with a port looks like a scheme: host:8000
    has_scheme = _SCHEME.match(text) and not re.match(r"[^/:]+:\d+(?:/|$)", text)
    return normalised(text if has_scheme else f"https://{text}")


@lru_cache(4096)  # it is asked for each link of each page
def site_of(url: str) -> SiteHost:
    parsed = ada_url.URL(url)
    return SiteHost(parsed.hostname.removeprefix("www."), parsed.port)


def origin_of(url: str) -> str:
    return ada_url.URL(url).origin


def host_of(url: str) -> str:
    """The host with its port, as people see it."""
    return ada_url.URL(url).host


def path_of(url: str) -> str:
    """The path as people write it: /規程/旅費.html"""
    return unescaped(ada_url.URL(url).pathname)


def query_of(url: str) -> str:
    return unescaped(ada_url.URL(url).search)


def unescaped(text: str) -> str:
    """A part of an address as people write it. Older sites in Japan escape the bytes of Shift_JIS or EUC-JP."""
    written = unquote(text)
    if "\ufffd" in written:
        with suppress(DocumentError):
            return decode(unquote_to_bytes(text), text)
    return written


def names_another(url: str) -> bool:
    """Whether a parameter is an address: that to which a sign-in returns, as in /login?next=/page."""
    pairs = ada_url.URL(url).search.removeprefix("?").split("&")
    return any(re.match(r"/|https?:", unquote(pair.partition("=")[2])) for pair in pairs)


def is_called_sign_in(url: str) -> bool:
    return bool(_SIGN_IN.search(path_of(url)))


def is_called_sign_in_form(url: str) -> bool:
    return bool(_SIGN_IN_ALONE.search(path_of(url)))


def loops(url: str) -> bool:
    segments = [segment for segment in ada_url.URL(url).pathname.split("/") if segment]
    return any(times > MAX_REPEATS for times in Counter(segments).values())


def _plain(text: str) -> str:
    """Each escape in one spelling (RFC 3986, 6.2.2)."""

    def respell(escape: re.Match[str]) -> str:
        character = chr(int(escape[1], 16))
        return character if character in _UNRESERVED else escape[0].upper()

    return _ESCAPE.sub(respell, text)


def _query(query: str) -> str:
    kept: dict[str, None] = {}  # in order, each pair once: ?a=1&a=1&a=1 would grow for ever
    for pair in _plain(query).split("&"):
        if pair and not _says_nothing(pair):
            kept[pair] = None
    return "&".join(kept)


def _says_nothing(pair: str) -> bool:
    """Whether a parameter does not decide which page is shown."""
    name, _, value = pair.partition("=")
    name = unquote(name)
    if _MAYBE_SESSION.fullmatch(name):
        return bool(_TOKEN.fullmatch(value))
    is_another_form = _FOR_PRINTERS.fullmatch(pair) or _SORTED.fullmatch(pair)
    return bool(is_another_form or _TRACKING.fullmatch(name) or _SESSION.fullmatch(name))
