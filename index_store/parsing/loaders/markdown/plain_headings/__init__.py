"""Headings that are typed as plain lines, without a style: of rules and contracts, numbered or marked ones, those
with a line drawn below them, and questions.
"""

from collections.abc import Sequence

from index_store.parsing.loaders.document import Page
from index_store.parsing.loaders.markdown.plain_headings.divisions import with_divisions
from index_store.parsing.loaders.markdown.plain_headings.drawn import with_drawn
from index_store.parsing.loaders.markdown.plain_headings.marked import with_marks
from index_store.parsing.loaders.markdown.plain_headings.numbered import with_numbers
from index_store.parsing.loaders.markdown.plain_headings.questions import with_questions


def with_plain_headings(pages: Sequence[Page]) -> list[Page]:
    """The same pages with such headings. Questions are headings below others; the rest where a text has no others."""
    pages = list(pages)
    found = with_divisions(pages)
    if found == pages:
        # Those that begin first have the others below them.
        found = min(with_marks(pages), with_numbers(pages), key=lambda read: (read == pages, _places(read)))
        found = with_drawn(pages, found)
    return with_questions(found)


def _places(pages: Sequence[Page]) -> list[tuple[int, int]]:
    """Page and line of each heading."""
    return [(at, number) for at, page in enumerate(pages) for number, (_, level, _) in enumerate(page.lines()) if level]
