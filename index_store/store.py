"""The documents of all indexes, and how they are found."""

# ruff: noqa: PTH100 - a source is the path as given: Path.resolve() would follow links

import hashlib
import os
import threading
import unicodedata
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Self

from filelock import FileLock, Timeout
from sqlalchemy import Row

from index_store import errors, split
from index_store.catalogue import Catalogue, Leftover
from index_store.embeddings import Embeddings, make_embeddings
from index_store.loaders import KINDS, RawFile, kind_of
from index_store.loaders.parser import Parser
from index_store.records import Added, AddStatus, Document, DocumentStatus, Hit, Index, Section
from index_store.settings import MEGABYTE, Settings
from index_store.vectors import Vectors

MODES = ("vector",)
UNITS = ("chunk", "section")

SPARE = 16
"""chunks asked for beyond k, so that equal scores are put in order and hits without a chunk leave no gap"""


class IndexStore:
    """The documents of all indexes and how they are found. One process owns a data folder; its threads share the store.

    Raises StoreInUse, DataFolderUnusable.
    """

    def __init__(self, settings: Settings | None = None, embeddings: Embeddings | None = None) -> None:
        self._settings = settings or Settings()
        self._embeddings = embeddings or make_embeddings(self._settings)
        folder = self._settings.data_dir
        self._lock = _own(folder)
        self._catalogue = Catalogue(folder / "catalogue.sqlite3")
        self._vectors = Vectors(folder / "chroma")
        self._parser = Parser(self._settings)
        self._writing = threading.RLock()
        for leftover in self._catalogue.leftovers():
            self._clear(leftover)

    def close(self) -> None:
        """After the writing that is under way. Closing twice is fine."""
        with self._writing:
            self._parser.close()
            self._vectors.close()
            self._catalogue.close()
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def indexes(self) -> list[Index]:
        return self._catalogue.indexes()

    def documents(self, index: str | None = None) -> list[Document]:
        """Of one index, or of all. Raises UnknownIndex."""
        if index is not None:
            index = self._index(index).name
        return self._catalogue.documents(index)

    def add(self, index: str, path: Path, source: str | None = None) -> Added:
        """Loads one document, replacing the version that was loaded from the same source.

        What is wrong with the document or with the embedding service is in the result, not raised. A version that was
        ready stays searchable until the new one is. `source` is by default the absolute path; an upload gives its file
        name. Raises BadIndexName, EmbeddingModelMismatch.
        """
        index = _checked_name(index)
        with self._writing:
            row = self._catalogue.index(index)
            if row is not None and row.embedding_model != self._embeddings.id and self._catalogue.has_chunks(row.id):
                self._refuse_model(row)
            source = _storable(source or os.path.abspath(path))
            try:
                file = _read(Path(path), source, self._settings.max_file_mb)
            except errors.DocumentError as error:
                # Nothing that could be listed or tried again.
                return _failed(source, None, error)
            row = self._ready_index(index, row)
            known = self._catalogue.document(row.id, source)
            document_id = known.id if known else uuid.uuid4().hex
            fingerprint = self._fingerprint(file)
            if known and known.status == DocumentStatus.READY and known.fingerprint == fingerprint:
                if known.error:
                    self._catalogue.clear_error(known.id)
                return Added(
                    source=source, status=AddStatus.UNCHANGED, document_id=known.id,
                    chunks=known.chunks, sections=known.sections, error=None,
                )  # fmt: skip
            try:
                return self._load(row, known, document_id, source, file, fingerprint)
            except (errors.DocumentError, errors.ServiceError) as error:
                kind = KINDS.get(PurePath(file.name).suffix.lower(), "")
                failure = error.as_failure()
                self._catalogue.put_failed(row.id, document_id, source, file.name, kind, file.size, failure)
                return _failed(source, document_id, error)

    def remove(self, index: str, source: str) -> list[Document]:
        """The document of this source, or all below this folder. Raises UnknownIndex, UnknownDocument."""
        with self._writing:
            row = self._index(index)
            every = self._catalogue.documents(row.name)
            source = _storable(source)
            path = os.path.abspath(source)
            gone = [document for document in every if document.source == source]
            gone = gone or [document for document in every if document.source == path]
            below = path.rstrip(os.sep) + os.sep
            gone = gone or [document for document in every if document.source.startswith(below)]
            if not source or not gone:
                raise errors.UnknownDocument(source=source, index=row.name)
            for leftover in self._catalogue.remove(row.collection, [document.id for document in gone]):
                self._clear(leftover)
            return gone

    def search(self, index: str, question: str, *, mode: str = "vector", unit: str = "chunk", k: int = 4) -> list[Hit]:
        """Up to `k` chunks, or sections with their best chunk's score, best first.

        Raises UnknownIndex, EmptyIndex, EmptyQuestion, UnknownMode, UnknownUnit, EmbeddingModelMismatch, ServiceError.
        """
        if mode not in MODES:
            raise errors.UnknownMode(mode=mode, known=", ".join(MODES))
        if unit not in UNITS:
            raise errors.UnknownUnit(unit=unit, known=", ".join(UNITS))
        if not question.strip():
            raise errors.EmptyQuestion()
        row = self._index(index)
        if not self._catalogue.has_chunks(row.id):
            raise errors.EmptyIndex(index=row.name)
        if row.embedding_model != self._embeddings.id:
            self._refuse_model(row)
        vector = self._embeddings.query(question)
        if len(vector) != row.dimension:
            self._refuse_model(row, f"{self._embeddings.id} ({len(vector)})")
        asked = k + SPARE
        while True:
            near = self._vectors.nearest(row.collection, vector, asked)
            hits = self._ranked(row, near, unit)
            if len(hits) >= k or len(near) < asked:
                return hits[:k]
            asked *= 4

    def section(self, section_id: str) -> Section:
        """Raises UnknownSection: its document may have been replaced or removed."""
        section = self._catalogue.section(section_id)
        if section is None:
            raise errors.UnknownSection()
        return section

    def _ranked(self, index: Row, near: list[tuple[str, float]], unit: str) -> list[Hit]:
        known = self._catalogue.hits(index.id, [id_ for id_, _ in near])
        # Six places: cosines of the same texts differ beyond them by how the vectors were batched.
        scored = sorted(((-round(score, 6), id_) for id_, score in near if id_ in known))
        hits: list[Hit] = []
        seen: set[str] = set()
        for score, id_ in scored:
            hit = known[id_]
            if unit == "section":
                if hit.section_id in seen:
                    continue
                seen.add(hit.section_id)
                section = self._catalogue.section(hit.section_id)
                if section is None:
                    continue
                whole = {"headings": section.headings, "page": section.page, "text": section.text, "start": 0}
                hit = hit.model_copy(update={**whole, "end": len(section.text)})
            hits.append(hit.model_copy(update={"rank": len(hits) + 1, "score": -score}))
        return hits

    def _load(
        self, index: Row, known: Row | None, document_id: str, source: str, file: "_File", fingerprint: str
    ) -> Added:
        kind = kind_of(file.name)
        loaded = self._parser.load(RawFile(file.path, file.name), kind)
        sections = list(loaded)
        texts = [chunk.embedded for section in sections for chunk in section.chunks]
        vectors = self._embeddings.passages(texts)
        if index.dimension and vectors.shape[1] != index.dimension:
            self._refuse_model(index, f"{self._embeddings.id} ({vectors.shape[1]})")
        revision = known.revision + 1 if known else 1
        new = Leftover(index.collection, document_id, revision, len(texts))
        self._catalogue.note_leftover(new)
        self._vectors.put(index.collection, document_id, new.ids, vectors)
        old = self._catalogue.put_ready(
            index.id, index.collection, document_id, source, loaded.title, kind, file.size, fingerprint, revision,
            vectors.shape[1], sections,
        )  # fmt: skip
        if old:
            self._clear(old)
        return Added(
            source=source, status=AddStatus.READY, document_id=document_id,
            chunks=len(texts), sections=len(sections), error=None,
        )  # fmt: skip

    def _clear(self, leftover: Leftover) -> None:
        self._vectors.delete(leftover.collection, leftover.ids)
        self._catalogue.forget_leftover(leftover)

    def _index(self, name: str) -> Row:
        row = self._catalogue.index(unicodedata.normalize("NFC", name))
        if row is None:
            known = ", ".join(index.name for index in self.indexes())
            if not known:
                raise errors.EmptyIndex(index=name)
            raise errors.UnknownIndex(index=name, known=known)
        return row

    def _ready_index(self, name: str, row: Row | None) -> Row:
        """The index, made when missing; one that holds nothing yet takes the present model."""
        if row is None:
            id_ = uuid.uuid4().hex
            self._catalogue.create_index(id_, name, self._embeddings.id, f"index-{id_}")
        elif row.embedding_model != self._embeddings.id:
            self._vectors.drop(row.collection)
            # A collection keeps the dimension of its first vector.
            self._catalogue.set_model(row.id, self._embeddings.id, f"index-{uuid.uuid4().hex}")
        return self._index(name)

    def _refuse_model(self, index: Row, present: str | None = None) -> None:
        made_with = f"{index.embedding_model} ({index.dimension})" if present else index.embedding_model
        raise errors.EmbeddingModelMismatch(
            index=index.name, made_with=made_with, present=present or self._embeddings.id
        )

    def _fingerprint(self, file: "_File") -> str:
        splitting = (split.VERSION, self._settings.chunk_size, self._settings.chunk_overlap)
        return hashlib.sha256(f"{file.digest} {splitting}".encode()).hexdigest()


def expand(paths: Iterable[Path]) -> list[Path]:
    """Folders replaced by their files, at any depth and in order; hidden files and folders are left out."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        below = []
        # Links to folders are not followed: they may lead round in a circle.
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below += [Path(folder, name) for name in names if not name.startswith(".")]
        files += sorted(below)
    return files


@dataclass(frozen=True)
class _File:
    path: Path
    name: str
    size: int
    digest: str


def _read(path: Path, source: str, max_mb: float) -> _File:
    """Raises DocumentError."""
    name = PurePath(source).name or source
    try:
        if not path.is_file():
            raise errors.NotAFile(name=name) if path.exists() else errors.DocumentMissing(name=name)
        size = path.stat().st_size
        if size > max_mb * MEGABYTE:
            raise errors.TooLarge(name=name, limit=f"{max_mb:g}")
        if not size:
            raise errors.EmptyDocument(name=name)
        with path.open("rb") as stream:
            return _File(path, name, size, hashlib.file_digest(stream, "sha256").hexdigest())
    except PermissionError as error:
        raise errors.DocumentForbidden(name=name) from error
    except (OSError, ValueError) as error:
        # A name too long, one with NUL, a disk that fails.
        raise errors.Unreadable(name=name) from error


def _storable(source: str) -> str:
    """A file's name may hold bytes that are no text, which SQLite refuses."""
    return source.replace("\0", "").encode("utf-8", "replace").decode()


def _failed(source: str, document_id: str | None, error: errors.PlainError) -> Added:
    return Added(
        source=source, status=AddStatus.FAILED, document_id=document_id,
        chunks=0, sections=0, error=error.as_failure(),
    )  # fmt: skip


def _checked_name(name: str) -> str:
    name = unicodedata.normalize("NFC", name)
    bad = any(unicodedata.category(character) in ("Cc", "Cs") or character in "/\\" for character in name)
    if not 1 <= len(name) <= 64 or bad or name != name.strip() or name in (".", ".."):
        raise errors.BadIndexName()
    return name


def _own(folder: Path) -> FileLock:
    """The lock that says that this process owns the folder; beside it, for the reader of an error, which one does."""
    owner = folder / "index_store.pid"
    lock = FileLock(folder / "index_store.lock", thread_local=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        owner.write_text(str(os.getpid()))
    except Timeout as error:
        pid = owner.read_text().strip() if owner.exists() else "?"
        raise errors.StoreInUse(folder=os.path.abspath(folder), pid=pid) from error
    except OSError as error:
        raise errors.DataFolderUnusable(folder=os.path.abspath(folder)) from error
    return lock
