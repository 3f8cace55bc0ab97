"""`check` finds differences between the parts of a store. The tests make each kind of difference by hand."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import chromadb
import pytest
from sqlalchemy import text

from index_store.base.settings.settings import Settings
from index_store.commands import main
from index_store.ingestion.sources import FileSource
from index_store.library.check import Difference
from index_store.store.index_store import IndexStore
from index_store.vectors.backend import ChromaBackend
from index_store.vectors.chroma import chroma_backend
from tests.helpers.back_doors import library_of
from tests.helpers.by_hand import by_hand
from tests.index_store.soundness import assert_sound, originals

Write = Callable[..., Path]


@pytest.fixture
def filled(serviced: Settings, write: Write) -> Settings:
    """Settings of a store with two indexes; each has two documents of three chunks."""
    with IndexStore(serviced) as store:
        for index in ("a", "b"):
            store.ingest(index, [FileSource(write(f"{index}{i}.md", sections=3)) for i in range(2)]).wait()
    return serviced


@pytest.fixture
def vectors(filled: Settings) -> Iterator[ChromaBackend]:
    noted = filled.data_dir / "vectors.id"
    namespace = noted.read_text() if filled.chroma_url else ""
    with closing(chroma_backend(filled.data_dir / "chroma", filled.chroma_url, namespace)) as backend:
        yield backend


def collection_of(settings: Settings, vectors: ChromaBackend, index: str) -> chromadb.Collection:
    ((name,),) = catalogue(settings, "SELECT collection FROM indexes WHERE name = :name", name=index)
    return vectors.get(name)


def catalogue(settings: Settings, statement: str, **values: object) -> list[tuple]:
    with by_hand(settings) as connection:
        found = connection.execute(text(statement), values)
        return found.all() if found.returns_rows else []


def differences(settings: Settings) -> list[Difference]:
    with IndexStore(settings) as store:
        return store.check()


def told(found: list[Difference]) -> list[tuple[str | None, str | None, str]]:
    return [(each.index, each.document and Path(each.document).name, each.what.code) for each in found]


def test_a_sound_store_has_no_difference(filled: Settings, write: Write) -> None:
    with IndexStore(filled) as store:
        assert store.check() == []
        store.add("a", write("a0.md", sections=2, words="changed"))
        store.remove("a", str(write("a1.md")))
        store.create_index("empty")
        store.delete_index("b")
        assert store.check() == []
    assert differences(filled) == []


@pytest.mark.both_chromas
def test_vectors_that_are_missing_are_told_by_document_and_mended_by_a_reindex(
    filled: Settings, vectors: ChromaBackend
) -> None:
    ids = [id_ for id_ in collection_of(filled, vectors, "a").get()["ids"] if id_.endswith(("000001", "000002"))]
    collection_of(filled, vectors, "a").delete(ids=ids[:3])
    vectors.close()
    found = differences(filled)
    assert sorted(told(found)) == [("a", "a0.md", "vectors_missing"), ("a", "a1.md", "vectors_missing")]
    assert sorted(re.findall(r": (\d+)\.", each.what.en) for each in found) == [["1"], ["2"]]
    _mended(filled, "a")


def test_vectors_of_no_document_are_told_by_index_and_mended_by_a_reindex(
    filled: Settings, vectors: ChromaBackend
) -> None:
    collection_of(filled, vectors, "b").add(ids=["stray-1", "stray-2"], embeddings=[[1.0] * 256] * 2)
    vectors.close()
    (found,) = differences(filled)
    assert told([found]) == [("b", None, "vectors_stray")]
    assert "no document: 2." in found.what.en
    with IndexStore(filled) as store:
        assert len(store.search("b", "b0.md", k=20)) == 6
    _mended(filled, "b")


@pytest.mark.soak
def test_a_collection_that_is_gone_is_mended_by_a_reindex(filled: Settings, vectors: ChromaBackend) -> None:
    vectors.drop(collection_of(filled, vectors, "a").name)
    vectors.close()
    assert sorted(told(differences(filled))) == [("a", "a0.md", "vectors_missing"), ("a", "a1.md", "vectors_missing")]
    _mended(filled, "a")


def test_chunks_that_are_miscounted_are_told_by_document_and_mended_by_a_reindex(filled: Settings) -> None:
    catalogue(filled, "UPDATE documents SET chunks = 5 WHERE source LIKE '%a1.md'")
    (found,) = differences(filled)
    assert told([found]) == [("a", "a1.md", "chunks_miscounted")]
    assert "recorded for the document: 5; chunks that were found: 3." in found.what.en
    _mended(filled, "a")


@pytest.mark.soak
def test_a_collection_of_no_index_is_told_by_name_and_goes_at_the_next_start(
    filled: Settings,
) -> None:
    with IndexStore(filled) as store:
        library_of(store).vectors._backend.get_or_create("stray")
        (found,) = store.check()
        assert told([found]) == [(None, None, "collection_stray")]
        assert "stray" in found.what.en
    assert differences(filled) == []


def test_an_original_that_is_gone_is_told_by_document_and_comes_back_when_it_is_added_again(
    filled: Settings, tmp_path: Path
) -> None:
    ((id_,),) = catalogue(filled, "SELECT id FROM documents WHERE source LIKE '%a0.md'")
    (original,) = [path for path in originals(filled.data_dir) if path.name.startswith(id_)]
    original.unlink()
    assert told(differences(filled)) == [("a", "a0.md", "original_gone")]
    with IndexStore(filled) as store:
        assert store.search("a", "a0.md")
        store.add("a", tmp_path / "a0.md")
        assert store.original(id_).size
        assert_sound(store, filled.data_dir)


@pytest.mark.soak
def test_originals_of_no_document_are_told_and_go_at_the_next_start(filled: Settings) -> None:
    with IndexStore(filled) as store:
        folder = filled.data_dir / "originals" / "ab"
        folder.mkdir(exist_ok=True)
        for name in (f"{'ab' * 16}-7", f"{'ab' * 16}-8", "a file of someone else.txt", ".DS_Store"):
            (folder / name).write_text("stray")
        (found,) = store.check()
        assert told([found]) == [(None, None, "originals_stray")]
        assert "no document: 2." in found.what.en
    assert differences(filled) == []
    left = {path.name for path in originals(filled.data_dir)}
    assert len(left) == 6
    assert {"a file of someone else.txt", ".DS_Store"} < left


@pytest.mark.parametrize(
    ("language", "sentence"),
    [pytest.param("en", "is missing. Search still works", marks=pytest.mark.soak), ("ja", "元のファイルがありません")],
)
def test_the_command_says_it_in_the_readers_language_and_fails(
    filled: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], language: str, sentence: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", str(filled.openai_base_url))
    assert main(["check", "--language", language]) == 0
    assert capsys.readouterr().out == ""
    originals(filled.data_dir)[0].unlink()
    assert main(["check", "--language", language]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert sentence in line


def _mended(settings: Settings, index: str) -> None:
    with IndexStore(settings) as store:
        assert {each.status for each in store.reindex(index).wait()} == {"ready"}
        assert_sound(store, settings.data_dir)
        assert store.search(index, f"{index}0.md", k=20)
