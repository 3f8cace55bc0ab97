"""Catalogue, vectors, full text and originals held against each other: what differs, in plain words."""

from collections import Counter
from collections.abc import Iterator

from index_store.base import errors
from index_store.base.records import Difference, DocumentStatus
from index_store.library.library import Library


def differences(library: Library) -> list[Difference]:
    """None when every ready chunk has its vector and full text, these their chunk, and every version its original."""
    return [*_of_vectors(library), *_of_full_text(library), *_of_originals(library)]


def _of_vectors(library: Library) -> Iterator[Difference]:
    catalogue, collections = library.catalogue, set()
    for index in catalogue.indexes.rows():
        collections.add(index.collection)
        documents = {row.id: row for row in catalogue.documents.rows(index.id)}
        wanted = dict(catalogue.passages.chunk_ids(index.id))
        there = set(library.vectors.ids(index.collection))
        counted = Counter(wanted.values())
        missing = Counter(document_id for id_, document_id in wanted.items() if id_ not in there)
        for row in documents.values():
            if missing[row.id]:
                yield Difference(
                    index=index.name,
                    document=row.source,
                    what=errors.VectorsMissing(count=missing[row.id]).as_failure(),
                )
            if row.status == DocumentStatus.READY and counted[row.id] != row.chunks:
                yield Difference(
                    index=index.name, document=row.source,
                    what=errors.ChunksMiscounted(noted=row.chunks, found=counted[row.id]).as_failure(),
                )  # fmt: skip
        stray = len(there - wanted.keys())
        if stray:
            yield Difference(index=index.name, document=None, what=errors.VectorsStray(count=stray).as_failure())
    for name in library.vectors.collections() - collections:
        yield Difference(index=None, document=None, what=errors.CollectionStray(name=name).as_failure())


def _of_full_text(library: Library) -> Iterator[Difference]:
    for index in library.catalogue.indexes.rows():
        there = library.catalogue.full_text.chunk_ids(index.id)
        known = {id_ for id_, _ in library.catalogue.passages.chunk_ids(index.id, only_ready=False)}
        if missing := len(known - there):
            yield Difference(index=index.name, document=None, what=errors.FullTextMissing(count=missing).as_failure())
        if stray := len(there - known):
            yield Difference(index=index.name, document=None, what=errors.FullTextStray(count=stray).as_failure())


def _of_originals(library: Library) -> Iterator[Difference]:
    kept = set(library.originals.kept())
    versions = library.catalogue.documents.versions()
    for index in library.catalogue.indexes.rows():
        for row in library.catalogue.documents.rows(index.id):
            wanted = {(row.id, number) for number in (row.revision, row.incoming) if number}
            # Documents from before originals were kept have a title and no name.
            if row.name and wanted - kept:
                yield Difference(
                    index=index.name, document=row.source, what=errors.OriginalGone(name=row.name).as_failure()
                )
    stray = len(kept - versions)
    if stray:
        yield Difference(index=None, document=None, what=errors.OriginalsStray(count=stray).as_failure())
