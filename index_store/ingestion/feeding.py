"""From sources to documents that are kept and pending: files, archives and their members, sites and their pages."""

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sqlalchemy import Row
from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.records import Added
from index_store.base.settings import MEGABYTE
from index_store.catalogue import Draft
from index_store.ingestion.archives import ArchiveFeeder
from index_store.ingestion.outcomes import failed
from index_store.ingestion.progress import Course, Item
from index_store.ingestion.reception import Reception
from index_store.ingestion.sites import SiteFeeder
from index_store.ingestion.sources import FileSource, KeptSource, SiteSource, Source, file_name, storable
from index_store.ingestion.stop import Stop
from index_store.ingestion.workshop import Workshop
from index_store.library.versions import Arrival
from index_store.parsing.loaders import is_archive

log = logging.getLogger(__name__)


class Feeder:
    """Turns the sources of a job into drafts; what needs none (unchanged, refused, gone) is settled at once."""

    def __init__(self, workshop: Workshop, course: Course, stop: Stop, settle: Callable[[Item, Added], None]) -> None:
        self._shop = workshop
        self._course = course
        self._stop = stop
        self._reception = Reception(workshop, course, settle)
        self._archives = ArchiveFeeder(workshop, course, stop, self._reception)
        self.sites = SiteFeeder(workshop, course, stop, self._reception)

    def drafts(self, index: Row, sources: Sequence[Source]) -> Iterator[tuple[Draft, Item]]:
        """All is noted first, so that nothing is lost should the process die; what takes long to be had comes last."""
        items = [self._course.add(storable(source.source)) for source in sources]
        archives = []
        for source, item in zip(sources, items, strict=True):
            # What is only suspended is kept and noted all the same: an upload is nowhere else.
            if self._stop.is_cancelled:
                break
            if isinstance(source, SiteSource):
                self.sites.note(index, source)
                continue
            draft = self._begin_file(index, source, item) if isinstance(source, FileSource) else None
            if isinstance(source, KeptSource):
                draft = self._begin_kept(index, source, item)
            if draft and is_archive(draft.name):
                archives.append((draft, item))
            elif draft:
                yield draft, item
        for draft, item in archives:
            yield from self._archives.drafts(index, draft, item)
        for source, item in zip(sources, items, strict=True):
            if isinstance(source, SiteSource):
                yield from self.sites.drafts(index, source, item)

    def _begin_file(self, index: Row, source: FileSource, item: Item) -> Draft | None:
        name = file_name(source.source)
        try:
            item.size = _checked_size(source.path, name, self._shop.settings.max_file_mb)
        except (errors.DocumentMissing, errors.NotAFile) as error:
            # Nothing to be listed, unless it was there before.
            known = self._shop.library.catalogue.documents.of_source(index.id, item.source)
            if known:
                self._shop.intake.give_up(known.id, error)
            self._reception.settle(item, failed(item.source, known.id if known else None, error))
            return None
        except errors.DocumentError as error:
            return self._reception.refuse(index, Arrival(item.source, name, "", source.path, False), item, error)
        return self._reception.begin(index, Arrival(item.source, name, "", source.path, source.is_upload), item)

    def _begin_kept(self, index: Row, source: KeptSource, item: Item) -> Draft | None:
        try:
            draft = self._shop.intake.begin_again(source.document_id, self._shop.splitting)
        except (OSError, SQLAlchemyError) as error:
            log.warning("%s can't be begun again: %s", source.source, error)
            sentence = errors.StoreFailed(name=file_name(source.source))
            self._reception.settle(item, failed(source.source, source.document_id, sentence))
            return None
        if draft is None:
            missing = errors.OriginalMissing(name=file_name(source.source))
            self._shop.intake.give_up(source.document_id, missing)
            self._reception.settle(item, failed(source.source, source.document_id, missing))
            return None
        item.size = draft.size
        return draft


def _checked_size(path: Path, name: str, max_mb: float) -> int:
    """Raises DocumentError."""
    try:
        if not path.is_file():
            raise errors.NotAFile(name=name) if path.exists() else errors.DocumentMissing(name=name)
        size = path.stat().st_size
        with path.open("rb"):
            pass  # whether it may be read
    except PermissionError as error:
        raise errors.DocumentForbidden(name=name) from error
    except (OSError, ValueError) as error:
        # A name too long, one with NUL, a disk that fails.
        raise errors.Unreadable(name=name) from error
    if size > max_mb * MEGABYTE:
        raise errors.TooLarge(name=name, limit=f"{max_mb:g}")
    if not size:
        raise errors.EmptyDocument(name=name)
    return size
