"""The documents of all indexes, and how they are found."""

# ruff: noqa: PTH100 - a source is the path as given: Path.resolve() would follow links

import os
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Self

from sqlalchemy.exc import SQLAlchemyError

from index_store.access.access import Access
from index_store.access.limits import in_force
from index_store.base import errors
from index_store.base.settings import Settings
from index_store.catalogue.records import Chunk, Document, DocumentStatus, Index, IndexRecord, Section, Site
from index_store.crawl.guard import AddressGuard
from index_store.full_text.analysis import Analysis
from index_store.full_text.bm25 import WordCount
from index_store.ingestion.context import Services
from index_store.ingestion.job import Ingestion
from index_store.ingestion.results import IngestResult
from index_store.ingestion.sources import (
    FileSource,
    SiteSource,
    Source,
    file_name,
    source_of,
    source_to_retry,
    storable,
)
from index_store.library.check import Difference, differences
from index_store.library.data_folder import open_library, own
from index_store.library.originals import Original
from index_store.library.versions import Space, Versions
from index_store.parsing.worker.parser import Parser
from index_store.search.hits import Hit, Survey
from index_store.search.searcher import Query, Searcher, check_length
from index_store.vectors.embeddings import Embeddings
from index_store.vectors.registry import make_embeddings


class IndexStore:
    """The documents of all indexes and how they are found. One process owns a data folder; its threads share the store.

    Raises InvalidSetting, StoreInUse, DataFolderUnusable, DataFolderDamaged, DataFolderNewer.
    """

    def __init__(self, settings: Settings | None = None, embeddings: Embeddings | None = None) -> None:
        self._settings = settings or Settings()
        with ExitStack() as owned:
            if embeddings is None:
                embeddings = owned.enter_context(closing(make_embeddings(self._settings)))
            AddressGuard(self._settings.crawl_allowed)  # a mistake in it is told at the start, not when a site is added
            owned.callback(own(self._settings.data_dir).release)
            self._library = owned.enter_context(closing(open_library(self._settings.data_dir)))
            self._embeddings = embeddings
            self._catalogue = self._library.catalogue
            self.access = owned.enter_context(closing(Access(self._catalogue.database, self._settings)))
            """people, grants, and the log of what was done"""
            self.access.audit.sweep()
            self._parser = Parser(self._settings)
            self._searcher = Searcher(self._library, embeddings, self._settings.fusion, self._settings.keyword_weight)
            versions = Versions(self._library, self._space_of)
            self._services = Services(self._settings, self._library, versions, self._parser, embeddings)
            self._owned = owned.pop_all()
            """what is closed last, or at once where a start fails: library, lock, the embedding model unless given"""
        self._ingestions: list[Ingestion] = []
        self._dismissed: set[Ingestion] = set()
        self._is_closed = False
        self._naming = threading.Lock()
        """whether there is an index of a name, until it is made"""

    def close(self) -> None:
        """What jobs have not done stays pending. Closing twice is fine."""
        if self._is_closed:
            return
        self._is_closed = True
        for ingestion in self._ingestions:
            ingestion.suspend()
        self._parser.close()
        for ingestion in self._ingestions:
            ingestion.wait()
        self._searcher.close()
        self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Indexes

    def indexes(self) -> list[Index]:
        return self._catalogue.indexes.all()

    def create_index(self, name: str) -> None:
        """Raises BadIndexName, IndexExists."""
        name = _checked_name(name)
        with self._naming:
            if self._catalogue.indexes.named(name):
                raise errors.IndexExists(index=name)
            with _changing(name):
                self._create_index(name)

    def rename_index(self, name: str, new_name: str) -> None:
        """Raises UnknownIndex, BadIndexName, IndexExists."""
        index, new_name = self._index(name), _checked_name(new_name)
        if new_name == index.name:
            return
        with self._naming:
            if self._catalogue.indexes.named(new_name):
                raise errors.IndexExists(index=new_name)
            with _changing(index.name):
                self._catalogue.indexes.rename(index.id, new_name)
        for ingestion in self._ingestions:
            if ingestion.index == index.name:
                ingestion.index = new_name

    def delete_index(self, name: str) -> None:
        """With its documents, once its jobs have let go of it. Raises UnknownIndex."""
        index = self._index(name)
        for ingestion in self._ingestions:
            if ingestion.index == index.name:
                ingestion.cancel()
                ingestion.wait()
        with _changing(index.name):
            self._library.delete_index(index)

    # Documents

    def documents(self, index: str | None = None) -> list[Document]:
        """Of one index, or of all. Raises UnknownIndex."""
        if index is not None:
            index = self._index(index).name
        return self._catalogue.documents.all(index)

    def document(self, document_id: str) -> Document:
        """Raises UnknownDocument."""
        document = self._catalogue.documents.get(document_id)
        if document is None:
            raise errors.UnknownDocument(source=document_id, index="*")
        return document

    def sections(self, document_id: str) -> list[Section]:
        """In reading order; none while the document has no version that is ready."""
        return self._catalogue.sections.of(document_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        """In reading order."""
        return self._catalogue.sections.chunks(document_id)

    def section(self, section_id: str) -> Section:
        """Raises UnknownSection: its document may have been replaced or removed."""
        section = self._catalogue.sections.get(section_id)
        if section is None:
            raise errors.UnknownSection()
        return section

    def original(self, document_id: str) -> Original:
        """Of the version that is ready, else of the newest. Raises UnknownDocument, OriginalMissing."""
        document = self._catalogue.documents.record(document_id)
        if document is None:
            raise errors.UnknownDocument(source=document_id, index="*")
        revision = document.revision or document.incoming
        path = self._library.originals.path(document_id, revision) if revision else None
        name = document.name or file_name(document.source)
        if path is None or not path.exists():
            raise errors.OriginalMissing(name=file_name(document.source))
        return Original(path=path, name=name, kind=document.kind, charset=document.charset)

    def sites(self, index: str) -> list[Site]:
        """Raises UnknownIndex."""
        return self._catalogue.sites.of(self._index(index).id)

    # Documents in

    @property
    def ingestions(self) -> tuple[Ingestion, ...]:
        """Jobs under way, or finished, that were not dismissed."""
        return tuple(each for each in self._ingestions if each not in self._dismissed)

    def dismiss(self, ingestion: Ingestion) -> None:
        """Takes it off the list; one under way goes on."""
        self._dismissed.add(ingestion)
        for each in [each for each in self._dismissed if each.is_finished]:
            self._dismissed.discard(each)
            if each in self._ingestions:
                self._ingestions.remove(each)

    def ingest(self, index: str, sources: Sequence[FileSource | SiteSource]) -> Ingestion:
        """Begins to add them and returns at once; the index is made when there is none of this name.

        What is wrong with a document or with the embedding service is in the results; what is wrong with the index
        (BadIndexName, EmbeddingModelMismatch) is the job's `failure`.
        """
        return self._begin(index, sources)

    def retry(self, index: str, document_ids: Sequence[str] | None = None) -> Ingestion:
        """What failed or is pending, once more; or these documents, whatever they are. Raises UnknownIndex."""
        known = self._index(index)
        tried = [
            each
            for each in self._catalogue.documents.records(known.id)
            if (each.id in document_ids if document_ids is not None else each.needs_retry)
        ]
        return self._begin(known.name, [source_to_retry(each, self._library.originals) for each in tried])

    def reindex(self, index: str) -> Ingestion:
        """Every document once more, with the present settings and embedding model. Raises UnknownIndex, ServiceError.

        Under the same model each stays searchable until its new version is ready; under another none is, until it is
        embedded again.
        """
        known = self._index(index)
        dimension = len(self._embeddings.query("dimension"))
        if known.embedding_model != self._embeddings.id or known.dimension not in (0, dimension):
            self._library.set_model(known, self._embeddings.id)
        else:
            self._library.remove_stray_vectors(known)
        documents = self._catalogue.documents.records(known.id)
        stay = [each for each in documents if each.status is not DocumentStatus.REMOVING]
        return self._begin(known.name, [source_of(each, self._library.originals) for each in stay])

    def resume(self) -> list[Ingestion]:
        """Goes on with what was pending when the last process ended."""
        jobs = []
        for index in self._catalogue.indexes.records():
            documents = self._catalogue.documents.records(index.id)
            sources = [source_of(each, self._library.originals) for each in documents if each.is_under_way]
            sources += [SiteSource(site.options) for site in self._catalogue.sites.of(index.id) if site.is_crawling]
            if sources:
                jobs.append(self._begin(index.name, sources))
        return jobs

    def add(self, index: str, path: Path, source: str | None = None) -> IngestResult:
        """Adds one document and waits for it.

        Raises BadIndexName, EmbeddingModelMismatch; Cancelled when the index is deleted or the store closed meanwhile.
        """
        job = self._begin(index, [FileSource(path, source)])
        results = job.wait()
        self.dismiss(job)
        if job.failure:
            raise job.failure
        if not results:
            raise errors.Cancelled(name=path.name)
        return results[0]

    def remove(self, index: str, source: str) -> list[Document]:
        """The document of this source, or all of this site or archive, or below this folder.

        Raises UnknownIndex, UnknownDocument.
        """
        known = self._index(index)
        source = storable(source)
        is_site = self._catalogue.sites.has(known.id, source)
        if is_site:
            with _changing(source):
                self._catalogue.sites.delete(known.id, source)  # first, so that a crawl under way brings no more
        every = self._catalogue.documents.all(known.name)
        path = os.path.abspath(source)
        gone = [document for document in every if document.source == source]
        gone = gone or [document for document in every if document.parent == source]
        gone = gone or [document for document in every if document.source == path or document.parent == path]
        below = path.rstrip(os.sep) + os.sep
        gone = gone or [document for document in every if document.source.startswith(below)]
        if not source or not (gone or is_site):
            raise errors.UnknownDocument(source=source, index=known.name)
        if is_site:
            gone += [document for document in every if document.parent == source and document not in gone]
        self.remove_documents([document.id for document in gone])
        return gone

    def remove_documents(self, document_ids: Sequence[str]) -> None:
        """Those of them that are there."""
        documents = [document for id_ in document_ids if (document := self._catalogue.documents.record(id_))]
        if documents:
            with _changing(", ".join(file_name(document.source) for document in documents[:3])):
                self._library.remove(documents)

    def watch_removals(self, told: Callable[[], object]) -> None:
        """`told` is called, in any thread, after documents were removed, by a job too: it should return at once."""
        self._library.on_removal = told

    def removed(self) -> list[str]:
        """Ids of documents that were removed and not forgotten since, be it by an earlier process."""
        return self._catalogue.removed.ids()

    def forget_removed(self, document_ids: Sequence[str]) -> None:
        """Once nobody quotes them any more."""
        self._catalogue.removed.forget(document_ids)

    def check(self) -> list[Difference]:
        """Where catalogue, vectors and originals do not agree."""
        with self._library.held():
            return differences(self._library)

    # Search

    def search(
        self,
        index: str,
        question: str,
        *,
        mode: str = "vector",
        unit: str = "chunk",
        k: int = 4,
        words: Sequence[str] | None = None,
        document_ids: Sequence[str] | None = None,
    ) -> list[Hit]:
        """Up to `k` chunks, or sections by their best chunk, best first, always in the same order.

        `words`: what the keyword side is asked for instead of the question. `document_ids`: all that is searched.
        Raises UnknownIndex, EmptyIndex, EmptyQuestion, QuestionTooLong, UnknownMode, UnknownUnit,
        EmbeddingModelMismatch, ServiceError.
        """
        return self._searcher.search(self._index(index), Query(question, mode, unit, k, words, document_ids))

    def survey(self, index: str, question: str, *, k: int, person: str) -> Survey:
        """What the index has of a question: up to `k` chunks by vector and keyword, and the words that it lacks.

        `person`: who asks. Raises UnknownIndex, EmptyIndex where there is none at all, QuestionTooLong,
        EmbeddingModelMismatch, ServiceError.
        """
        return self._searcher.survey(self._index(index), question, k)

    def analyse(self, index: str, question: str) -> Analysis:
        """How the keyword side reads the question. Raises UnknownIndex, QuestionTooLong."""
        check_length(question)
        return self._library.analyzer(self._index(index)).question(question)

    def matches(self, index: str, analysis: Analysis, text: str) -> list[tuple[int, int]]:
        """Where in `text` the words of a question stand: spans in characters. Raises UnknownIndex."""
        return self._library.analyzer(self._index(index)).matches(analysis, text)

    def count_words(
        self, index: str, analysis: Analysis, document_ids: Sequence[str] | None = None
    ) -> dict[str, WordCount]:
        """By each term that is searched: in how many chunks it stands; of these documents alone when they are given.

        Raises UnknownIndex.
        """
        known = self._index(index)
        analyzer = self._library.analyzer(known)
        words = {word.term: word.written for word in analysis.words if not word.dropped}
        pairs = {term: {pair.text for pair in analyzer.terms(written).pairs} for term, written in words.items()}
        return self._catalogue.full_text.count_words(known.id, pairs, document_ids)

    def glossary(self, index: str) -> str:
        """Terms that stay whole in full text, one a line. Raises UnknownIndex."""
        return self._index(index).glossary or ""

    def set_glossary(self, index: str, glossary: str) -> None:
        """Rebuilds the full text of the index, a second for a thousand chunks. Raises UnknownIndex."""
        self._library.set_glossary(self._index(index), glossary)

    # Helpers

    def _space_of(self, index_id: str) -> Space:
        of_owner = self.access.limits.of_index(index_id)
        return Space(
            in_force(of_owner.files, self._settings.files_per_index),
            in_force(of_owner.megabytes, self._settings.megabytes_per_index),
        )

    def _begin(self, index: str, sources: Sequence[Source]) -> Ingestion:
        ingestion = Ingestion(self._services, index, lambda: self._open_index(index), sources)
        self._ingestions.append(ingestion)
        return ingestion

    def _index(self, name: str) -> IndexRecord:
        found = self._catalogue.indexes.named(unicodedata.normalize("NFC", name))
        if found is None:
            known = ", ".join(index.name for index in self.indexes())
            if not known:
                raise errors.EmptyIndex(index=name)
            raise errors.UnknownIndex(index=name, known=known)
        return found

    def _open_index(self, name: str) -> IndexRecord:
        """The index, made when missing; one that holds nothing yet takes the present model.

        Raises BadIndexName, EmbeddingModelMismatch.
        """
        name = _checked_name(name)
        with self._naming:
            known = self._catalogue.indexes.named(name)
            if known is None:
                self._create_index(name)
            elif known.embedding_model != self._embeddings.id:
                if self._catalogue.indexes.has_chunks(known.id):
                    raise known.model_mismatch(self._embeddings.id)
                self._library.set_model(known, self._embeddings.id)
            return self._index(name)

    def _create_index(self, name: str) -> None:
        self._library.create_index(name, self._embeddings.id)


@contextmanager
def _changing(what: str) -> Iterator[None]:
    """What is half done is finished at the next start. Raises ChangeFailed."""
    try:
        yield
    except (OSError, SQLAlchemyError) as error:
        raise errors.ChangeFailed(name=what) from error


def _checked_name(name: str) -> str:
    name = unicodedata.normalize("NFC", name)
    bad = any(unicodedata.category(character) in ("Cc", "Cs") or character in "/\\" for character in name)
    if not 1 <= len(name) <= 64 or bad or name != name.strip() or name in (".", ".."):
        raise errors.BadIndexName()
    return name
