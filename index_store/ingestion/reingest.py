"""Documents once more: which are still to come, and where their content is to be had."""

from pathlib import Path

from sqlalchemy import Row

from index_store.base.records import DocumentStatus
from index_store.crawl import CrawlOptions
from index_store.ingestion.sources import FileSource, KeptSource, SiteSource, Source, is_address
from index_store.library.originals import Originals


def is_under_way(row: Row) -> bool:
    """Whether it, or a newer version of it, is still to come."""
    is_newer_to_come = row.status == DocumentStatus.READY and row.incoming is not None and row.error is None
    return row.status == DocumentStatus.PENDING or is_newer_to_come


def is_open(row: Row) -> bool:
    return row.status == DocumentStatus.FAILED or row.error is not None or is_under_way(row)


class Again:
    """Sources of documents that came once."""

    def __init__(self, originals: Originals) -> None:
        self._originals = originals

    def kept(self, row: Row) -> Source:
        """Where the document's content is to be had, if need be anew."""
        revision = row.incoming or row.revision
        if revision and self._originals.path(row.id, revision).exists():
            return KeptSource(row.id, row.source)
        return self._anew(row)

    def newest(self, row: Row) -> Source:
        """The same for the version that failed: of one that never came (a page, say), what is kept is an older one."""
        return self._anew(row) if row.error and not row.incoming else self.kept(row)

    def _anew(self, row: Row) -> Source:
        if row.parent and is_address(row.source):
            return SiteSource(CrawlOptions(url=row.source, depth=0, limit=1), row.parent)
        if not row.parent and (path := Path(row.source)).is_absolute():
            return FileSource(path)
        return KeptSource(row.id, row.source)
