"""HTML to Markdown: the main text with headings, lists and tables; navigation goes, of links the words stay."""

import re
from pathlib import PurePath

from bs4 import BeautifulSoup

from index_store.errors import NoText, WrongContent
from index_store.loaders.content import content_kind
from index_store.loaders.decode import decode
from index_store.loaders.html_body import body_markdown
from index_store.loaders.loaded import Loaded, Page, RawFile

_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.I)


def load(file: RawFile) -> Loaded:
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    found = _CHARSET.search(file.content, 0, 4096)
    # A server's word is often that of its default; the page's own is its author's.
    declared = found[1].decode("ascii") if found else file.charset
    return load_html(decode(file.content, file.name, declared), file.name)


def load_html(html: str, name: str) -> Loaded:
    """The same for a page that is already text. Raises NoText."""
    soup = BeautifulSoup(html, "lxml")
    title = _title(soup) or PurePath(name).stem
    markdown = body_markdown(soup)
    if not markdown.strip():
        raise NoText(name=name)
    return Loaded(title=title, pages=[Page(markdown=markdown)])


def _title(soup: BeautifulSoup) -> str:
    """The h1, or where there are several, the one that the title repeats: others are a site's name, or sections."""
    headings = [text for tag in soup.find_all("h1") if (text := " ".join(tag.get_text(" ").split()))]
    title = " ".join(soup.title.get_text(" ").split()) if soup.title else ""
    if len(headings) == 1:
        return headings[0]
    return next((heading for heading in headings if heading in title), title or next(iter(headings), ""))
