import os
from pathlib import Path

import pytest

from index_store import AddStatus, IndexStore, Settings, errors, expand


def test_a_question_finds_the_chunk_that_answers_it(store: IndexStore, handbook: Path) -> None:
    store.add("規程", handbook)
    hit = store.search("規程", "出張の日当はいくらですか", k=1)[0]
    assert (hit.rank, hit.title, hit.headings) == (1, "出張旅費規程", ("日当",))
    assert "2,500円" in hit.text
    assert store.section(hit.section_id).text[hit.start : hit.end] == hit.text


def test_an_unchanged_file_is_left_alone(store: IndexStore, handbook: Path) -> None:
    first = store.add("a", handbook)
    again = store.add("a", handbook)
    assert (first.status, again.status) == (AddStatus.READY, AddStatus.UNCHANGED)
    assert (again.document_id, again.chunks) == (first.document_id, first.chunks)


def test_a_changed_file_replaces_its_old_version(store: IndexStore, handbook: Path) -> None:
    first = store.add("a", handbook)
    handbook.write_text("# Holidays\n\nThere are twenty days of leave.\n", encoding="utf-8")
    second = store.add("a", handbook)
    assert second.status is AddStatus.READY
    assert second.document_id == first.document_id
    assert [hit.text for hit in store.search("a", "日当", k=10)] == ["There are twenty days of leave."]


def test_a_changed_file_that_cannot_be_loaded_leaves_its_old_version_searchable(
    store: IndexStore, handbook: Path
) -> None:
    store.add("a", handbook)
    handbook.write_bytes(b"%PDF-1.7 this is no Markdown")
    failed = store.add("a", handbook)
    assert failed.status is AddStatus.FAILED
    assert "2,500" in store.search("a", "日当", k=1)[0].text
    assert store.documents("a")[0].error == failed.error


def test_a_second_owner_is_told_which_process_has_the_folder(store: IndexStore, settings: Settings) -> None:
    with pytest.raises(errors.StoreInUse, match=str(os.getpid())):
        IndexStore(settings)


def test_removing_a_folder_removes_the_documents_below_it(store: IndexStore, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config.txt").write_text("hidden")
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(f"This is the file {name}.")
    added = [store.add("a", file) for file in expand([folder])]
    assert [result.status for result in added] == [AddStatus.READY] * 2
    assert len(store.remove("a", str(folder))) == 2
    with pytest.raises(errors.EmptyIndex):
        store.search("a", "file")
