"""What a page tells a crawler: its links, and whether it may be indexed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from urllib.parse import quote

import httpx2
from bs4 import BeautifulSoup, ParserRejectedMarkup, Tag
from bs4.filter import SoupStrainer

from index_store.base.errors import DocumentError
from index_store.crawl.address import normalised
from index_store.crawl.duplicates import NO_LOOK, PageLook, pieces_of
from index_store.parsing.loaders.text.decode import decode

READ = 2 * 1024 * 1024
"""bytes of a page that are searched for links"""
TAGS = 50_000
"""tags that are read, including closing ones: BeautifulSoup takes 13 µs and 0.5 kB for each (measured), and 2 MB may
hold 700,000
"""
MOST = 10_000
"""links of one page"""
TITLE = 200
"""characters of each page's title and heading, stored to tell duplicates from mistakes"""
HEADER = 4000
"""characters of a header that are read"""

_LINKING = ("a", "area", "embed", "frame", "iframe", "link", "object")
_TAGS = SoupStrainer([*_LINKING, "base", "frameset", "h1", "meta", "noscript", "title"])
_VALUED = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
"""rules of X-Robots-Tag that have a colon, as the name of a crawler has"""
_ROBOTS = ("robots", "glassbox-rag")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]+)", re.I)
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*>")
_REFRESH = re.compile(
    r"\s*(?=[\d.])(\d{0,9})[\d.]*(?:\s*[;,]|\s)\s*(?:url\s*=\s*)?(?:[\"']\s*)?([^\s\"'][^\"']*)", re.I
)
"""seconds and an address, as browsers read them (HTML, "shared declarative refresh steps")"""


_PASSWORD = re.compile(r"<input\b[^>]{0,300}?\btype\s*=\s*[\"']?password", re.I)


@dataclass(frozen=True)
class PageOutline:
    links: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    """those of `links` that are shown in place of the page, a frameset"""
    canonical: str | None = None
    moved_to: str | None = None
    """target of an immediate refresh, with which a page redirects without its server's help"""
    look: PageLook = NO_LOOK
    may_index: bool = True
    may_follow: bool = True
    asks_password: bool = False


def outline_of_headers(headers: httpx2.Headers, url: str) -> PageOutline:
    """What headers tell of content of any kind: X-Robots-Tag, and the canonical address in Link."""
    canonical = re.search(r"<([^>]*)>\s*;[^,<]*?rel=\"?canonical\"?", headers.get("link", "")[:HEADER], re.I)
    outline = PageOutline(canonical=_address(canonical[1], url) if canonical else None)
    for said in headers.get_list("x-robots-tag"):
        agent, colon, rules = said[:HEADER].partition(":")
        if not colon or "," in agent or agent.strip().lower() in _VALUED:
            outline = _obeying(outline, said)
        elif agent.strip().lower() in _ROBOTS:
            outline = _obeying(outline, rules)
    return outline


def read_outline(path: Path, url: str, charset: str | None, from_headers: PageOutline) -> PageOutline:
    """The links of an HTML page, added to `from_headers`, the result from its headers."""
    with path.open("rb") as file:
        content = file.read(READ)
    # Otherwise BeautifulSoup warns of text that looks like XML or like a file's name.
    text = _XML_DECLARATION.sub("", _text(content, charset), count=1)
    tags = islice(re.finditer("<", text), TAGS + 1)
    ends = [tag.start() for tag in tags]
    if not ends:
        return from_headers
    try:
        soup = BeautifulSoup(text[: ends[-1]] if len(ends) > TAGS else text, "lxml", parse_only=_TAGS)
    except ParserRejectedMarkup:
        return from_headers
    base = _base(soup, url)
    look = PageLook(_words(soup.title), _words(soup.h1), pieces_of(text))
    outline = replace(from_headers, look=look, asks_password=bool(_PASSWORD.search(text)))
    # What is said to browsers without JavaScript does not concern the page that the others show.
    aside = {id(meta) for part in soup.find_all("noscript", recursive=False) for meta in part.find_all("meta")}
    later: tuple[str, ...] = ()
    for meta in soup.find_all("meta"):
        if id(meta) in aside:
            continue
        said = str(meta.get("content", ""))
        if str(meta.get("name", "")).strip().lower() in _ROBOTS:
            outline = _obeying(outline, said)
        elif str(meta.get("http-equiv", "")).strip().lower() == "refresh" and (found := _REFRESH.match(said)):
            target = _address(found[2], base)
            if target and target != url and int(found[1] or 0) <= 1:
                outline = replace(outline, moved_to=target)
            elif target:
                later = (target,)
    canonical = next((tag for tag in soup.find_all("link") if "canonical" in _rel(tag)), None)
    if canonical:
        outline = replace(outline, canonical=_address(str(canonical.get("href", "")), base) or outline.canonical)
    if not outline.may_follow:
        return outline
    charset = _query_charset(content, text)
    links = dict.fromkeys((*_links(soup, base, charset), *later))
    return replace(outline, links=tuple(links), frames=_links(soup, base, charset, ["frame"]) if soup.frameset else ())


def _words(tag: Tag | None) -> str:
    return " ".join(tag.get_text().split())[:TITLE] if tag else ""


def _text(content: bytes, charset: str | None) -> str:
    found = _CHARSET.search(content, 0, 4096)
    try:
        return decode(content, "page", found[1].decode("ascii") if found else charset)
    except DocumentError:  # the loader will report it; addresses are usually ASCII
        return content.decode("utf-8", "replace")


def _base(soup: BeautifulSoup, url: str) -> str:
    tag = soup.find("base", href=True)
    return (_address(str(tag["href"]), url) if isinstance(tag, Tag) else None) or url


def _query_charset(content: bytes, text: str) -> str:
    """The charset in which browsers send what is not ASCII in the queries of a page's links: the page's own."""
    for charset in ("utf-8", "cp932", "euc_jp"):
        if content.decode(charset, "replace").endswith(text):
            return charset
    return "utf-8"


def _links(soup: BeautifulSoup, base: str, charset: str, names: Sequence[str] = _LINKING) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for tag in soup.find_all(names):
        if "nofollow" in _rel(tag) or (tag.name == "link" and not {"next", "prev"} & set(_rel(tag))):
            continue
        address = tag.get("href") or tag.get("src") or tag.get("data")
        link = _address(_query_encoded(str(address), charset), base) if address else None
        if link:
            found[link] = None
        if len(found) == MOST:
            break
    return tuple(found)


def _query_encoded(link: str, charset: str) -> str:
    path, mark, rest = link.partition("?")
    if rest.isascii() or charset == "utf-8":
        return link
    query, hash_, fragment = rest.partition("#")
    encoded = "".join(each if each.isascii() else quote(each.encode(charset, "xmlcharrefreplace")) for each in query)
    return f"{path}{mark}{encoded}{hash_}{fragment}"


def _address(link: str, base: str) -> str | None:
    try:
        return normalised(link, base)
    except DocumentError:  # mailto:, javascript:, or with a password: not crawled
        return None


def _rel(tag: Tag) -> list[str]:
    rel = tag.get("rel") or ""
    return [word.lower() for word in (rel.split() if isinstance(rel, str) else rel)]


def _obeying(outline: PageOutline, said: str) -> PageOutline:
    rules = {rule.strip().lower() for rule in said.split(",")}
    return replace(
        outline,
        may_index=outline.may_index and not rules & {"noindex", "none"},
        may_follow=outline.may_follow and not rules & {"nofollow", "none"},
    )
