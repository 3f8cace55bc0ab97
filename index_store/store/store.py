"""The store: each method checks the rights of the person in whose name it is, then does the work."""

# ruff: noqa: PTH100 - a source is the path as given: Path.resolve() would follow links

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from index_store.access.access import Access
from index_store.access.audit.entry import Action
from index_store.access.gate import CurrentPrincipal
from index_store.access.principal import LOCAL
from index_store.access.rights import Right
from index_store.base import errors
from index_store.base.errors import PlainError
from index_store.catalogue.records import Chunk, Document, DocumentStatus, Index, IndexRecord, IndexSize, Section, Site
from index_store.full_text.analysis import Analysis
from index_store.full_text.bm25 import WordCount
from index_store.ingestion.again import interrupted_crawls, sources_again, sources_to_retry
from index_store.ingestion.context import Services
from index_store.ingestion.job import JobOrder
from index_store.ingestion.jobs import Job, Jobs
from index_store.ingestion.results import IngestResult
from index_store.ingestion.sources import FileSource, SiteSource, Source, discard_uploads, file_name, stored_source
from index_store.library.check import Difference, differences
from index_store.library.originals.originals import Original
from index_store.search.hits import Hit, Survey
from index_store.search.searcher import Query, Searcher, check_length
from index_store.store.lifecycle import Lifecycle, checked_new_name, repairable_change
from index_store.store.user_ingestion import UserIngestion

READ, WRITE, MANAGE = Right

FINISHED = 20
"""finished jobs of a person that stay in the list when they begin another; each takes memory, and time whenever a page
is drawn"""


@dataclass(frozen=True)
class StoreParts:
    """The parts of a store that all its facades share."""

    services: Services
    searcher: Searcher
    access: Access
    jobs: Jobs
    lifecycle: Lifecycle


class Store:
    """The documents of all indexes, and how to find them. Indexes are given by name.

    Every method raises AccessWithdrawn. An index that the person may not read, and its documents, count as not
    existing. If they may read it but not do more, methods raise RightMissing.
    """

    def __init__(self, parts: StoreParts, who: CurrentPrincipal) -> None:
        self._parts = parts
        self._services = parts.services
        self._library = parts.services.library
        self._catalogue = parts.services.library.catalogue
        self._embeddings = parts.services.embeddings
        self._gate = parts.access.gate(who)
        self._note = parts.access.audit.note

    # Indexes

    def indexes(self) -> list[Index]:
        """Those that the person may read."""
        return self._catalogue.indexes.all([each.id for each in self._gate.indexes(READ)])

    def index_name(self, index_id: str) -> str | None:
        """Its present name; None if there is no such index that the person may read."""
        index = self._gate.index_with_id(index_id, READ)
        return index.name if index else None

    def right(self, index: str) -> Right:
        """What the person may do with it, so that no button is shown that would be refused. Raises UnknownIndex."""
        return self._gate.allowed(index).right

    @property
    def may_create_indexes(self) -> bool:
        """Whether the person may create indexes."""
        return self._gate.may_create_indexes

    @property
    def adds_documents(self) -> bool:
        """Whether the person may add documents to any index."""
        return self._gate.may_create_indexes or bool(self._gate.indexes(WRITE))

    def free_name(self, name: str) -> str:
        """A name for a new index: this one, or with a number if there is such an index, also one that the person may
        not read. For people who may not create indexes, the name as it is.
        """
        if not self._gate.may_create_indexes:
            return name
        taken = {index.name for index in self._catalogue.indexes.records()}
        names = chain([name], (f"{name} {number}" for number in count(2)))
        return next(each for each in names if each not in taken)

    def create_index(self, name: str) -> None:
        """The person becomes its owner. Raises EditorNeeded, BadIndexName; IndexExists also for an index that they
        may not read.
        """
        owner, name = self._gate.require_editor(), checked_new_name(name)
        with repairable_change(name):
            self._parts.lifecycle.make(name, owner)

    def rename_index(self, name: str, new_name: str) -> None:
        """Raises UnknownIndex, BadIndexName; IndexExists, even for one that the person may not read."""
        by, index, new_name = self._gate.who(), self._gate.index(name, MANAGE), checked_new_name(new_name)
        self._parts.lifecycle.rename(self._gate, index, new_name)
        self._note(Action.INDEX_RENAMED, by, index=index.name, new_name=new_name)

    def delete_index(self, name: str) -> None:
        """Deletes it with its documents, after its jobs have ended. Raises UnknownIndex."""
        self._parts.lifecycle.delete(self._gate, self._gate.index(name, MANAGE), self._gate.who())

    # Documents

    def documents(self, index: str | None = None) -> list[Document]:
        """Documents of one index, or of all that the person may read. Raises UnknownIndex."""
        asked = self._gate.indexes(READ) if index is None else [self._gate.index(index, READ)]
        return self._catalogue.documents.all([each.id for each in asked])

    def document(self, document_id: str) -> Document:
        """Raises DocumentGone."""
        allowed = self._gate.index_of_document(document_id, READ)
        document = self._catalogue.documents.get(document_id) if allowed else None
        if document is None:
            raise errors.DocumentGone()
        return document

    def sections(self, document_id: str) -> list[Section]:
        """In reading order; empty while no version of the document is ready."""
        allowed = self._gate.index_of_document(document_id, READ)
        return self._catalogue.sections.of(document_id) if allowed else []

    def chunks(self, document_id: str) -> list[Chunk]:
        """In reading order."""
        allowed = self._gate.index_of_document(document_id, READ)
        return self._catalogue.sections.chunks(document_id) if allowed else []

    def section(self, section_id: str) -> Section:
        """Raises UnknownSection: its document may have been replaced or removed."""
        allowed = self._gate.index_of_section(section_id, READ)
        section = self._catalogue.sections.get(section_id) if allowed else None
        if section is None:
            raise errors.UnknownSection()
        return section

    def original(self, document_id: str) -> Original:
        """The original of the ready version, otherwise of the newest. Raises DocumentGone, OriginalMissing,
        OriginalsError.
        """
        allowed = self._gate.index_of_document(document_id, READ)
        document = self._catalogue.documents.record(document_id) if allowed else None
        if document is None:
            raise errors.DocumentGone()
        revision = document.revision or document.incoming
        name = document.name or file_name(document.source)
        original = revision and self._library.originals.original(
            document_id, revision, name=name, kind=document.kind, charset=document.charset
        )
        if not original:
            present = self._catalogue.documents.record(document_id)
            if present and (present.revision or present.incoming) != revision:
                return self.original(document_id)  # a newer version has just taken its place
            raise errors.OriginalMissing(name=file_name(document.source))
        return original

    def sites(self, index: str) -> list[Site]:
        """Raises UnknownIndex."""
        return self._catalogue.sites.of(self._gate.index(index, READ).id)

    # Adding and removing documents

    @property
    def ingestions(self) -> tuple[UserIngestion, ...]:
        """Jobs that run or have finished, and are not dismissed, if the person began them or manages their index."""
        jobs = self._parts.jobs.listed()
        seen = self._gate.sees_jobs([(job.order.person_id, job.order.index_id) for job in jobs])
        return tuple(UserIngestion(job, self._gate) for job, is_seen in zip(jobs, seen, strict=True) if is_seen)

    def dismiss(self, *ingestions: UserIngestion) -> None:
        """Removes the jobs from the list. An unfinished job goes on. Raises ChangeFailed."""
        for each in set(ingestions).intersection(self.ingestions):
            with repairable_change(each.index):
                self._parts.jobs.dismiss(each.id)

    def ingest(self, index: str, sources: Sequence[FileSource | SiteSource]) -> UserIngestion:
        """Begins to add the sources and returns at once. Creates the index if it does not exist; the person becomes its
        owner.

        Errors of a document or of the embedding service are in the results; errors of the index (BadIndexName,
        EmbeddingModelMismatch; IndexExists for one that the person may not read) are the job's `failure`. The store
        takes uploads over. Raises ChangeFailed; UnknownIndex if the person may not create indexes.
        """
        try:
            by, known = self._gate.who(), self._gate.index_to_fill(index)
            job = self._begin(known or index, sources)
        except BaseException:
            discard_uploads(sources)
            raise
        self._note(Action.ADDED, by, index=job.order.index, sources=[each.source for each in sources])
        return self._seen(job)

    def retry(self, index: str, document_ids: Sequence[str] | None = None) -> UserIngestion:
        """Adds failed and pending documents again, and goes on with crawls that were interrupted; or adds these
        documents, whatever their state. If the first page of a site never came, the whole site is crawled. Raises
        UnknownIndex, OriginalsError, ChangeFailed.

        The audit log has no entry for it: it names these sources already, from when they were first added.
        """
        known = self._gate.index(index, WRITE)
        again = sources_to_retry(self._library, known, document_ids)
        left = interrupted_crawls(self._library, known, self._parts.jobs) if document_ids is None else []
        return self._seen(self._begin(known, [*again, *left]))

    def reindex(self, index: str) -> UserIngestion:
        """Adds every document again, with the present settings and embedding model. Raises UnknownIndex, ServiceError,
        OriginalsError, ChangeFailed.

        With the same model each document stays searchable until its new version is ready. With another model no
        document is searchable until it is embedded again.
        """
        by, allowed = self._gate.who(), self._gate.index(index, WRITE)
        dimension = len(self._embeddings.query("dimension"))
        kept = set(self._library.originals.kept())
        with repairable_change(allowed.name), self._library.held():
            # Read again: another call may have begun to re-index it, or deleted it.
            known = self._catalogue.indexes.record(allowed.id)
            if known is None:
                raise self._gate.unknown(index)
            if known.embedding_model != self._embeddings.id or known.dimension not in (0, dimension):
                self._library.set_model(known, self._embeddings.id)
            else:
                self._library.mend_vectors(known)
        documents = self._catalogue.documents.records(known.id)
        stay = [each for each in documents if each.status is not DocumentStatus.REMOVING]
        self._note(Action.INDEX_REBUILT, by, index=known.name, documents=len(stay))
        return self._seen(self._begin(known, sources_again(stay, kept)))

    def add(self, index: str, path: Path, source: str | None = None) -> IngestResult:
        """Adds one document and waits for it.

        Raises the errors of `ingest`, and the job's `failure`; Cancelled if the index is deleted or the store closed in
        the meantime.
        """
        by, known = self._gate.who(), self._gate.index_to_fill(index)
        job = self._begin(known or index, [FileSource(path, source)])
        self._note(Action.ADDED, by, index=job.order.index, sources=[source or str(path)])
        results = job.wait()
        self._parts.jobs.dismiss(job.id)
        if job.failure:
            raise job.failure
        if not results:
            raise errors.Cancelled(name=path.name)
        return results[0]

    def remove(self, index: str, source: str) -> list[Document]:
        """Removes the document of this source, or all documents of this site or archive, or below this folder.

        Raises UnknownIndex, UnknownDocument.
        """
        known = self._gate.index(index, WRITE)
        source = stored_source(source)
        is_site = self._catalogue.sites.has(known.id, source)
        if is_site:
            # First, so that a running crawl adds no more pages; held, so that a page that it adds now is found below.
            with repairable_change(source), self._library.held():
                self._catalogue.sites.delete(known.id, source)
        every = self._catalogue.documents.all([known.id])
        # The first page of a site may belong to another site, which brought it first.
        gone = [each for each in every if each.parent == source] if is_site else _documents_of(source, every)
        if not source or not (gone or is_site):
            raise errors.UnknownDocument(source=source, index=known.name)
        self.remove_documents([document.id for document in gone])
        return gone

    def remove_documents(self, document_ids: Sequence[str]) -> None:
        """Unknown ids are skipped. If one of the documents may only be read, none is removed."""
        by, writable = self._gate.who(), {each.id: each.name for each in self._gate.indexes(WRITE)}
        there = self._catalogue.documents.records_of(document_ids)
        for index_id in {document.index_id for document in there} - writable.keys():
            self._gate.index_with_id(index_id, WRITE)
        documents = [document for document in there if document.index_id in writable]
        if documents:
            with repairable_change(", ".join(file_name(document.source) for document in documents[:3])):
                self._library.remove(documents)
        for index_id in {document.index_id for document in documents}:
            sources = [document.source for document in documents if document.index_id == index_id]
            self._note(Action.REMOVED, by, index=writable[index_id], sources=sources)

    # The state of the store

    def index_sizes(self) -> list[IndexSize]:
        """The size of each index, by name. Raises AdminNeeded."""
        self._gate.require_admin()
        return self._catalogue.documents.index_sizes()

    @property
    def trouble(self) -> PlainError | None:
        """What can't be reached now, the store of the vectors or of the originals; some methods then fail."""
        self._gate.who()
        return self._library.vectors.trouble or self._library.originals.trouble

    def check(self) -> list[Difference]:
        """Where catalogue, vectors and originals do not agree. Raises AdminNeeded."""
        self._gate.require_admin()
        with self._library.held():
            return differences(self._library)

    # Search

    def load_embeddings(self) -> None:
        """Loads the model now, so that the first search does not wait. Raises EmbeddedModelUnusable."""
        self._gate.who()
        self._embeddings.load()

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

        `words`: words for the keyword side, in place of the question. `document_ids`: the only documents to search.
        Raises UnknownIndex, EmptyIndex, EmptyQuestion, QuestionTooLong, UnknownMode, UnknownUnit,
        EmbeddingModelMismatch, VectorsLost, VectorServerError, ServiceError.
        """
        query = Query(question, mode, unit, k, words, document_ids)
        return self._parts.searcher.search(self._gate.index(index, READ), query)

    def pending(self, index: str) -> int:
        """Number of documents that are being added, so that no search finds them yet. Raises UnknownIndex."""
        return self._catalogue.indexes.pending(self._gate.index(index, READ).id)

    def survey(self, index: str, question: str, *, k: int) -> Survey:
        """What the index contains for a question: up to `k` chunks by vector and keyword, and the words that it lacks.

        Raises UnknownIndex, QuestionTooLong, EmbeddingModelMismatch, ServiceError; EmptyIndex if there is no index at
        all.
        """
        return self._parts.searcher.survey(self._gate.index(index, READ), question, k)

    def analyse(self, index: str, question: str) -> Analysis:
        """How the keyword side reads the question. Raises UnknownIndex, QuestionTooLong."""
        known = self._gate.index(index, READ)
        check_length(question)
        return self._library.analyzer(known).question(question)

    def matcher(self, index: str, analysis: Analysis) -> Callable[[str], list[tuple[int, int]]]:
        """Tells where the question's words are in a text: spans in characters. One for many texts, because the right is
        checked here, in the database. Raises UnknownIndex.
        """
        return partial(self._library.analyzer(self._gate.index(index, READ)).matches, analysis)

    def count_words(
        self, index: str, analysis: Analysis, document_ids: Sequence[str] | None = None
    ) -> dict[str, WordCount]:
        """For each term that is searched, how many chunks hold it; only in the given documents, if any.

        Raises UnknownIndex.
        """
        known = self._gate.index(index, READ)
        analyzer = self._library.analyzer(known)
        words = {word.term: word.written for word in analysis.searched}
        pairs = {term: {pair.text for pair in analyzer.terms(written).pairs} for term, written in words.items()}
        return self._catalogue.full_text.count_words(known.id, pairs, analysis.parts, document_ids)

    def glossary(self, index: str) -> str:
        """Terms that stay one word in full text, one per line. Raises UnknownIndex."""
        return self._gate.index(index, READ).glossary or ""

    def set_glossary(self, index: str, glossary: str) -> None:
        """Builds the full text of the index again, which takes a second per thousand chunks. Raises UnknownIndex,
        ChangeFailed.
        """
        by, known = self._gate.who(), self._gate.index(index, WRITE)
        with repairable_change(known.name):
            self._library.set_glossary(known, glossary)
        self._note(Action.GLOSSARY_SET, by, index=known.name)

    # Helpers

    def _begin(self, index: IndexRecord | str, sources: Sequence[Source]) -> Job:
        """A job on this index, or on a new index of this name."""
        name, index_id = (index, None) if isinstance(index, str) else (index.name, index.id)
        person_id = self._gate.who().id
        may_go_on = None if person_id == LOCAL.id else partial(self._may_go_on, person_id)
        order = JobOrder(tuple(sources), name, index_id, person_id)
        with repairable_change(name):  # with a queue, a job is recorded before it begins
            self._dismiss_earliest(person_id)
            return self._parts.jobs.begin(order, self._parts.lifecycle.open_for, may_go_on)

    def _dismiss_earliest(self, person_id: str) -> None:
        """The list of documents tells of their failures too."""
        theirs = [job for job in self._parts.jobs.listed() if job.order.person_id == person_id and job.is_finished]
        for job in theirs[:-FINISHED]:
            self._parts.jobs.dismiss(job.id)

    def _seen(self, job: Job) -> UserIngestion:
        return UserIngestion(job, self._gate)

    def _may_go_on(self, person_id: str) -> bool:
        try:
            self._parts.access.principal(person_id)
        except errors.AccessWithdrawn:
            return False
        except SQLAlchemyError:
            return True  # asked again later
        return True


def _documents_of(source: str, every: Sequence[Document]) -> list[Document]:
    """The document of this source; else those of this site or archive, then of this path, then below this folder."""
    path = os.path.abspath(source)
    below = path.rstrip(os.sep) + os.sep
    meanings: tuple[Callable[[Document], bool], ...] = (
        lambda document: document.source == source,
        lambda document: document.parent == source,
        lambda document: path in (document.source, document.parent),
        lambda document: document.source.startswith(below),
    )
    found = ([document for document in every if is_meant(document)] for is_meant in meanings)
    return next(filter(None, found), [])
