import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.catalogue.catalogue import Catalogue
from index_store.catalogue.records import DocumentRecord
from index_store.ingestion.sources import FileSource
from index_store.library.originals.originals import Original, Originals
from index_store.library.originals.registry import originals_backend
from index_store.library.versions import Versions
from index_store.store.index_store import IndexStore
from tests.helpers.full_disk import full_disk, linux
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.small_graphs import GRAPH, small_graphs
from tests.index_store.soundness import assert_sound, content
from tests.servers import Refusal

Write = Callable[..., Path]


@pytest.fixture(params=["data folder", *(pytest.param(each, marks=pytest.mark.soak) for each in ("share", "s3"))])
def serviced(request: pytest.FixtureRequest, serviced: Settings, tmp_path: Path) -> Settings:
    """Settings for each place where originals can be stored."""
    match request.param:
        case "share":
            url = f"file://{tmp_path}/share"
        case "s3":
            server = request.getfixturevalue("s3")
            url = f"s3://{server.new_bucket()}/some/prefix?endpoint_url={server.url}&key=a&secret=b"
        case _:
            return serviced
    return serviced.model_copy(update={"originals_url": SecretStr(url)})


@pytest.fixture
def store(serviced: Settings) -> Iterator[IndexStore]:
    with IndexStore(serviced) as store:
        yield store


def kept(store: IndexStore, source: Path | str) -> str:
    (document,) = [each for each in store.documents() if each.source == str(source)]
    return content(store.original(document.id)).decode()


def originals(serviced: Settings) -> list[str]:
    return sorted(originals_backend(serviced).names())


@pytest.mark.parametrize(
    "serviced", ["data folder", pytest.param("share", marks=pytest.mark.soak), "s3"], indirect=True
)
def test_of_each_document_the_version_that_is_ready_is_kept_and_no_other(
    store: IndexStore, serviced: Settings, write: Write
) -> None:
    file = write("a.md", words="old")
    store.add("a", file)
    content = file.read_text()
    assert kept(store, file) == content
    write("a.md", words="new")
    store.add("a", file)
    assert kept(store, file) == content.replace("old", "new")
    assert len(originals(serviced)) == 1
    store.reindex("a").wait()
    assert kept(store, file) == content.replace("old", "new")
    assert len(originals(serviced)) == 1
    file.unlink()
    assert "new" in kept(store, file)
    store.remove("a", str(file))
    assert originals(serviced) == []


def test_of_a_document_whose_newer_version_failed_the_one_that_is_ready_is_opened_and_the_newer_one_tried_again(
    store: IndexStore, serviced: Settings, service: EmbeddingService, write: Write
) -> None:
    file = write("a.md", words="old")
    store.add("a", file)
    write("a.md", words="new")
    service.fails(Refusal(500))
    store.add("a", file)
    service.recovers()
    assert "old" in kept(store, file)
    assert len(originals(serviced)) == 2
    file.unlink()
    store.retry("a").wait()
    assert "new" in kept(store, file)
    assert "new" in store.search("a", "part", k=1)[0].text
    assert_sound(store, serviced.data_dir)
    assert len(originals(serviced)) == 1


def test_what_failed_can_be_opened_too(store: IndexStore, tmp_path: Path) -> None:
    file = tmp_path / "broken.pdf"
    file.write_text("%PDF-1.7 and nothing more")
    store.add("a", file)
    assert kept(store, file) == "%PDF-1.7 and nothing more"


def test_a_member_of_an_archive_is_opened_as_itself(store: IndexStore, serviced: Settings, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("folder/旅費①.md", "# 旅費\n\n日当は1日2,500円です。")
    store.ingest("a", [FileSource(tmp_path / "all.zip")]).wait()
    (document,) = store.documents()
    original = store.original(document.id)
    assert (original.name, original.kind) == ("旅費①.md", "md")
    assert "2,500" in content(original).decode()
    assert originals(serviced) == [original.id]


def test_an_original_that_is_gone_is_told_so(store: IndexStore, serviced: Settings, write: Write) -> None:
    store.add("a", write("a.md"))
    originals_backend(serviced).delete(originals(serviced))
    with pytest.raises(errors.OriginalMissing, match=r"a\.md"):
        store.original(store.documents()[0].id)
    with pytest.raises(errors.DocumentGone):
        store.original("none")


def test_a_newer_version_that_is_begun_while_the_ready_one_is_added_again_takes_its_place(
    store: IndexStore, serviced: Settings, service: EmbeddingService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("a.md", words="old")
    store.add("a", file)
    write("a.md", words="new")
    service.fails(Refusal(500))
    store.add("a", file)  # adding the ready version again will clear this error
    service.recovers()
    write("a.md", words="old")
    confirm, jobs = Versions.confirm, []

    def begin_before(versions: Versions, document: DocumentRecord, page: None) -> None:
        if not jobs:
            service.is_held, asked = True, len(service.requests)
            jobs.append(store.ingest("a", [FileSource(write("b.md", words="newer"), str(file))]))
            service.wait_for_requests(asked + 1)
        confirm(versions, document, page)

    monkeypatch.setattr(Versions, "confirm", begin_before)
    assert store.add("a", file).status == "unchanged"
    service.is_held = False
    assert [each.error for each in jobs[0].wait()] == [None]
    assert "newer" in kept(store, file)
    assert_sound(store, serviced.data_dir)


def test_an_original_that_is_replaced_while_it_is_opened_is_the_newer_one(
    store: IndexStore, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("a.md", words="old")
    store.add("a", file)
    find, asked = Originals.original, []

    def replace_before(*arguments: Any, **details: Any) -> Original | None:
        asked.append(arguments)
        if len(asked) == 1:
            assert store.add("a", write("a.md", words="new")).error is None
        return find(*arguments, **details)

    monkeypatch.setattr(Originals, "original", replace_before)
    assert "new" in kept(store, file)


def test_a_file_of_any_name_is_kept(store: IndexStore, serviced: Settings, tmp_path: Path) -> None:
    for number, name in enumerate(["with space 髙①.md", "が.md", "x" * 200 + ".md", "'quoted\".md"], 1):
        file = tmp_path / name
        file.write_text(f"# Title {number}\n\nSome text.")
        added = store.add("a", file)
        assert (added.error, added.document_id is None) == (None, False), name
        assert store.add("a", file).status == "unchanged", name
        assert len(originals(serviced)) == number, name
        assert content(store.original(added.document_id or "")).decode() == file.read_text(), name


def test_a_file_whose_name_is_no_text_is_kept(store: IndexStore, tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\x8a\xbf\x8e\x9a.md"))
    file.write_text("# Title\n\nSome text.")
    assert store.add("a", file).error is None
    assert store.add("a", file).status == "unchanged"


@pytest.mark.parametrize("serviced", [pytest.param("data folder", marks=pytest.mark.soak), "share"], indirect=True)
def test_where_the_disk_knows_no_links_a_reindex_copies(
    store: IndexStore, serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add("a", write("a.md"))

    def refuse(*_: object) -> None:
        raise PermissionError("links are not permitted here")

    monkeypatch.setattr(os, "link", refuse)
    assert [each.status for each in store.reindex("a").wait()] == ["ready"]
    assert_sound(store, serviced.data_dir)


@pytest.mark.folder_alone
@pytest.mark.parametrize("serviced", ["data folder"], indirect=True)
def test_a_deleted_index_gives_its_disk_space_back_and_the_other_still_finds(serviced: Settings, write: Write) -> None:
    with IndexStore(serviced) as store:
        store.add("stays", write("stays.md", sections=50))
    one = used(serviced.data_dir)
    with IndexStore(serviced) as store, small_graphs():
        store.add("goes", write("goes.md", sections=3 * GRAPH))
    both = used(serviced.data_dir)
    assert both > one + 4 * 256 * 3 * GRAPH
    with IndexStore(serviced) as store:
        store.delete_index("goes")
        assert len(store.search("stays", "What stays.md says in part 7", k=50)) == 50
        assert_sound(store, serviced.data_dir)
    assert used(serviced.data_dir) < one + 0.1 * (both - one)
    with IndexStore(serviced) as store:
        store.add("stays", write("stays.md", sections=51))
        assert len(store.search("stays", "What stays.md says in part 50", k=60)) == 51
        assert_sound(store, serviced.data_dir)


@linux
@pytest.mark.folder_alone
@pytest.mark.sqlite_alone
@pytest.mark.parametrize("serviced", ["data folder"], indirect=True)
def test_an_index_is_deleted_also_where_there_is_no_room_to_compact_the_catalogue(
    serviced: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    compact = Catalogue.give_space_back

    def without_room(catalogue: Catalogue) -> None:
        with full_disk():
            compact(catalogue)

    monkeypatch.setattr(Catalogue, "give_space_back", without_room)
    with IndexStore(serviced) as store:
        store.add("stays", write("stays.md"))
        store.add("goes", write("goes.md"))
        removals: list[None] = []
        store.watch_removals(lambda: removals.append(None))
        store.delete_index("goes")
        assert [each.name for each in store.indexes()] == ["stays"]
        assert removals
        assert_sound(store, serviced.data_dir)


def used(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
