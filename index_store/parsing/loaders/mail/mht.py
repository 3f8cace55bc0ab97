"""A web page as a browser saves it in one file (MHTML, RFC 2557): the page alone, without its pictures and frames."""

from index_store.base.errors import NoText, WrongContent
from index_store.parsing.loaders.content import content_kind
from index_store.parsing.loaders.html.html import load_html
from index_store.parsing.loaders.loaded import Loaded, RawFile
from index_store.parsing.loaders.mail.message import leaves, parse, text_of


def load(file: RawFile) -> Loaded:
    kind = content_kind(file.content)
    if kind:
        raise WrongContent(name=file.name, content=kind)
    for part in leaves(parse(file.content, file.name)):
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            return load_html(text_of(part, file.name), file.name)
    raise NoText(name=file.name)
