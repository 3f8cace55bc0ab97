"""The kind of a fetched document, from its media type and address: only loadable kinds are fetched."""

import mimetypes
import re
from email.message import Message
from pathlib import PurePosixPath
from urllib.parse import unquote

import ada_url
import httpx2

from index_store.parsing.loaders.formats import BY_MEDIA_TYPE, BY_SUFFIX

HTML = ".html"

_SAYS_LITTLE = frozenset(
    (
        "",
        "text/plain",  # servers send it for unknown kinds
        "application/octet-stream",
        "binary/octet-stream",
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
    )
)

_TYPES = mimetypes.MimeTypes(filenames=())  # the standard table, not the machine's
_MEDIA = re.compile("(?:image|audio|video|font)/")  # not scripts: few are linked, and a page can be Node.js
_PROGRAMS_AND_ARCHIVES = re.compile(
    r"\.(?:exe|msi|dmg|pkg|deb|rpm|apk|iso|img|bin|dll|jar|war|tgz|7z|rar|tar|zip|"
    r"woff2?|ttf|otf|eot|flv|swf|psd|ai|eps|dwg|map|wasm)"
)


def is_hopeless(url: str) -> bool:
    """Whether the address alone shows that this is no document, but a picture or a program. It is not fetched then."""
    path = ada_url.URL(url).pathname
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in BY_SUFFIX:
        return False
    kind, encoding = _TYPES.guess_type(f"x{suffix}")
    return bool(encoding or _PROGRAMS_AND_ARCHIVES.fullmatch(suffix) or _MEDIA.match(kind or ""))


def media_type(headers: httpx2.Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


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


def name_of(headers: httpx2.Headers, url: str, suffix: str) -> str:
    """A file name for the content, with `suffix`. It becomes the title if the content has none."""
    parsed = ada_url.URL(url)
    name = _file_name(headers, url) or next(filter(None, reversed(unquote(parsed.pathname).split("/"))), "")
    stem = PurePosixPath(re.sub(r'[\x00-\x1f\\/:*?"<>|]+', " ", name)).stem.strip(" .")
    return f"{stem[:80] or parsed.hostname}{suffix}"


def _file_name(headers: httpx2.Headers, url: str) -> str:
    """The name of the attachment, otherwise the one in the address."""
    message = Message()
    message["content-disposition"] = re.sub(r"[\r\n]", "", headers.get("content-disposition", ""))
    named = message.get_filename() if "filename" in headers.get("content-disposition", "") else None
    return re.split(r"[\\/]", named)[-1] if named else unquote(ada_url.URL(url).pathname.rpartition("/")[2])
