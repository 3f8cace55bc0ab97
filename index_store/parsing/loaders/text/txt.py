"""Plain text: nothing in it is a heading, unless its own notation says so."""

from pathlib import PurePath

from index_store.base.errors import EmptyDocument, TooMuchText, WrongContent
from index_store.parsing.loaders.content import content_kind
from index_store.parsing.loaders.loaded import Heading, Loaded, Page, RawFile
from index_store.parsing.loaders.text.aozora import is_aozora, without_notes
from index_store.parsing.loaders.text.decode import decode
from index_store.parsing.worker import limits


def load(file: RawFile) -> Loaded:
    text = read_text(file)
    title = PurePath(file.name).stem
    headings: tuple[Heading, ...] = ()
    if is_aozora(text):
        text, headings = without_notes(text)
        title = text.lstrip().split("\n")[0][:100]
    return Loaded(title=title, pages=[Page(markdown=text, headings=headings)])


def read_text(file: RawFile) -> str:
    """The text with plain newlines. Raises WrongContent, UnknownEncoding, EmptyDocument, TooMuchText."""
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    text = decode(file.content, file.name, file.charset).replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    if not text.strip():
        raise EmptyDocument(name=file.name)
    if len(text) > limits.CHARACTERS:
        # Told now: what is made of it, as rows or lines, is several times as large.
        raise TooMuchText(name=file.name, limit=f"{limits.CHARACTERS:,}")
    return text
