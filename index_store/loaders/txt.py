"""Plain text: nothing in it is a heading."""

from pathlib import PurePath

from index_store.errors import EmptyDocument, WrongContent
from index_store.loaders.content import content_kind
from index_store.loaders.decode import decode
from index_store.loaders.loaded import Loaded, Page


def load(content: bytes, name: str) -> Loaded:
    text = read_text(content, name)
    return Loaded(title=PurePath(name).stem, pages=[Page(markdown=text, headings=())])


def read_text(content: bytes, name: str) -> str:
    """The text with plain newlines. Raises WrongContent, UnknownEncoding, EmptyDocument."""
    kind = content_kind(content)
    if kind:
        raise WrongContent(name=name, content=kind)
    text = decode(content, name).replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    if not text.strip():
        raise EmptyDocument(name=name)
    return text
