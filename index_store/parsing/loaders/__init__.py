"""A file of any kind to Markdown with its headings. A new kind is a new module and a line here."""

from importlib import import_module
from pathlib import PurePath
from typing import Protocol, cast

from index_store.base.errors import UnknownKind
from index_store.parsing.loaders.loaded import Heading, Loaded, Page, RawFile

KINDS = {
    ".txt": "txt",
    ".text": "txt",
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".csv": "csv",
    ".tsv": "csv",
    ".rtf": "rtf",
    ".epub": "epub",
    ".eml": "eml",
    ".mht": "mht",
    ".mhtml": "mht",
}
"""suffix -> the module of this package that loads it"""

ARCHIVES = frozenset({".zip"})
"""suffixes of what holds documents and is unpacked by archive.py"""


_FOLDERS = {
    "txt": "text",
    "md": "text",
    "csv": "text",
    "html": "html",
    "epub": "html",
    "pdf": "pdf",
    "docx": "office",
    "pptx": "office",
    "xlsx": "office",
    "rtf": "office",
    "eml": "mail",
    "mht": "mail",
}


class Loader(Protocol):
    def load(self, file: RawFile) -> Loaded:
        """Raises DocumentError."""
        ...


def kind_of(name: str) -> str:
    """Raises UnknownKind."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in KINDS:
        raise UnknownKind(name=PurePath(name).name, known=" ".join([*KINDS, *sorted(ARCHIVES)]))
    return KINDS[suffix]


def is_archive(name: str) -> bool:
    return PurePath(name).suffix.lower() in ARCHIVES


def loader_of(kind: str) -> Loader:
    # Imported when wanted: each brings libraries that the others don't need.
    return cast(Loader, import_module(f"index_store.parsing.loaders.{_FOLDERS[kind]}.{kind}"))


__all__ = ["ARCHIVES", "KINDS", "Heading", "Loaded", "Loader", "Page", "RawFile", "is_archive", "kind_of", "loader_of"]
