"""EPUB: the chapters in the order of the spine, each as an HTML page; the title from the metadata.

It is read as a zip of XHTML files. A library for it (EbookLib) extracts no text and treats paths in its own way.
"""

import logging
import posixpath
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from urllib.parse import unquote, urldefrag

from lxml import etree

from index_store.base.errors import CopyProtected, NoText, TooMuchText, Unreadable, WrongContent
from index_store.parsing.loaders.content import content_kind, unreadable
from index_store.parsing.loaders.document import Heading, LoadedDocument, Page, RawFile
from index_store.parsing.loaders.html.anchors import add_headings
from index_store.parsing.loaders.html.body import body_markdown
from index_store.parsing.loaders.html.tree.node import Holds
from index_store.parsing.loaders.html.tree.tree import parse
from index_store.parsing.loaders.text.decode import decode

log = logging.getLogger(__name__)

TEXT = 100_000_000
"""characters of chapters, including tags; a thick book has three million"""

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError)
"""zipfile's errors for a damaged archive"""
_FONT_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def load(file: RawFile) -> LoadedDocument:
    with file.path.open("rb") as stream:
        start = stream.read(4096)
    kind = content_kind(start)
    if kind and not kind.startswith("ZIP"):
        raise WrongContent(name=file.name, content=kind)
    try:
        with zipfile.ZipFile(file.path) as archive:
            return _Book(archive, file.name).loaded()
    except _DAMAGED as error:
        raise unreadable(file.name, start) from error


class _Book:
    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._left = TEXT

    def loaded(self) -> LoadedDocument:
        package = self._package()
        opf = self._xml(package)
        folder = posixpath.dirname(package)
        items = {item.get("id"): item for item in opf.iterfind(".//{*}manifest/{*}item")}
        spine = [items[ref.get("idref")] for ref in opf.iterfind(".//{*}spine/{*}itemref") if ref.get("idref") in items]
        guide = {_target(folder, ref.get("href")) for ref in opf.iterfind(".//{*}reference[@type='toc']")}
        navigation = {_target(folder, item.get("href")) for item in items.values() if _is_navigation(item)}
        chapters = list(dict.fromkeys(_target(folder, item.get("href")) for item in spine))
        self._refuse_locked(chapters)
        titles = self._titles(guide | navigation)
        # The contents of a book in one file are in its chapter.
        contents = navigation | {path for path in guide if self._is_contents(path)}
        read = [
            (page, titles.get(chapter, {}))
            for chapter in chapters
            if chapter not in contents and (page := self._chapter(chapter, titles.get(chapter, {})))
        ]
        if not read:
            raise NoText(name=self._name)
        depths = {level for of_file in titles.values() for _, level in of_file.values() if level}
        pages = list(_nested(read, min(depths))) if len(depths) > 1 else [page for page, _ in read]
        title = " ".join((opf.findtext(".//{http://purl.org/dc/elements/1.1/}title") or "").split())
        return LoadedDocument(title=title or PurePath(self._name).stem, pages=pages)

    def _package(self) -> str:
        """The path of the file that lists all others."""
        if "META-INF/container.xml" in self._archive.namelist():
            root = self._xml("META-INF/container.xml").find(".//{*}rootfile")
            path = root.get("full-path") if root is not None else None
            if path is not None and path in self._archive.namelist():
                return path
        found = [name for name in self._archive.namelist() if name.lower().endswith(".opf")]
        if not found:
            raise Unreadable(name=self._name)
        return found[0]

    def _refuse_locked(self, chapters: list[str]) -> None:
        if "META-INF/encryption.xml" not in self._archive.namelist():
            return
        for data in self._xml("META-INF/encryption.xml").iterfind(".//{*}EncryptedData"):
            method, reference = data.find("{*}EncryptionMethod"), data.find(".//{*}CipherReference")
            is_font = method is not None and method.get("Algorithm") in _FONT_OBFUSCATION
            if not is_font and reference is not None and _target("", reference.get("URI")) in chapters:
                raise CopyProtected(name=self._name)

    def _titles(self, contents: set[str]) -> dict[str, dict[str, tuple[str, int]]]:
        """The tables of contents: file -> place in it, "" for the file as a whole -> title and level from 1."""
        titles: dict[str, dict[str, tuple[str, int]]] = {}
        for path in sorted(contents & set(self._archive.namelist())):
            try:
                root = self._xml(path)
            except Unreadable:
                log.info("a table of contents of %s can't be read", self._name)
                continue
            links = [(link, link.get("href"), "".join(link.itertext())) for link in root.iterfind(".//{*}a[@href]")]
            for point in root.iterfind(".//{*}navPoint"):
                content = point.find("{*}content")
                if content is not None:
                    links.append((content, content.get("src"), point.findtext("{*}navLabel/{*}text") or ""))
            for entry, target, text in links:
                if text.strip():
                    level = sum(1 for _ in entry.iterancestors("{*}ol", "{*}navPoint"))
                    of_file = titles.setdefault(_target(posixpath.dirname(path), target), {})
                    of_file.setdefault(unquote(urldefrag(target).fragment), (" ".join(text.split()), level))
        return titles

    def _is_contents(self, path: str) -> bool:
        """Whether a file has hardly more than links."""
        if path not in self._archive.namelist():
            return False
        try:
            body = self._xml(path).find(".//{*}body")
        except Unreadable:
            return False
        return body is not None and 2 * sum(map(_letters, body.iterfind(".//{*}a[@href]"))) >= _letters(body)

    def _chapter(self, path: str, titles: dict[str, tuple[str, int]]) -> Page | None:
        if path not in self._archive.namelist():
            log.warning("%s lists a chapter that it does not contain: %s", self._name, path)
            return None
        tree = parse(decode(self._read(path), self._name))
        title = None
        if titles and not tree.root.holds & Holds.HEADING:
            highest = min(level for _, level in titles.values())
            has_places = add_headings(
                tree.root, {place: (text, level - highest + 1) for place, (text, level) in titles.items() if place}
            )
            # The only title of a file names all of it, even if its place is not there.
            title, _ = titles.get("", (None, 0))
            title = next(iter(titles.values()))[0] if len(titles) == 1 and not has_places else title
        markdown = body_markdown(tree.root)
        if not markdown.strip():
            return None
        return Page(markdown=f"# {title}\n\n{markdown}" if title else markdown)

    def _xml(self, path: str) -> etree._Element:
        """Raises Unreadable."""
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, huge_tree=False)
        try:
            root = etree.fromstring(self._read(path), parser)
        except etree.XMLSyntaxError as error:
            raise Unreadable(name=self._name) from error
        dtd = root.getroottree().docinfo.internalDTD if root is not None else None
        # Older books name a DTD. A DTD with its own entities is an attack that fills the memory.
        if root is None or (dtd is not None and any(dtd.iterentities())):
            raise Unreadable(name=self._name)
        return root

    def _read(self, path: str) -> bytes:
        with self._archive.open(path) as stream:
            content = stream.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise TooMuchText(name=self._name, limit=f"{TEXT:,}")
        return content


def _nested(chapters: Iterable[tuple[Page, dict[str, tuple[str, int]]]], top: int) -> Iterator[Page]:
    """The pages, each with its titles, with headings as deep as in contents whose highest level is `top`: books choose
    them by their looks. What is not in the contents goes on with the chapter above.
    """
    first, deeper = 0, 0
    for page, titles in chapters:
        lines = enumerate(page.lines())
        headings = [Heading(line=number, level=level, text=text) for number, (_, level, text) in lines if level]
        if headings:
            depths = {"".join(title.split()): level for title, level in titles.values() if level}
            depth = depths.get("".join(headings[0].text.split()))
            if depth is not None:
                first, deeper = headings[0].level, depth - top + 1 - headings[0].level
            elif headings[0].level <= first:
                deeper = 0
        levels = (min(max(heading.level + deeper, 1), 6) for heading in headings)
        moved = [each.model_copy(update={"level": level}) for each, level in zip(headings, levels, strict=True)]
        yield page.model_copy(update={"headings": tuple(moved)}) if deeper else page


def _is_navigation(item: etree._Element) -> bool:
    return "nav" in (item.get("properties") or "").split() or item.get("media-type") == "application/x-dtbncx+xml"


def _letters(element: etree._Element) -> int:
    return sum(character.isalnum() for text in element.itertext() for character in text)


def _target(folder: str, href: str | None) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(urldefrag(href or "").url)))
