"""An Office file (Open Packaging Conventions, ECMA-376 part 2): a zip of XML parts that refer to each other.

Only this file unpacks and parses Office files, so its limits hold for all of them: unpacked bytes are counted as they
come out, a part with a DTD is refused, and nothing outside the file is ever fetched. Elements are found by their local
name, since the strict form of the standard has other namespaces. Macros and embedded files are not read.
"""

import logging
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TypedDict
from urllib.parse import unquote

from lxml import etree

from index_store.base.errors import EmptyDocument, PackedTooTightly, PasswordProtected, Unreadable, WrongContent
from index_store.parsing.loaders.content import OLD_OFFICE, content_kind, is_encrypted_office, unreadable
from index_store.parsing.loaders.document import RawFile

log = logging.getLogger(__name__)

UNPACKED_MB = 500
"""of XML that is read of one file; a workbook of 200,000 rows has 70"""
RATIO = 100
"""limit for the size of its XML, as a multiple of the file's; large sheets and long texts have 10 to 30, a bomb 1000"""
RATIO_FROM_MB = 20
"""of XML; below it, the ratio does not matter"""

Element = etree._Element  # noqa: SLF001 - its public name is a function

_MEGABYTE = 1024 * 1024
_ENCRYPTED = 0x1
"""bit of a member's flags (APPNOTE 4.4.4)"""
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, struct.error, OSError, ValueError, OverflowError,
    etree.XMLSyntaxError, LookupError,
)  # fmt: skip
"""the errors of zipfile and lxml for a damaged file"""


class _Parsing(TypedDict):
    resolve_entities: bool
    load_dtd: bool
    no_network: bool
    huge_tree: bool
    remove_comments: bool
    remove_pis: bool


_PARSING: _Parsing = {
    "resolve_entities": False, "load_dtd": False, "no_network": True, "huge_tree": False,
    "remove_comments": True, "remove_pis": True,
}  # fmt: skip


class Package:
    """Its parts by name, as in "word/document.xml"."""

    def __init__(self, archive: zipfile.ZipFile, name: str, size: int) -> None:
        self.name = name
        # Names are compared without case. Some programs write them with backslashes.
        self._parts = {_key(info.filename): info for info in archive.infolist() if not info.is_dir()}
        self._archive = archive
        self._left = min(UNPACKED_MB, RATIO_FROM_MB + RATIO * size // _MEGABYTE) * _MEGABYTE
        self._links: dict[str, dict[str, tuple[str, str]]] = {}

    def __contains__(self, part: str) -> bool:
        return _key(part) in self._parts

    @property
    def names(self) -> list[str]:
        return list(self._parts)

    def main(self) -> str:
        """The part that is the document, workbook or presentation."""
        found = self.related("", "officeDocument")
        if not found:
            raise Unreadable(name=self.name)
        return found[0]

    def related(self, part: str, kind: str) -> list[str]:
        """The parts of this kind, the last word of the relationship's type, to which `part` refers."""
        return [target for found, target in self._relations(part).values() if found == kind and target in self]

    def target(self, part: str, reference: str | None) -> str | None:
        """The part to which `part` refers by this id."""
        target = self._relations(part).get(reference or "", ("", ""))[1]
        return target if target in self else None

    def tree(self, part: str) -> Element:
        """Raises Unreadable."""
        with self._open(part) as stream:
            root = etree.parse(stream, etree.XMLParser(**_PARSING)).getroot()
        self._refuse_dtd(root)
        return root

    def elements(self, part: str, *names: str) -> Iterator[Element]:
        """Elements of these local names as they end; the caller releases each, to free memory."""
        with self._open(part) as stream:
            events = etree.iterparse(stream, events=("end",), tag=[f"{{*}}{name}" for name in names], **_PARSING)
            for count, (_, element) in enumerate(events):
                if not count:
                    self._refuse_dtd(element)
                yield element
            if events.root is not None:
                self._refuse_dtd(events.root)

    def title(self) -> str:
        """The title in the core properties; "" if there is none or they can't be read."""
        for part in self.related("", "core-properties"):
            try:
                return self.tree(part).findtext("{*}title") or ""
            except Unreadable:
                log.info("the properties of %s can't be read", self.name)
        return ""

    def _relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Id -> type and target of the references of `part` inside the file."""
        if part not in self._links:
            folder, file = posixpath.split(part)
            relations = posixpath.join(folder, "_rels", file + ".rels")
            root = self.tree(relations) if relations in self else ()
            self._links[part] = {
                relation.get("Id", ""): (
                    posixpath.basename(relation.get("Type", "")),
                    posixpath.normpath(posixpath.join("/", folder, unquote(relation.get("Target", "")))).lstrip("/"),
                )
                for relation in root
                if relation.get("TargetMode") != "External"
            }
        return self._links[part]

    @contextmanager
    def _open(self, part: str) -> Iterator["_Counted"]:
        info = self._parts.get(_key(part))
        if info is None:
            raise Unreadable(name=self.name)
        if info.flag_bits & _ENCRYPTED:
            raise PasswordProtected(name=self.name)
        if info.file_size > self._left:
            raise PackedTooTightly(name=self.name, ratio=RATIO)
        try:
            with self._archive.open(info) as stream:
                yield _Counted(stream, self)
        except _DAMAGED as error:
            raise Unreadable(name=self.name) from error

    def count(self, size: int) -> None:
        """Raises PackedTooTightly."""
        self._left -= size
        if self._left < 0:
            raise PackedTooTightly(name=self.name, ratio=RATIO)

    def _refuse_dtd(self, element: Element) -> None:
        # OPC allows no DTD (9.1.4); one is there to fill the memory, or to fetch something.
        if element.getroottree().docinfo.internalDTD is not None:
            raise Unreadable(name=self.name)


class _Counted:
    def __init__(self, stream: IO[bytes], package: Package) -> None:
        self._stream = stream
        self._package = package

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._package.count(len(data))
        return data


@contextmanager
def opened(file: RawFile, kind: str) -> Iterator[Package]:
    """`kind` is what the file has to be: "Word", "Excel" or "PowerPoint".

    Raises EmptyDocument, WrongContent, PasswordProtected, Unreadable.
    """
    with file.path.open("rb") as stream:
        start = stream.read(4096)
    if not start:
        raise EmptyDocument(name=file.name)
    if start.startswith(OLD_OFFICE) and is_encrypted_office(file.content):
        raise PasswordProtected(name=file.name)
    found = content_kind(file.content if start.startswith(OLD_OFFICE) else start)
    if found and not found.startswith("ZIP"):
        raise WrongContent(name=file.name, content=found)
    try:
        archive = zipfile.ZipFile(file.path)
    except _DAMAGED as error:
        raise unreadable(file.name, start) from error
    with archive:
        package = Package(archive, file.name, file.path.stat().st_size)
        _check(package, kind)
        yield package


_FOLDERS = {
    "word/": "Word",
    "xl/": "Excel",
    "ppt/": "PowerPoint",
    "meta-inf/": "EPUB / OpenDocument",
    "visio/": "Visio",
}


def _check(package: Package, kind: str) -> None:
    if "xl/workbook.bin" in package:
        raise WrongContent(name=package.name, content="Excel (.xlsb)")
    kinds = {found for folder, found in _FOLDERS.items() if any(name.startswith(folder) for name in package.names)}
    if kind in kinds or ("[Content_Types].xml" in package and not kinds):
        return
    raise WrongContent(name=package.name, content=" / ".join(sorted(kinds)) or "ZIP")


def _key(part: str) -> str:
    return part.replace("\\", "/").lstrip("/").lower()


# Elements without their namespaces


def local(element: Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def release(element: Element) -> None:
    """Frees the memory of an element that has been read, and of all before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def attribute(element: Element | None, name: str) -> str | None:
    if element is None:
        return None
    for key, value in element.attrib.items():
        if key == name or key.endswith("}" + name):
            return value
    return None


def number(element: Element | None, name: str, default: int) -> int:
    """A whole number; some programs write them carelessly."""
    text = attribute(element, name) or ""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 15 else default


def is_on(element: Element | None) -> bool:
    """Whether a switch such as `<w:vanish/>` is on: it may be present and be off."""
    return element is not None and attribute(element, "val") not in ("0", "false", "off", "none")
