"""A new version of a document: only texts that the version before does not have are embedded."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from index_store.base.settings.settings import Settings
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.soundness import assert_sound

Add = Callable[..., list[str]]


@pytest.fixture
def store(serviced: Settings) -> Iterator[IndexStore]:
    with IndexStore(serviced) as store:
        yield store


@pytest.fixture
def add(store: IndexStore, service: EmbeddingService, tmp_path: Path) -> Add:
    """Adds a version of handbook.md with these sections. Returns the texts that were embedded for it."""

    def add(*sections: str, title: str = "Handbook") -> list[str]:
        file = tmp_path / "handbook.md"
        parts = [f"## Section {number}\n\n{text}" for number, text in enumerate(sections)]
        file.write_text("\n\n".join([f"# {title}", *parts]), encoding="utf-8")
        before = len(service.texts)
        job = store.ingest("rules", [FileSource(file)])
        job.wait()
        assert [each.status.value for each in job.results] == ["ready"]
        return service.texts[before:]

    return add


@pytest.mark.both_chromas
def test_only_texts_that_are_new_are_embedded(store: IndexStore, add: Add, serviced: Settings) -> None:
    sections = [f"The rule about {thing} stands here." for thing in ("trains", "hotels", "meals")]
    assert len(add(*sections)) == 3
    assert add(
        "The rule about trains stands here.", "Hotels are booked by the office.", "The rule about meals stands here."
    ) == ["Handbook > Section 1\nHotels are booked by the office."]
    for words in ("rule about trains", "Hotels are booked by the office", "rule about meals"):
        assert words in store.search("rules", words, k=1)[0].text
    assert_sound(store, serviced.data_dir)


def test_a_text_under_another_title_is_embedded_again(add: Add) -> None:
    add("Trains are paid.", "Hotels are paid.")
    assert len(add("Trains are paid.", "Hotels are paid.", title="Travel")) == 2


def test_what_stands_more_often_than_before_is_embedded_as_often_as_it_is_new(
    store: IndexStore, add: Add, serviced: Settings, service: EmbeddingService, tmp_path: Path
) -> None:
    file = tmp_path / "notices.md"
    for times, calls in ((2, 2), (5, 5)):
        file.write_text("# Notices\n\n" + "## Notice\n\nFor staff only.\n\n" * times)
        store.add("rules", file)
        assert len(service.texts) == calls
    assert_sound(store, serviced.data_dir)


def test_a_document_that_is_added_again_on_purpose_is_embedded_whole(
    store: IndexStore, add: Add, service: EmbeddingService
) -> None:
    added = add("Trains are paid.", "Hotels are paid.")
    store.reindex("rules").wait()
    assert service.texts[-2:] == added


@pytest.mark.parametrize("versions", [4, pytest.param(20, marks=pytest.mark.soak)])
def test_a_vector_stays_the_same_through_many_versions(store: IndexStore, add: Add, versions: int) -> None:
    add("Trains are paid.", "The first version.")
    before = store.search("rules", "Trains are paid.", k=1)[0].score
    for number in range(versions):
        add("Trains are paid.", f"Version {number}.")
    # The last of its six digits may be rounded the other way; a vector that is moved again changes the fourth.
    assert store.search("rules", "Trains are paid.", k=1)[0].score == pytest.approx(before, abs=1e-5)
