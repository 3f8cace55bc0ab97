"""All file formats that can be loaded, one record each, used by crawler, uploader, originals and docs.

A new format is a module with a `load` in this package, and a record here. Records are light: a loader and its
libraries are imported when the first file of the format comes.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from index_store.base.errors import UnknownKind
from index_store.parsing.loaders.document import LoadedDocument, RawFile

Load = Callable[[RawFile], LoadedDocument]
"""raises DocumentError; reads nothing but its file"""

ANY_BYTES = "application/octet-stream"
"""browsers save this type and never open it"""
OFFICE = "application/vnd.openxmlformats-officedocument"
WITH_MACROS = "application/vnd.ms-{}.macroenabled.12"
"""of Office files with macros; media types are compared in lower case"""


@dataclass(frozen=True)
class Format:
    kind: str
    """its name in the catalogue"""
    suffixes: tuple[str, ...]
    """of file names, in lower case"""
    loader: Callable[[], Load]
    """imports the loader and its libraries"""
    media_types: Mapping[str, str]
    """media types that servers use for it -> the suffix, one of `suffixes`, for such a file"""
    shown_as: str | None
    """the media type with which a browser shows an original; None: the browser saves it"""
    saved_as: str
    """the media type of an original that is saved"""

    @property
    def served_as(self) -> str:
        return self.shown_as or self.saved_as


_FORMATS: list[Format] = []


def _format(
    kind: str,
    *suffixes: str,
    media_types: Mapping[str, str],
    shown_as: str | None = None,
    saved_as: str = ANY_BYTES,
) -> Callable[[Callable[[], Load]], Format]:
    """Makes a record of the function that imports the format's loader."""

    def add(loader: Callable[[], Load]) -> Format:
        record = Format(kind, suffixes, loader, media_types, shown_as, saved_as)
        _FORMATS.append(record)
        return record

    return add


# In the order in which people see them.


@_format("txt", ".txt", ".text", media_types={"text/plain": ".txt"}, shown_as="text/plain")
def _txt() -> Load:
    from index_store.parsing.loaders.text.txt import load

    return load


@_format(
    "md",
    ".md",
    ".markdown",
    media_types={"text/markdown": ".md", "text/x-markdown": ".md"},
    shown_as="text/plain",
)
def _md() -> Load:
    from index_store.parsing.loaders.text.md import load

    return load


@_format(
    "html",
    ".html",
    ".htm",
    ".xhtml",
    media_types={"text/html": ".html", "application/xhtml+xml": ".xhtml"},
    shown_as="text/html",
)
def _html() -> Load:
    from index_store.parsing.loaders.html.html import load

    return load


@_format(
    "pdf",
    ".pdf",
    media_types={"application/pdf": ".pdf", "application/x-pdf": ".pdf"},
    shown_as="application/pdf",
)
def _pdf() -> Load:
    from index_store.parsing.loaders.pdf.pdf import load

    return load


@_format(
    "docx",
    ".docx",
    ".docm",
    media_types={
        f"{OFFICE}.wordprocessingml.document": ".docx",
        WITH_MACROS.format("word.document"): ".docm",
    },
    saved_as=f"{OFFICE}.wordprocessingml.document",
)
def _docx() -> Load:
    from index_store.parsing.loaders.office.word.docx import load

    return load


@_format(
    "pptx",
    ".pptx",
    ".pptm",
    media_types={
        f"{OFFICE}.presentationml.presentation": ".pptx",
        WITH_MACROS.format("powerpoint.presentation"): ".pptm",
    },
    saved_as=f"{OFFICE}.presentationml.presentation",
)
def _pptx() -> Load:
    from index_store.parsing.loaders.office.pptx import load

    return load


@_format(
    "xlsx",
    ".xlsx",
    ".xlsm",
    media_types={
        f"{OFFICE}.spreadsheetml.sheet": ".xlsx",
        WITH_MACROS.format("excel.sheet"): ".xlsm",
    },
    saved_as=f"{OFFICE}.spreadsheetml.sheet",
)
def _xlsx() -> Load:
    from index_store.parsing.loaders.office.excel.xlsx import load

    return load


@_format(
    "csv",
    ".csv",
    ".tsv",
    media_types={
        "text/csv": ".csv",
        "text/tab-separated-values": ".tsv",
        "application/csv": ".csv",
        "application/x-csv": ".csv",
        "text/x-csv": ".csv",
        "text/comma-separated-values": ".csv",
    },
    shown_as="text/plain",
)
def _csv() -> Load:
    from index_store.parsing.loaders.text.csv import load

    return load


@_format("ipynb", ".ipynb", media_types={"application/x-ipynb+json": ".ipynb"}, saved_as="application/x-ipynb+json")
def _ipynb() -> Load:
    from index_store.parsing.loaders.text.notebook import load

    return load


@_format("rtf", ".rtf", media_types={"text/rtf": ".rtf", "application/rtf": ".rtf"}, saved_as="application/rtf")
def _rtf() -> Load:
    from index_store.parsing.loaders.office.rtf import load

    return load


@_format("epub", ".epub", media_types={"application/epub+zip": ".epub"}, saved_as="application/epub+zip")
def _epub() -> Load:
    from index_store.parsing.loaders.html.epub import load

    return load


@_format("eml", ".eml", media_types={"message/rfc822": ".eml"}, saved_as="message/rfc822")
def _eml() -> Load:
    from index_store.parsing.loaders.mail.eml import load

    return load


@_format("mht", ".mht", ".mhtml", media_types={"multipart/related": ".mhtml", "application/x-mimearchive": ".mhtml"})
def _mht() -> Load:
    from index_store.parsing.loaders.mail.eml import load_web_archive

    return load_web_archive


FORMATS = tuple(_FORMATS)
BY_KIND = {record.kind: record for record in FORMATS}
BY_SUFFIX = {suffix: record for record in FORMATS for suffix in record.suffixes}
BY_MEDIA_TYPE = {media_type: record for record in FORMATS for media_type in record.media_types}

ARCHIVES = frozenset({".zip"})
"""suffixes of archives, which archive.py unpacks"""

LOADABLE = (*BY_SUFFIX, *sorted(ARCHIVES))
"""suffixes of all files that can be added"""
UNSUPPORTED_DOCUMENTS = frozenset({
    ".doc", ".dot", ".xls", ".xlt", ".xlsb", ".ppt", ".pps", ".msg", ".odt", ".ods", ".odp", ".pages", ".numbers",
    ".jtd", ".xdw", ".xbd",  # Ichitaro and DocuWorks
})  # fmt: skip
"""suffixes of documents that can't be read, and are missed: a picture, such as a logo, is not"""


def format_of(name: str) -> Format:
    """Raises UnknownKind."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in BY_SUFFIX:
        raise UnknownKind(name=PurePath(name).name, known=" ".join(LOADABLE))
    return BY_SUFFIX[suffix]


def is_archive(name: str) -> bool:
    return PurePath(name).suffix.lower() in ARCHIVES


_LEFT_OUT = re.compile(r"(^|/)(\.(?!\.?(/|$))[^/]*|__MACOSX|Thumbs\.db|desktop\.ini|~\$[^/]*)(/|$)", re.I)


def is_left_out(path: str) -> bool:
    """Whether the path in a folder or an archive is hidden, or one that systems and programs keep for themselves."""
    return bool(_LEFT_OUT.search(path))
