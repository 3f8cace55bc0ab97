"""A data folder of the first release, without originals and pending documents, works with this version."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.first_release import FIRST
from tests.index_store.soundness import assert_sound, originals

pytestmark = pytest.mark.sqlite_alone

Write = Callable[..., Path]


TABLES = ("indexes", "documents", "sections", "chunks")


@pytest.fixture
def first(serviced: Settings, write: Write, tmp_path: Path) -> Settings:
    """Settings of a folder with two files, a document that has only a name as its source, and one that failed."""
    (tmp_path / "empty.md").touch()
    with IndexStore(serviced) as store:
        sources = [FileSource(write("apples.md", sections=2)), FileSource(write("bananas.md", sections=2))]
        sources += [FileSource(write("upload.md"), name="upload.md"), FileSource(tmp_path / "empty.md")]
        store.ingest("a", sources).wait()
    shutil.rmtree(serviced.data_dir / "originals")
    as_of_the_first_release(serviced.data_dir)
    return serviced


def as_of_the_first_release(data_dir: Path) -> None:
    old, new = data_dir / "old.sqlite3", data_dir / "catalogue.sqlite3"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(FIRST)
        connection.execute("ATTACH ? AS new", (str(new),))
        for table in TABLES:
            columns = ", ".join(f'"{row[1]}"' for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(f"INSERT INTO main.{table} SELECT {columns} FROM new.{table}")
        connection.commit()
    old.replace(new)


def test_it_opens_and_is_searched_as_before(first: Settings) -> None:
    with IndexStore(first) as store:
        assert sorted((Path(each.source).name, each.status.value) for each in store.documents()) == [
            ("apples.md", "ready"), ("bananas.md", "ready"), ("empty.md", "failed"), ("upload.md", "ready")
        ]  # fmt: skip
        assert store.search("a", "What does the file of bananas say?", k=1)[0].source.endswith("bananas.md")
        for document in store.documents():
            with pytest.raises(errors.OriginalMissing):
                store.original(document.id)
        assert store.resume() == []
        assert_sound(store, first.data_dir)


def test_what_is_added_again_is_kept_from_now_on(first: Settings, tmp_path: Path) -> None:
    with IndexStore(first) as store:
        (before,) = [each for each in store.documents() if each.source.endswith("apples.md")]
        again = store.add("a", tmp_path / "apples.md")
        assert (again.status, again.document_id) == (IngestStatus.READY, before.id)
        assert store.original(before.id).name == "apples.md"
        assert store.add("a", tmp_path / "apples.md").status is IngestStatus.UNCHANGED
        store.remove("a", str(tmp_path / "bananas.md"))
        assert_sound(store, first.data_dir)


def test_under_another_model_it_is_read_from_where_it_came(
    first: Settings, service: EmbeddingService, tmp_path: Path
) -> None:
    with IndexStore(first.model_copy(update={"embedding_model": "model-b"})) as store:
        with pytest.raises(errors.EmbeddingModelMismatch):
            store.search("a", "bananas")
        job = store.reindex("a")
        outcomes = {Path(each.source).name: each.error.code if each.error else "ready" for each in job.wait()}
        assert outcomes == {
            "apples.md": "ready", "bananas.md": "ready", "upload.md": "original_missing", "empty.md": "empty_document"
        }  # fmt: skip
        assert store.search("a", "What does the file of bananas say?", k=1)[0].source.endswith("bananas.md")
        assert len(originals(first.data_dir)) == 2
        # A document whose file is nowhere is ready again as soon as it is added again.
        assert store.add("a", tmp_path / "upload.md", source="upload.md").status is IngestStatus.READY
        assert_sound(store, first.data_dir)


@pytest.mark.parametrize(
    ("name", "said"), [("catalogue.sqlite3", "catalogue.sqlite3"), ("chroma/chroma.sqlite3", "chroma")]
)
def test_a_database_that_is_none_is_told_in_plain_words(settings: Settings, name: str, said: str) -> None:
    file = settings.data_dir / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"This is no database. " * 100)
    for _ in range(2):  # whoever starts it again reads the same
        with pytest.raises(errors.DataFolderDamaged) as refused:
            IndexStore(settings)
        assert refused.value.sentence("ja").startswith(f"{said} は壊れている")
