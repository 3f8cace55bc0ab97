"""Passages, citations, and the options of a search."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from index_store.search.hits import TextLocation


class Frozen(BaseModel):
    """The base of all records of a trace."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Citation(Frozen):
    """A piece of a document, as [number] in an answer points to it."""

    number: int
    """from 1; kept for the whole run"""
    document_id: str
    section_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None
    text: str
    start: int
    end: int
    """where `text` stands in its section, in characters"""
    best_start: int | None = None
    best_end: int | None = None
    """where in the section the chunk stands that was found; None in histories of before it was noted"""
    origin: Literal["documents", "web"] = "documents"
    """`web`: from outside, found by a web search; its ids are empty and `source` is its address"""
    published: str | None = None
    """of a web page, its date as the search service tells it"""
    removed: bool = False
    """its document was removed since, and `text` with it"""

    @property
    def found(self) -> tuple[int, int]:
        """Where that chunk stands in `text`; all of it where that is not known."""
        if self.best_start is None or self.best_end is None:
            return 0, len(self.text)
        return max(0, self.best_start - self.start), min(len(self.text), self.best_end - self.start)


class Passage(Citation):
    """A piece of a document that a search found."""

    rank: int
    """from 1"""
    score: float
    """of a hybrid search both sides fused, of others the score of their side"""
    vector_rank: int | None = None
    """from 1; None where that side did not find it, or was not asked"""
    vector_score: float | None = None
    """cosine, -1 to 1"""
    keyword_rank: int | None = None
    keyword_score: float | None = None
    """the share of the question that it holds, 0 to 1"""
    copies: tuple[TextLocation, ...] = ()
    """where next to the same text stands"""
    section_length: int | None = None
    """characters of the section, where it was trimmed to fit the model"""


class Retrieval(Frozen):
    """How documents are searched."""

    mode: str = "vector"
    """vector, keyword or hybrid"""
    unit: str = "chunk"
    """what the model reads of what was found: the chunk, or the section that it stands in"""
    k: int = 4
    """hits"""
