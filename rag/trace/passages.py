"""Passages, citations, and the options of a search."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from index_store.search.hits import TextLocation


class Frozen(BaseModel):
    """The base of all records of a trace."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)


class Citation(Frozen):
    """A piece of a document that [number] in an answer points to."""

    number: int
    """from 1; the same in the whole run"""
    document_id: str
    section_id: str
    source: str
    title: str
    headings: tuple[str, ...]
    page: int | None
    text: str
    start: int
    end: int
    """position of `text` in its section, in characters"""
    best_start: int | None = None
    best_end: int | None = None
    """position of the found chunk in its section, in characters; None in old histories"""
    origin: Literal["documents", "web"] = "documents"
    """`web`: found by a web search; its ids are empty and `source` is its address"""
    header: str = ""
    """the header of the table, if `text` begins among its rows"""
    published: str | None = None
    """date of a web page, from the search service"""
    removed: bool = False
    """its document was removed later, and `text` with it"""

    @property
    def as_read(self) -> str:
        """The text as a model reads it."""
        return self.header + self.text

    @property
    def found(self) -> tuple[int, int]:
        """The position of the found chunk in `as_read`, with the header if it is just below; the whole if unknown."""
        if self.best_start is None or self.best_end is None:
            return 0, len(self.as_read)
        start, above = max(0, self.best_start - self.start), len(self.header)
        return start and start + above, above + min(len(self.text), self.best_end - self.start)


class Passage(Citation):
    """A piece of a document that a search found."""

    rank: int
    """from 1"""
    score: float
    """of a hybrid search, the fused score; else the score of the search"""
    vector_rank: int | None = None
    """from 1; None if the vector search did not find it, or was not used"""
    vector_score: float | None = None
    """cosine, -1 to 1"""
    keyword_rank: int | None = None
    keyword_score: float | None = None
    """the share of the question's words that it contains, 0 to 1"""
    copies: tuple[TextLocation, ...] = ()
    """places with almost the same text"""
    section_length: int | None = None
    """characters of the whole section, if it was trimmed to the context window"""


class Retrieval(Frozen):
    """How documents are searched."""

    mode: str = "vector"
    """vector, keyword or hybrid"""
    unit: str = "chunk"
    """what the model reads: the chunk that was found, or its section"""
    k: int = 4
    """number of hits"""
