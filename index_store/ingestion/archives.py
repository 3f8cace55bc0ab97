"""An archive becomes documents: its members."""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Row

from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.catalogue import Draft
from index_store.ingestion.outcomes import failed
from index_store.ingestion.progress import Course, Item, Stage
from index_store.ingestion.reception import Reception
from index_store.ingestion.sources import file_name, storable
from index_store.ingestion.stop import Stop
from index_store.ingestion.workshop import Workshop
from index_store.library.versions import Arrival


class ArchiveFeeder:
    def __init__(self, workshop: Workshop, course: Course, stop: Stop, reception: Reception) -> None:
        self._shop = workshop
        self._course = course
        self._stop = stop
        self._reception = reception

    def drafts(self, index: Row, archive: Draft, item: Item) -> Iterator[tuple[Draft, Item]]:
        """The documents of an archive, which itself is none once they are kept."""
        library = self._shop.library
        item.stage = Stage.READING
        with library.originals.work_folder() as folder:
            try:
                path = library.originals.path(archive.document_id, archive.revision)
                unpacked = self._shop.parser.unpack(path, archive.name, folder, lambda: self._stop.is_set)
                for name, error in unpacked.refused:
                    arrival = _member(archive, name, folder)
                    self._reception.refuse(index, arrival, self._course.add(arrival.source), error)
                for member in unpacked.members:
                    if self._stop.is_set:
                        break
                    arrival = _member(archive, member.name, member.path)
                    each = self._course.add(arrival.source, member.path.stat().st_size)
                    draft = self._reception.begin(index, arrival, each)
                    if draft:
                        yield draft, each
                if self._stop.is_set:
                    self._leave(archive)
                    return
                names = [name for name, _ in unpacked.refused] + [member.name for member in unpacked.members]
                gone = self._shop.intake.dissolve(archive, {_member(archive, name, folder).source for name in names})
                self._course.items.remove(item)
                self._reception.tell_removed(gone)
            except errors.DocumentError as error:
                self._fail(archive, item, error)

    def _fail(self, archive: Draft, item: Item, error: PlainError) -> None:
        if self._stop.is_set:
            self._leave(archive)
            return
        self._shop.intake.fail(archive, error)
        self._reception.settle(item, failed(archive.source, archive.document_id, error))

    def _leave(self, archive: Draft) -> None:
        if not self._stop.is_suspended:
            self._shop.intake.withdraw(archive)


def _member(archive: Draft, name: str, path: Path) -> Arrival:
    source = storable(f"{archive.source}/{name}")
    return Arrival(source, file_name(name), "", path, True, parent=archive.source, archive=archive)
