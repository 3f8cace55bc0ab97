"""Headings that are typed as plain lines, without a style: of rules and contracts, numbered ones, and questions."""

from collections.abc import Sequence

from index_store.parsing.loaders.document import Page
from index_store.parsing.loaders.plain_headings.divisions import with_divisions
from index_store.parsing.loaders.plain_headings.numbered import with_numbers
from index_store.parsing.loaders.plain_headings.questions import with_questions


def with_plain_headings(pages: Sequence[Page]) -> list[Page]:
    """The same pages with such headings. Questions are headings below others; the rest where a text has no others."""
    pages = list(pages)
    divided = with_divisions(pages)
    return with_questions(with_numbers(pages) if divided == pages else divided)
