"""Headings that are typed as plain lines, without a style: of rules and contracts, or numbered ones."""

from collections.abc import Sequence

from index_store.parsing.loaders.document import Page
from index_store.parsing.loaders.plain_headings.divisions import with_divisions
from index_store.parsing.loaders.plain_headings.numbered import with_numbers


def with_plain_headings(pages: Sequence[Page]) -> list[Page]:
    """The same pages if their text has headings of its own, or none at all."""
    pages = list(pages)
    divided = with_divisions(pages)
    return with_numbers(pages) if divided == pages else divided
