"""HTML to Markdown: the main text with headings, lists and tables; no navigation; links become their words."""

import re
from pathlib import PurePath

from index_store.base.errors import PageWithoutText, WrongContent
from index_store.parsing.loaders.content import content_kind
from index_store.parsing.loaders.document import LoadedDocument, Page, RawFile
from index_store.parsing.loaders.html.body import body_markdown
from index_store.parsing.loaders.html.charset import declared_charset
from index_store.parsing.loaders.html.title import page_title
from index_store.parsing.loaders.html.tree.tree import parse
from index_store.parsing.loaders.markdown.plain_headings import with_plain_headings
from index_store.parsing.loaders.text.decode import decode

SHELL_LENGTH = 200
"""characters; a longer page has a text"""
_SHELL = re.compile(
    r"[\W_]*((now )?loading|please wait|読み?込み?中(です)?|ロード中|(しばらく)?お待ち(くだ|下)さい)[\W_]*"
    r"|[^.。]*\b(enable|turn on|requires?)\b[^.。]*\bjavascript\b[^.。]*\.?"
    r"|[^.。]*javascript\s?(を有効|をオン|が無効|が必要)[^.。]*。?"
    r"|\W*loading\W+sorry to interrupt\W+css error\W+refresh\W*",  # a site of Salesforce
    re.I,
)
"""all that a page says until its script has run"""


def load(file: RawFile) -> LoadedDocument:
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    # A server often names its default charset; the page's own comes from its author.
    text = decode(file.content, file.name, declared_charset(file.content), file.charset)
    return load_html(text, file.name)


def load_html(html: str, name: str) -> LoadedDocument:
    """The same for a page that is already text. Raises PageWithoutText."""
    tree = parse(html)
    markdown = body_markdown(tree.root)
    if not markdown.strip() or (len(markdown) < SHELL_LENGTH and _SHELL.fullmatch(markdown.strip())):
        raise PageWithoutText(name=name)
    title = page_title(tree, markdown) or PurePath(name).stem
    return LoadedDocument(title=title, pages=with_plain_headings([Page(markdown=markdown)]))
