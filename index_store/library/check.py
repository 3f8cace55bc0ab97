"""Compares catalogue, vectors, full text and originals, and reports differences in plain words.

Finding
├── VectorsMissing, VectorsStray, VectorsUnreadable, FullTextMissing, FullTextStray, ChunksMiscounted, CollectionStray
└── OriginalGone, OriginalsStray
"""

from collections import Counter
from collections.abc import Iterator

from pydantic import BaseModel

from index_store.base.errors import Failure, Sentences
from index_store.library.library import Library


class Difference(BaseModel, frozen=True):
    """One difference between catalogue, vectors and originals."""

    index: str | None
    document: str | None
    """its source"""
    what: Failure


class Finding(Sentences):
    """A finding of `check`, for people."""


class VectorsMissing(Finding):
    en = "Chunks without a vector, which vector search does not find: {count}. Re-index."
    ja = "{count} 個のチャンクにベクトルがなく、ベクトル検索に出ません。インデックスを作り直してください。"


class VectorsStray(Finding):
    en = "Vectors that belong to no document: {count}. They are never shown. Re-index to remove them."
    ja = "どの文書のものでもないベクトルが {count} 個あります。検索結果には出ません。インデックスを作り直すと消えます。"


class VectorsUnreadable(Finding):
    en = "The stored vectors can't be read: their files may be damaged. Re-index to embed all documents again."
    ja = "ベクトルを読み出せません。保存先のファイルが壊れている可能性があります。インデックスを作り直してください。"


class FullTextMissing(Finding):
    en = "Chunks without full text, which keyword search does not find: {count}. Re-index."
    ja = "{count} 個のチャンクが全文検索用のデータになく、キーワード検索に出ません。インデックスを作り直してください。"


class FullTextStray(Finding):
    en = "Chunks in the full text that belong to no document: {count}. They are never shown. Re-index to remove them."
    ja = (
        "どの文書のものでもないチャンクが全文検索用のデータに {count} 個あります。検索結果には出ません。"
        "インデックスを作り直すと消えます。"
    )


class ChunksMiscounted(Finding):
    en = "Chunks that are recorded for the document: {noted}; chunks that were found: {found}. Re-index."
    ja = "文書のチャンク数の記録は {noted} 個ですが、実際は {found} 個です。インデックスを作り直してください。"


class CollectionStray(Finding):
    en = "The vectors of {name} belong to no index. They are removed at the next start."
    ja = "{name} のベクトルはどのインデックスのものでもありません。次の起動時に消えます。"


class OriginalGone(Finding):
    en = "The original file of {name} is missing. Search still works. Add the document again to open or re-index it."
    ja = (
        "{name} の元のファイルがありません。"
        "検索はできますが、開いたり作り直したりするには、文書をもう一度追加してください。"
    )


class OriginalsStray(Finding):
    en = "Original files that belong to no document: {count}. They are removed at the next start."
    ja = "どの文書のものでもない元のファイルが {count} 個あります。次の起動時に消えます。"


def differences(library: Library) -> list[Difference]:
    """Empty if every ready chunk has its vector and full text, each of these has its chunk, and every version has its
    original.
    """
    return [*_of_vectors(library), *_of_full_text(library), *_of_originals(library)]


def _of_vectors(library: Library) -> Iterator[Difference]:
    catalogue = library.catalogue
    collections: set[str] = set()
    for index in catalogue.indexes.records():
        collections.add(index.collection)
        if not library.vectors.is_readable(index.collection):
            yield Difference(index=index.name, document=None, what=VectorsUnreadable().as_failure())
            continue
        wanted = dict(catalogue.sections.chunk_ids(index.id))
        there = set(library.vectors.ids(index.collection))
        counted = Counter(wanted.values())
        missing = Counter(document_id for id_, document_id in wanted.items() if id_ not in there)
        for document in catalogue.documents.records(index.id):
            if missing[document.id]:
                what = VectorsMissing(count=missing[document.id]).as_failure()
                yield Difference(index=index.name, document=document.source, what=what)
            if document.is_ready and counted[document.id] != document.chunks:
                what = ChunksMiscounted(noted=document.chunks, found=counted[document.id]).as_failure()
                yield Difference(index=index.name, document=document.source, what=what)
        stray = len(there - wanted.keys())
        if stray:
            yield Difference(index=index.name, document=None, what=VectorsStray(count=stray).as_failure())
    for name in library.vectors.collections() - collections:
        yield Difference(index=None, document=None, what=CollectionStray(name=name).as_failure())


def _of_full_text(library: Library) -> Iterator[Difference]:
    for index in library.catalogue.indexes.records():
        there = library.catalogue.full_text.chunk_ids(index.id)
        known = {id_ for id_, _ in library.catalogue.sections.chunk_ids(index.id, only_ready=False)}
        if missing := len(known - there):
            yield Difference(index=index.name, document=None, what=FullTextMissing(count=missing).as_failure())
        if stray := len(there - known):
            yield Difference(index=index.name, document=None, what=FullTextStray(count=stray).as_failure())


def _of_originals(library: Library) -> Iterator[Difference]:
    kept = set(library.originals.kept())
    versions = library.catalogue.documents.revisions()
    for index in library.catalogue.indexes.records():
        for document in library.catalogue.documents.records(index.id):
            wanted = {(document.id, revision) for revision in document.revisions}
            # Documents that are older than stored originals have a title and no name.
            if document.name and wanted - kept:
                what = OriginalGone(name=document.name).as_failure()
                yield Difference(index=index.name, document=document.source, what=what)
    stray = len(kept - versions)
    if stray:
        yield Difference(index=None, document=None, what=OriginalsStray(count=stray).as_failure())
