"""PDF page by page."""

from pathlib import PurePath

import pypdfium2

from index_store.errors import NoText, PasswordProtected, Unreadable, WrongContent
from index_store.loaders.content import content_kind
from index_store.loaders.loaded import Loaded, Page


def load(content: bytes, name: str) -> Loaded:
    if content_kind(content) not in ("PDF", None):
        raise WrongContent(name=name, content=content_kind(content))
    try:
        pdf = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise PasswordProtected(name=name) from error
        raise Unreadable(name=name) from error
    pages = []
    for number, page in enumerate(pdf, 1):
        text = page.get_textpage().get_text_range().replace("\r\n", "\n")
        pages.append(Page(markdown=text, number=number, headings=()))
    if not any(page.markdown.strip() for page in pages):
        raise NoText(name=name)
    return Loaded(title=PurePath(name).stem, pages=pages)
