"""The hits of a search, best first."""

from pydantic import BaseModel


class TextLocation(BaseModel, frozen=True):
    """The place of a text."""

    chunk_id: str
    section_id: str
    document_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None


class Hit(TextLocation, frozen=True):
    """A chunk that a search found, or its section: a piece of a section's text, from `start` to `end` in characters."""

    rank: int
    """from 1"""
    score: float
    """of a vector search the cosine, -1 to 1; of a keyword search the share of the question that it holds, 0 to 1; of
    both what fusion.py makes of them"""
    text: str
    start: int
    end: int
    best_start: int
    best_end: int
    """in the section, where the chunk that was found stands"""
    vector_rank: int | None = None
    """from 1; None where that side did not find it, or was not asked"""
    vector_score: float | None = None
    keyword_rank: int | None = None
    keyword_score: float | None = None
    copies: tuple[TextLocation, ...] = ()
    """near duplicates: where next to the same text stands, best first. These are no hits of their own. The field has
    its name from the JSON of the command line and of stored events"""


class Survey(BaseModel, frozen=True):
    """What an index contains for a question, independent of earlier searches."""

    hits: tuple[Hit, ...]
    """by both sides, best first"""
    shares: tuple[float, ...]
    """of each hit, how much of the question's words stands in it, once or often, rare words counting most: 0 to 1"""
    mean: float
    """the mean cosine of the question to the passages of the index: what is no nearer has nothing to do with it"""
    words: tuple[str, ...]
    """of the question, those that are searched, as they are written"""
    absent: tuple[str, ...]
    """those of them that no chunk holds"""
