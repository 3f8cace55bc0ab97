"""HTML to Markdown: the main text with headings, lists and tables; no navigation; links become their words."""

import re
from pathlib import PurePath

from index_store.base.errors import PageWithoutText, WrongContent
from index_store.parsing.loaders.content import content_kind
from index_store.parsing.loaders.document import LoadedDocument, Page, RawFile
from index_store.parsing.loaders.html.body import body_markdown
from index_store.parsing.loaders.html.title import page_title
from index_store.parsing.loaders.html.tree import parse
from index_store.parsing.loaders.text.decode import decode

_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.I)


def load(file: RawFile) -> LoadedDocument:
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    found = _CHARSET.search(file.content, 0, 4096)
    # A server often names its default charset; the page's own comes from its author.
    declared = found[1].decode("ascii") if found else None
    return load_html(decode(file.content, file.name, declared, file.charset), file.name)


def load_html(html: str, name: str) -> LoadedDocument:
    """The same for a page that is already text. Raises PageWithoutText."""
    tree = parse(html)
    markdown = body_markdown(tree.root)
    if not markdown.strip():
        raise PageWithoutText(name=name)
    return LoadedDocument(title=page_title(tree, markdown) or PurePath(name).stem, pages=[Page(markdown=markdown)])
