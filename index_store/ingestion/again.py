"""What is added again, and where to get the content of a document that was added once."""

import logging
import os
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from pathlib import Path

from index_store.base.errors import OriginalsError
from index_store.catalogue.records import DocumentRecord, IndexRecord
from index_store.crawl import CrawlOptions
from index_store.ingestion.jobs import Jobs, ResumedJobs
from index_store.ingestion.sources import FileSource, SiteSource, Source, StoredSource, is_address, stored_source
from index_store.library.library import Library

log = logging.getLogger(__name__)


def sources_to_retry(library: Library, index: IndexRecord, document_ids: Sequence[str] | None) -> list[Source]:
    """Failed and pending documents of the index; or these documents, whatever their state. If the first page of a site
    never came, the whole site. Raises OriginalsError.
    """
    tried = [
        each
        for each in library.catalogue.documents.records(index.id)
        if (each.id in document_ids if document_ids is not None else each.needs_retry)
    ]
    kept = set(library.originals.kept())
    sites = {each.options.url: SiteSource(each.options) for each in library.catalogue.sites.of(index.id)}
    return [
        sites[each.source] if each.source in sites and not each.revisions else _source_to_retry(each, kept)
        for each in _without_members(tried)
    ]


def sources_again(documents: Iterable[DocumentRecord], kept: Set[tuple[str, int]]) -> list[Source]:
    """`kept`: document and revision of all stored originals."""
    return [_source_of(each, kept) for each in _without_members(documents)]


def interrupted_crawls(library: Library, index: IndexRecord, jobs: Jobs) -> list[SiteSource]:
    """The sites of which a crawl has begun that no job goes on with."""
    if any(not job.is_finished for job in jobs.of(index.id)):
        return []
    return [SiteSource(site.options) for site in library.catalogue.sites.of(index.id) if site.is_crawling]


def sources_left(library: Library, index: IndexRecord, resumed: ResumedJobs) -> list[Source]:
    """Pending sources of the index that no job works on."""
    documents = [
        each
        for each in library.catalogue.documents.records(index.id)
        if each.is_under_way and each.id not in resumed.documents and each.parent not in resumed.sources
    ]
    kept = _originals_there(library) if documents else set()
    sites = [site.options for site in library.catalogue.sites.of(index.id) if site.is_crawling]
    return [
        *sources_again(documents, kept),
        *(SiteSource(options) for options in sites if options.url not in resumed.sources),
    ]


def _originals_there(library: Library) -> Set[tuple[str, int]]:
    """Document and revision of all originals; if they can't be read now, of all that should exist."""
    try:
        return set(library.originals.kept())
    except OriginalsError as error:
        log.warning("%s", error)
        return library.catalogue.documents.revisions()


def _without_members(documents: Iterable[DocumentRecord]) -> list[DocumentRecord]:
    """Leaves out members of an archive that is itself in the list: the archive brings them again. The pages of a site
    stay: its first page has the address of the site, but does not bring the others.
    """
    each = list(documents)
    sources = {document.source for document in each if not document.parent}
    return [document for document in each if document.parent not in sources]


def _source_of(document: DocumentRecord, kept: Set[tuple[str, int]]) -> Source:
    """Its stored original; if it is gone, its first source. `kept`: document and revision of all stored originals."""
    revision = document.incoming or document.revision
    if revision and (document.id, revision) in kept:
        return StoredSource(document.id, document.source)
    return _first_source_of(document)


def _source_to_retry(document: DocumentRecord, kept: Set[tuple[str, int]]) -> Source:
    """Like `_source_of`, for a failed version. If it never came (a page, say), the stored original is an older one."""
    never_came = document.error and not document.incoming
    return _first_source_of(document) if never_came else _source_of(document, kept)


def _first_source_of(document: DocumentRecord) -> Source:
    if document.parent and is_address(document.source):
        return SiteSource(CrawlOptions(url=document.source, depth=0, limit=1), document.parent)
    if not document.parent and (path := Path(document.source)).is_absolute():
        return FileSource(_on_disk(path))
    return StoredSource(document.id, document.source)


def _on_disk(path: Path) -> Path:
    """The path of a source as its folder spells it: names from a Mac are decomposed; `stored_source` composes them."""
    if os.path.lexists(path):
        return path
    folder = _on_disk(path.parent)
    with suppress(OSError):  # the folder is gone too, or may not be read
        for each in folder.iterdir():
            if stored_source(each.name) == path.name:
                return each
    return path
