"""The kind of a fetched document, from its media type and address: only loadable kinds are fetched."""

import mimetypes
import re
from contextlib import suppress
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from pathlib import PurePosixPath
from urllib.parse import unquote

import ada_url
import httpx2

from index_store.base.errors import DocumentError
from index_store.crawl.address import unescaped
from index_store.parsing.loaders.formats import BY_MEDIA_TYPE, BY_SUFFIX, UNSUPPORTED_DOCUMENTS
from index_store.parsing.loaders.text.decode import decode

HTML = ".html"

_SAYS_LITTLE = frozenset(
    (
        "",
        "text/plain",  # servers send it for unknown kinds
        "application/octet-stream",
        "binary/octet-stream",
        "application/octetstream",
        "application/x-octet-stream",
        "application/unknown",
        "application/download",
        "application/x-download",
        "application/force-download",
        "application/zip",  # office files are zip files
        "application/x-zip-compressed",
        "application/xml",
        "text/xml",
        "application/msword",  # older servers send the types of 97-2003 for newer files, and Excel's for CSV
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/excel",
        "application/msexcel",
        "application/x-excel",
        "application/x-msexcel",
        "application/mspowerpoint",
        "application/powerpoint",
        "application/vnd.openxmlformats",  # servers whose list ends the type at its first hyphen
    )
)

LONGEST = 4000
"""characters of a Content-Disposition that are read"""

_NOT_IN_A_NAME = re.compile(r'[\x00-\x1f\x7f-\x9f\ud800-\udfff\\/:*?"<>|]+')
"""controls, halves of characters, and what Windows does not allow"""
_EXTENDED = re.compile(r"filename\*\s*=\s*\"?([\w-]*)'[\w-]*'([^;\"\s]+)", re.I)
_TYPES = mimetypes.MimeTypes(filenames=())  # the standard table, not the machine's
_MEDIA = re.compile("(?:image|audio|video|font)/")  # not scripts: few are linked, and a page can be Node.js
_PROGRAMS_AND_ARCHIVES = re.compile(
    r"\.(?:exe|msi|dmg|pkg|deb|rpm|apk|iso|img|bin|dll|jar|war|tgz|7z|rar|tar|zip|"
    r"woff2?|ttf|otf|eot|flv|swf|psd|ai|eps|dwg|map|wasm)"
)
_SOURCES = re.compile(r"/_sources/.*\.(?:txt|md|rst|ipynb)\Z")
"""the source of a page of Sphinx ("Show Source"), which would bring its text twice"""


def is_hopeless(url: str) -> bool:
    """Whether the address alone shows that this is no document, but a picture, a program or the source of another
    page. It is not fetched then.
    """
    path = ada_url.URL(url).pathname
    if _SOURCES.search(path):
        return True
    suffix = PurePosixPath(path.rpartition("/")[2]).suffix.lower()  # a folder may be /news/open.ai/
    if suffix in BY_SUFFIX:
        return False
    kind, encoding = _TYPES.guess_type(f"x{suffix}")
    return bool(encoding or _PROGRAMS_AND_ARCHIVES.fullmatch(suffix) or _MEDIA.match(kind or ""))


def media_type(headers: httpx2.Headers) -> str:
    """The first, if the server says it twice."""
    return re.split("[;,]", headers.get("content-type", ""), maxsplit=1)[0].strip().lower()


def charset_of(headers: httpx2.Headers) -> str | None:
    found = re.search(r";\s*charset\s*=\s*[\"']?\s*([\w.:+-]{1,40})", headers.get("content-type", ""), re.I)
    return found[1].lower() if found else None


def suffix_of(headers: httpx2.Headers, url: str) -> str | None:
    """The suffix of a format that can be loaded, or None."""
    kind = media_type(headers)
    named = PurePosixPath(_file_name(headers, url)).suffix.lower()
    if kind in _SAYS_LITTLE and named in BY_SUFFIX:
        return named
    if not kind and not named:
        return HTML
    found = BY_MEDIA_TYPE.get(kind)
    if found is None:
        return None
    return named if named in found.suffixes else found.media_types[kind]


def unsupported_suffix(headers: httpx2.Headers, url: str) -> str:
    """That of a document which nobody would miss without being told; empty for anything else, such as a picture."""
    named = PurePosixPath(_file_name(headers, url)).suffix.lower()
    return named if named in UNSUPPORTED_DOCUMENTS else ""


def name_of(headers: httpx2.Headers, url: str, suffix: str) -> str:
    """A file name for the content, with `suffix`. It becomes the title if the content has none."""
    parsed = ada_url.URL(url)
    name = _file_name(headers, url) or next(filter(None, reversed(unescaped(parsed.pathname).split("/"))), "")
    stem = PurePosixPath(_NOT_IN_A_NAME.sub(" ", name)).stem.strip(" .")
    return f"{stem[:80] or parsed.hostname}{suffix}"


def _file_name(headers: httpx2.Headers, url: str) -> str:
    """The name of the attachment, otherwise the one in the address."""
    named = _attachment(re.sub(r"[\r\n]", "", headers.get("content-disposition", "")[:LONGEST]))
    return re.split(r"[\\/]", named)[-1] if named else unescaped(ada_url.URL(url).pathname.rpartition("/")[2])


def _attachment(disposition: str) -> str | None:
    """The file name of a Content-Disposition. `filename*` counts first (RFC 6266, 4.3)."""
    if extended := _EXTENDED.search(disposition):
        with suppress(LookupError, UnicodeError):
            return unquote(extended[2], extended[1] or "utf-8", "strict")
    message = Message()
    message["content-disposition"] = disposition
    with suppress(UnicodeError, TypeError):  # TypeError: of a name in parts, one part has no number
        named = message.get_filename() if "filename" in disposition.lower() else None
        return _decoded(named) if named else None
    return None


def _decoded(name: str) -> str:
    """A file name that its server has encoded in one of the ways that browsers understand."""
    with suppress(UnicodeEncodeError, DocumentError):
        if not name.isascii():
            return decode(name.encode("latin-1"), name)  # raw bytes, as many servers in Japan send them
    with suppress(LookupError, UnicodeError, HeaderParseError):
        if "=?" in name:
            return str(make_header(decode_header(name)))
    written = unescaped(name)
    return name if "\ufffd" in written else written
