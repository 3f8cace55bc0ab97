"""Data of a crawl: its options, the pages known from last time, and the pages that it yields."""

import re
from enum import StrEnum
from fnmatch import translate
from pathlib import Path

from pydantic import BaseModel, ConfigDict, field_validator

from index_store.base.errors import PlainError
from index_store.crawl.address import path_of, query_of, typed, unescaped
from index_store.crawl.duplicates import NO_LOOK, PageLook
from index_store.crawl.errors import BadCrawlOption, BadPattern

MAX_DEPTH = 20
MAX_LIMIT = 10_000
MAX_PATTERN = 500
"""characters"""


class CrawlOptions(BaseModel):
    """A site from `url` on: the pages of its host (with or without www., http or https) that the patterns allow.

    The limit is the host, not the folder of `url`: a manual often links to pages outside its folder. To stay in a
    folder, include it: `/docs/*`. A pattern must match the whole path, or path?query if there is a query; it may be
    percent-encoded; its case does not matter. `*` stands for any text, including slashes, and `?` for one character;
    `/docs/*` also matches `/docs`. An excluded page is left out even if it is included. `url` itself is always read for
    its links; otherwise links are followed only from pages that the patterns allow: with `*.pdf` alone, only PDFs come
    that `url` links to, or that the site map names.

    Raises BadAddress, AddressWithPassword, BadPattern and BadCrawlOption.
    """

    # An address may hold a password, which pydantic's own errors would quote.
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    url: str
    depth: int = 2
    """links away from `url`; 0 is that page alone"""
    limit: int = 200
    """pages"""
    include: tuple[str, ...] = ()
    """empty: everything"""
    exclude: tuple[str, ...] = ()

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        return typed(url)

    @field_validator("depth")
    @classmethod
    def _is_a_depth(cls, depth: int) -> int:
        return _within("depth", depth, 0, MAX_DEPTH)

    @field_validator("limit")
    @classmethod
    def _is_a_limit(cls, limit: int) -> int:
        return _within("limit", limit, 1, MAX_LIMIT)

    @field_validator("include", "exclude")
    @classmethod
    def _are_patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            if not re.fullmatch(r"[/*][^\s\x00-\x1f#\\]*", pattern) or len(pattern) > MAX_PATTERN:
                # The text before an @ may be a password.
                raise BadPattern(pattern=pattern.rpartition("@")[2][:MAX_PATTERN])
        return patterns


class Patterns:
    """The paths of a site to crawl."""

    def __init__(self, options: CrawlOptions) -> None:
        self._include = [_compiled(pattern) for pattern in options.include]
        self._exclude = [_compiled(pattern) for pattern in options.exclude]

    def want(self, url: str) -> bool:
        path = path_of(url)
        texts = (path, path + query_of(url))
        if any(pattern.match(text) for pattern in self._exclude for text in texts):
            return False
        return not self._include or any(pattern.match(text) for pattern in self._include for text in texts)


def _within(option: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise BadCrawlOption(option=option, least=least, most=most)
    return value


def _compiled(pattern: str) -> re.Pattern[str]:
    pattern = unescaped(pattern)  # as copied from the address bar of a browser
    # fnmatch's expressions never backtrack, whatever a person writes; [sets] are not supported.
    glob = translate(pattern.replace("[", "[[]"))
    folder = re.escape(pattern.removesuffix("/*")) if pattern.endswith("/*") and "*" not in pattern[:-1] else None
    # In any case: scanners and Windows write 規程.PDF.
    return re.compile(f"{glob}|{folder}\\Z" if folder else glob, re.I)


class KnownPage(BaseModel, frozen=True):
    """A page with a document."""

    etag: str | None
    last_modified: str | None
    digest: str
    links: tuple[str, ...]
    """followed again if the page itself is unchanged or fails"""
    look: PageLook = NO_LOOK
    """compared with pages that name it as canonical, because it is not read again while it is unchanged"""
    ever_came: bool = True
    """False: all that is known of the page is that it failed"""


class PageOutcome(StrEnum):
    FETCHED = "fetched"
    UNCHANGED = "unchanged"
    GONE = "gone"
    """known, but no longer there: 404, moved, excluded, or nothing leads to it"""
    FAILED = "failed"
    """for now: its document stays"""
    KEPT = "kept"
    """said once, of the start: the crawl could not tell which of the pages below it are gone, so all stay; or it gave
    up, and pages are missing
    """


class CrawledPage(BaseModel):
    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    url: str
    """the final address, normalised: the document's source"""
    outcome: PageOutcome
    path: Path | None = None
    """the content, if FETCHED; the reader owns the file"""
    name: str = ""
    """with the suffix of its kind"""
    charset: str | None = None
    """named by the server"""
    etag: str | None = None
    last_modified: str | None = None
    digest: str = ""
    """SHA-256 of the content, in hex"""
    links: tuple[str, ...] = ()
    """to pages of the same site, normalised"""
    look: PageLook = NO_LOOK
    error: PlainError | None = None
    """if FAILED or KEPT"""
