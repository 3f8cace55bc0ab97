"""HTML to Markdown: the main text with its headings, lists and tables; navigation goes, links keep their words alone."""

import re
from pathlib import PurePath

from bs4 import BeautifulSoup

from index_store.errors import NoText, WrongContent
from index_store.loaders.content import content_kind
from index_store.loaders.decode import decode
from index_store.loaders.loaded import Loaded, Page

_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.I)


def load(content: bytes, name: str) -> Loaded:
    kind = content_kind(content)
    if kind:
        raise WrongContent(name=name, content=kind)
    found = _CHARSET.search(content, 0, 4096)
    html = decode(content, name, found[1].decode("ascii") if found else None)
    return load_html(html, name)


def load_html(html: str, name: str) -> Loaded:
    """The same for a page that is already text. Raises NoText."""
    from index_store.loaders.html_body import body_markdown

    soup = BeautifulSoup(html, "lxml")
    markdown = body_markdown(soup)
    if not markdown.strip():
        raise NoText(name=name)
    heading = soup.find("h1")
    title = (heading.get_text(" ", strip=True) if heading else "") or (
        soup.title.get_text(" ", strip=True) if soup.title else ""
    )
    return Loaded(title=" ".join(title.split()) or PurePath(name).stem, pages=[Page(markdown=markdown)])
