import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from chromadb.errors import InternalError
from sqlalchemy.exc import OperationalError

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.catalogue.documents import Documents
from index_store.catalogue.indexes import Indexes
from index_store.catalogue.pending_versions import PendingVersions
from index_store.ingestion.results import IngestStatus
from index_store.ingestion.sources import FileSource, expand
from index_store.parsing.worker.parser import Parser
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from index_store.vectors.local.folder import ChromaFolder
from tests.helpers.back_doors import catalogue_of, library_of
from tests.helpers.full_disk import full_disk, linux
from tests.index_store.soundness import assert_sound
from tests.servers import OpenAIServer


@pytest.fixture
def store(serviced: Settings) -> Iterator[IndexStore]:
    with IndexStore(serviced) as store:
        yield store


def test_a_question_finds_the_chunk_that_answers_it(
    settings: Settings, embeddings: EmbeddedEmbeddings, handbook: Path
) -> None:
    with IndexStore(settings, embeddings) as store:
        store.add("規程", handbook)
        hit = store.search("規程", "出張の日当はいくらですか", k=1)[0]
        assert (hit.rank, hit.title, hit.headings) == (1, "出張旅費規程", ("日当",))
        assert "2,500円" in hit.text
        assert store.section(hit.section_id).text[hit.start : hit.end] == hit.text


def test_an_unchanged_file_is_left_alone(store: IndexStore, handbook: Path) -> None:
    first = store.add("a", handbook)
    again = store.add("a", handbook)
    assert (first.status, again.status) == (IngestStatus.READY, IngestStatus.UNCHANGED)
    assert (again.document_id, again.chunks) == (first.document_id, first.chunks)


def test_a_changed_file_replaces_its_old_version(store: IndexStore, handbook: Path) -> None:
    first = store.add("a", handbook)
    handbook.write_text("# Holidays\n\nThere are twenty days of leave.\n", encoding="utf-8")
    second = store.add("a", handbook)
    assert second.status is IngestStatus.READY
    assert second.document_id == first.document_id
    assert [hit.text for hit in store.search("a", "日当", k=10)] == ["There are twenty days of leave."]


def test_a_changed_file_that_cannot_be_loaded_leaves_its_old_version_searchable(
    store: IndexStore, handbook: Path
) -> None:
    store.add("a", handbook)
    handbook.write_bytes(b"%PDF-1.7 this is no Markdown")
    failed = store.add("a", handbook)
    assert failed.status is IngestStatus.FAILED
    assert "2,500" in store.search("a", "日当", k=1)[0].text
    assert store.documents("a")[0].error == failed.error


def test_a_second_owner_is_told_which_process_has_the_folder(store: IndexStore, serviced: Settings) -> None:
    with pytest.raises(errors.StoreInUse, match=str(os.getpid())):
        IndexStore(serviced)


def test_removing_a_folder_removes_the_documents_below_it(store: IndexStore, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config.txt").write_text("hidden")
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(f"This is the file {name}.")
    added = [store.add("a", file) for file in expand([folder])]
    assert [result.status for result in added] == [IngestStatus.READY] * 2
    assert len(store.remove("a", str(folder))) == 2
    with pytest.raises(errors.EmptyIndex):
        store.search("a", "file")


def test_a_failure_before_the_swap_leaves_the_old_version_and_no_vectors_behind(
    serviced: Settings, handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexStore(serviced) as store:
        store.add("a", handbook)
        handbook.write_text("# Another\n\nversion with other words\n")

        def fail(*_: object) -> None:
            raise OperationalError("INSERT", {}, Exception("database or disk is full"))

        with monkeypatch.context() as broken:
            broken.setattr(PendingVersions, "finish", fail)
            failed = store.add("a", handbook)
            assert failed.error
            assert failed.error.code == "store_failed"
        assert len(store.search("a", "日当", k=10)) == 2
        assert "2,500" in store.search("a", "日当", k=1)[0].text
    with IndexStore(serviced) as store:
        assert len(store.search("a", "日当", k=10)) == 2
        assert len(_vectors(store, "a")) == 2
        assert store.add("a", handbook).status is IngestStatus.READY
        assert len(_vectors(store, "a")) == 1


def test_the_vectors_of_many_documents_are_deleted_in_one_change_of_each_index(
    store: IndexStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for index, number in ((index, number) for index in "ab" for number in range(3)):
        (file := tmp_path / f"{number}.md").write_text(f"# Rule {number}\n\nIt holds for {number} days.\n")
        assert store.add(index, file, file.name).error is None
    deleted: list[int] = []
    delete = library_of(store).vectors.delete

    def counted(collection: str, ids: Sequence[str]) -> None:
        deleted.append(len(ids))
        delete(collection, ids)

    monkeypatch.setattr(library_of(store).vectors, "delete", counted)
    store.remove_documents([each.id for each in store.documents()][1:])
    assert sorted(deleted) == [2, 3]
    assert sorted(len(_vectors(store, index)) for index in "ab") == [0, 1]
    assert store.check() == []


def test_a_removed_document_leaves_no_vectors_and_its_sections_are_gone(store: IndexStore, handbook: Path) -> None:
    store.add("a", handbook)
    section = store.search("a", "日当", k=1)[0].section_id
    (removed,) = store.remove("a", str(handbook))
    assert removed.source == str(handbook)
    assert _vectors(store, "a") == []
    with pytest.raises(errors.UnknownSection):
        store.section(section)
    with pytest.raises(errors.UnknownDocument):
        store.remove("a", str(handbook))


def test_an_index_that_was_emptied_takes_another_model(settings: Settings, handbook: Path) -> None:
    with IndexStore(settings) as store:
        store.add("a", handbook)
        store.remove("a", str(handbook))
    with OpenAIServer() as server:
        service = settings.model_copy(update={"openai_base_url": server.base_url})
        with IndexStore(service) as store:
            assert store.add("a", handbook).status is IngestStatus.READY
            assert store.search("a", "日当", k=1)


def test_sections_are_found_by_their_best_chunk(store: IndexStore, tmp_path: Path) -> None:
    file = tmp_path / "long.md"
    file.write_text(
        "## 日当\n\n" + "日当は1日2,500円です。宿泊するときの話です。\n" * 30 + "\n## 休暇\n\n休暇は年に20日です。\n"
    )
    store.add("a", file)
    hits = store.search("a", "日当はいくら", unit="section", k=5)
    assert [hit.headings for hit in hits] == [("日当",), ("休暇",)]
    assert hits[0].text == store.section(hits[0].section_id).text


def test_equal_scores_come_in_a_stable_order(store: IndexStore, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text(f"The same words, number {number}.")
        store.add("a", tmp_path / f"{number}.txt", source=f"{number}.txt")
    found = [[hit.chunk_id for hit in store.search("a", "words", mode="keyword", k=4)] for _ in range(3)]
    assert found[0] == found[1] == found[2]


def test_threads_search_while_one_adds(store: IndexStore, handbook: Path, tmp_path: Path) -> None:
    store.add("a", handbook)
    files = []
    for number in range(6):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text(f"Note number {number} about something else.")
    with ThreadPoolExecutor(4) as threads:
        adding = [threads.submit(store.add, "a", file) for file in files]
        asking = [threads.submit(store.search, "a", "日当", k=1) for _ in range(20)]
        assert all("2,500" in job.result()[0].text for job in asking)
        assert all(job.result().status is IngestStatus.READY for job in adding)


def test_a_search_goes_on_while_another_index_is_deleted(serviced: Settings, write: Callable[..., Path]) -> None:
    with IndexStore(serviced) as store, ThreadPoolExecutor(4) as threads:
        store.add("stays", write("stays.md", sections=20))
        for number in range(2):
            store.add(f"goes {number}", write("goes.md", sections=20))
        asking = [threads.submit(store.search, "stays", "part", k=1) for _ in range(50)]
        for number in range(2):
            store.delete_index(f"goes {number}")
        assert {Path(job.result()[0].source).name for job in asking} == {"stays.md"}
        assert store.check() == []


def test_a_document_that_is_added_while_the_store_closes_stays_pending_for_the_next_start(
    serviced: Settings, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    closing = IndexStore(serviced)
    closing.create_index("a")
    close = Parser.close

    def close_and_add(parser: Parser) -> None:
        close(parser)
        closing.ingest("a", [FileSource(write("late.md"))])

    with monkeypatch.context() as late:
        late.setattr(Parser, "close", close_and_add)
        closing.close()
    with IndexStore(serviced) as store:
        [job] = store.resume()
        assert [each.status for each in job.wait()] == [IngestStatus.READY]
        assert_sound(store, serviced.data_dir)


@pytest.mark.parametrize(
    ("table", "method", "change"),
    [
        (Documents, "mark_removing", lambda store, document: store.remove_documents([document])),
        (Indexes, "delete", lambda store, _: store.delete_index("a")),
        pytest.param(Indexes, "rename", lambda store, _: store.rename_index("a", "b"), marks=pytest.mark.soak),
        pytest.param(Indexes, "create", lambda store, _: store.create_index("b"), marks=pytest.mark.soak),
    ],
)
def test_a_change_that_fails_on_a_full_disk_is_told_and_leaves_all_as_it_was(
    serviced: Settings,
    handbook: Path,
    monkeypatch: pytest.MonkeyPatch,
    table: type,
    method: str,
    change: Callable[[IndexStore, str], None],
) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("UPDATE", {}, Exception("database or disk is full"))

    with IndexStore(serviced) as store:
        document = store.add("a", handbook).document_id
        assert document
        with monkeypatch.context() as broken:
            broken.setattr(table, method, fail)
            with pytest.raises(errors.ChangeFailed, match="the disk may be full"):
                change(store, document)
        assert [index.name for index in store.indexes()] == ["a"]
        assert len(store.search("a", "日当", k=10)) == 2
        assert store.check() == []


@linux
@pytest.mark.sqlite_alone
@pytest.mark.parametrize(
    "change",
    [
        lambda store: store.reindex("a").wait(),
        pytest.param(lambda store: store.set_glossary("a", "出張旅費"), marks=pytest.mark.soak),
    ],
)
def test_on_a_full_disk_a_glossary_and_another_embedding_model_are_refused_in_a_sentence_and_can_be_set_later(
    serviced: Settings, handbook: Path, change: Callable[[IndexStore], object]
) -> None:
    with IndexStore(serviced) as store:
        store.add("a", handbook)
    with IndexStore(serviced.model_copy(update={"embedding_model": "model-b"})) as store:
        with full_disk(1), pytest.raises(errors.ChangeFailed, match="the disk may be full"):
            change(store)
        change(store)
        assert store.check() == []


def test_an_index_whose_vectors_a_full_disk_keeps_is_told_in_a_sentence_and_is_gone_at_the_next_start(
    serviced: Settings, handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise InternalError("Database error: (code: 778) disk I/O error")

    with IndexStore(serviced) as store:
        store.add("a", handbook)
        with monkeypatch.context() as full:
            full.setattr(ChromaFolder, "drop", fail)
            with pytest.raises(errors.ChangeFailed, match="the disk may be full"):
                store.delete_index("a")
    with IndexStore(serviced) as store:
        assert store.indexes() == []
        assert store.check() == []


@pytest.mark.parametrize("name", ["", " a", "a/b", "a\\b", "a\nb", "x" * 65, ".."])
def test_an_index_name_that_could_be_a_path_or_not_be_seen_is_refused(
    store: IndexStore, handbook: Path, name: str
) -> None:
    with pytest.raises(errors.BadIndexName):
        store.add(name, handbook)


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\ufeff", "\u2028"])
def test_no_index_is_named_with_a_character_that_nobody_sees_and_one_that_is_stays_usable(
    store: IndexStore, handbook: Path, sign: str
) -> None:
    store.create_index("人事👩\u200d💻")  # an emoji made of two
    for refused in (
        store.create_index,
        partial(store.add, path=handbook),
        partial(store.rename_index, "人事👩\u200d💻"),
    ):
        with pytest.raises(errors.BadIndexName, match="invisible"):
            refused(f"規{sign}程")
    older = catalogue_of(store).indexes.named("人事👩\u200d💻")
    assert older
    catalogue_of(store).indexes.rename(older.id, f"規{sign}程")
    assert store.add(f"規{sign}程", handbook).error is None
    store.rename_index(f"規{sign}程", "規程")
    assert [each.name for each in store.indexes()] == ["規程"]


def _vectors(store: IndexStore, index: str) -> list[str]:
    record = catalogue_of(store).indexes.named(index)
    assert record
    return list(library_of(store).vectors.ids(record.collection))
