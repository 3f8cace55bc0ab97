"""What a crawl gives, and what it is told of the time before."""

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from index_store.base.errors import PlainError


class KnownPage(BaseModel, frozen=True):
    """A page whose document is ready."""

    etag: str | None
    last_modified: str | None
    digest: str
    links: tuple[str, ...]
    """followed again when the page itself does not come: it is unchanged, or fails"""


class PageOutcome(StrEnum):
    FETCHED = "fetched"
    UNCHANGED = "unchanged"
    GONE = "gone"
    """known, but not there any more: 404, excluded, or nothing leads to it"""
    FAILED = "failed"
    """for now: what is known of it stays"""


class CrawledPage(BaseModel):
    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    url: str
    """where it was found in the end, normalised: the document's source"""
    outcome: PageOutcome
    path: Path | None = None
    """the content, when FETCHED; the file is the reader's from now on"""
    name: str = ""
    """with the suffix of its kind"""
    charset: str | None = None
    """that the server claims"""
    etag: str | None = None
    last_modified: str | None = None
    digest: str = ""
    """SHA-256 of the content, in hex"""
    links: tuple[str, ...] = ()
    """to pages of the same site, normalised"""
    error: PlainError | None = None
    """when FAILED"""
