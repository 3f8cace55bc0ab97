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
    """those above the text: of a whole section, those above its start"""
    page: int | None
    """of the found chunk, also if the text is its whole section"""


class Hit(TextLocation, frozen=True):
    """A chunk that a search found, or its section: a piece of a section's text, from `start` to `end` in characters."""

    rank: int
    """from 1"""
    score: float
    """vector search: the cosine, -1 to 1; keyword search: the share of the question that the chunk holds, 0 to 1; both:
    the fused score of fusion.py"""
    text: str
    start: int
    end: int
    best_start: int
    best_end: int
    """where the found chunk is in the section"""
    vector_rank: int | None = None
    """from 1; None if that side did not find it, or was not asked"""
    vector_score: float | None = None
    keyword_rank: int | None = None
    keyword_score: float | None = None
    header: str = ""
    """the header of the table, if `text` begins among its rows"""
    copies: tuple[TextLocation, ...] = ()
    """near duplicates: the places of almost the same text, best first. They are not hits of their own. The field's name
    comes from the JSON of the command line and of stored events"""


class Survey(BaseModel, frozen=True):
    """What an index contains for a question, independent of earlier searches."""

    hits: tuple[Hit, ...]
    """by both sides, best first"""
    shares: tuple[float, ...]
    """for each hit, the weighted share of the question's words that it contains, 0 to 1; rare words weigh most"""
    mean: float
    """the mean cosine of the question to the passages of the index; a passage no nearer than this is irrelevant"""
    words: tuple[str, ...]
    """the words of the question that are searched, as dictionaries list them: 使える of 使えないか"""
    absent: tuple[str, ...]
    """those of `words` that say what the question is about, and that no chunk holds, neither whole nor in parts"""
