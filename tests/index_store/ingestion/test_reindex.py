import io
from collections.abc import Callable
from pathlib import Path

import pytest

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.catalogue.records import DocumentStatus
from index_store.ingestion.sources import FileSource, keep_upload
from index_store.store.index_store import IndexStore
from index_store.store.user_ingestion import UserIngestion
from index_store.vectors.service import ServiceEmbeddings
from tests.helpers.back_doors import library_of
from tests.index_store.embedding_service import EmbeddingService
from tests.index_store.soundness import assert_sound, originals
from tests.servers import Refusal

Write = Callable[..., Path]

NAMES = ("apples", "bananas", "cherries")
QUESTION = "What does the file of bananas say?"


@pytest.fixture
def filled(serviced: Settings, write: Write) -> Settings:
    """Settings of a store with three documents in the index 旅費 規程, embedded by model-a."""
    with IndexStore(serviced) as store:
        job = store.ingest("旅費 規程", [FileSource(write(f"{name}.md", sections=3)) for name in NAMES])
        assert outcome(job) == ["ready"] * 3
    return serviced


@pytest.fixture
def other(filled: Settings) -> Settings:
    """The same with another embedding model."""
    return filled.model_copy(update={"embedding_model": "model-b"})


def outcome(job: UserIngestion) -> list[str]:
    job.wait()
    assert job.failure is None
    return sorted(each.error.code if each.error else each.status.value for each in job.results)


def statuses(store: IndexStore) -> list[str]:
    return sorted(each.status.value for each in store.documents())


def found(store: IndexStore) -> str:
    return store.search("旅費 規程", QUESTION, k=1)[0].source


def test_another_model_is_refused_with_the_command_that_re_indexes(other: Settings, write: Write) -> None:
    with IndexStore(other) as store:
        with pytest.raises(errors.EmbeddingModelMismatch) as refused:
            found(store)
        job = store.ingest("旅費 規程", [FileSource(write("new.md"))])
        job.wait()
        for error in (refused.value, job.failure):
            assert isinstance(error, errors.EmbeddingModelMismatch)
            for language in ("en", "ja"):
                sentence = error.sentence(language)
                assert "python -m index_store reindex --index '旅費 規程'" in sentence
                assert "model-a" in sentence
                assert "model-b" in sentence
        with pytest.raises(errors.EmbeddingModelMismatch):
            store.add("旅費 規程", write("new.md"))
        assert statuses(store) == ["ready"] * 3
    # For the first model, nothing has changed.
    with IndexStore(other.model_copy(update={"embedding_model": "model-a"})) as store:
        assert found(store).endswith("bananas.md")


def test_under_the_same_model_all_stay_searchable_meanwhile(
    filled: Settings, service: EmbeddingService, write: Write
) -> None:
    larger = filled.model_copy(update={"chunk_size": 60, "chunk_overlap": 0})
    with IndexStore(larger) as store:
        before = store.indexes()[0]
        ids = {each.id for each in store.documents()}
        job = _begun(store, service)
        assert statuses(store) == ["ready"] * 3
        service.is_held = False
        assert outcome(job) == ["ready"] * 3
        after = store.indexes()[0]
        assert (after.documents, after.embedding_model, after.dimension) == (3, before.embedding_model, 256)
        assert {each.id for each in store.documents()} == ids
        assert found(store).endswith("bananas.md")
        assert_sound(store, filled.data_dir)


def test_a_search_finds_what_it_found_all_through_a_reindex(filled: Settings, service: EmbeddingService) -> None:
    service.let_through = QUESTION
    with IndexStore(filled) as store:
        job = _begun(store, service)
        answers = [found(store)]
        service.delay = 0.02
        service.is_held = False
        while not job.is_finished:
            answers.append(found(store))
        assert {Path(each).name for each in answers} == {"bananas.md"}
        assert outcome(job) == ["ready"] * 3


@pytest.mark.soak
def test_another_chunk_size_gives_other_chunks_of_the_same_documents(filled: Settings, write: Write) -> None:
    long = "日当は1日2,500円です。宿泊するときは、別に定めます。" * 40
    with IndexStore(filled) as store:
        store.add("旅費 規程", write("long.md", words=long))
        before = store.indexes()[0].chunks
    with IndexStore(filled.model_copy(update={"chunk_size": 100, "chunk_overlap": 10})) as store:
        assert outcome(store.reindex("旅費 規程")) == ["ready"] * 4
        assert store.indexes()[0].chunks > before + 5
        assert_sound(store, filled.data_dir)
        # With these settings, the documents now count as unchanged.
        assert store.add("旅費 規程", write("long.md", words=long)).status == "unchanged"
    with IndexStore(filled) as store:
        assert store.add("旅費 規程", write("long.md", words=long)).status == "ready"


def test_under_another_model_none_is_found_until_it_is_embedded_again(
    other: Settings, service: EmbeddingService
) -> None:
    with IndexStore(other) as store:
        job = _begun(store, service)
        assert statuses(store) == ["pending"] * 3
        with pytest.raises(errors.IndexNotReady):
            found(store)
        service.is_held = False
        assert outcome(job) == ["ready"] * 3
        index = store.indexes()[0]
        assert (index.embedding_model, index.documents, index.chunks) == ("model-b", 3, 9)
        assert found(store).endswith("bananas.md")
        assert_sound(store, other.data_dir)


@pytest.mark.soak
def test_a_model_of_the_same_name_with_other_vectors_is_another_model(
    filled: Settings, service: EmbeddingService
) -> None:
    service.dimensions = 100
    with IndexStore(filled) as store:
        with pytest.raises(errors.EmbeddingModelMismatch, match=r"model-a \(256\).*model-a \(100\)"):
            found(store)
        assert outcome(store.reindex("旅費 規程")) == ["ready"] * 3
        assert store.indexes()[0].dimension == 100
        assert found(store).endswith("bananas.md")


def test_a_service_that_fails_leaves_the_index_as_it_was(other: Settings, service: EmbeddingService) -> None:
    service.fails(Refusal(500))
    with IndexStore(other) as store:
        with pytest.raises(errors.ServiceFailed):
            store.reindex("旅費 規程")
        assert store.ingestions == ()
    service.recovers()
    with IndexStore(other.model_copy(update={"embedding_model": "model-a"})) as store:
        assert found(store).endswith("bananas.md")
        assert_sound(store, other.data_dir)


def test_a_service_that_fails_in_the_midst_costs_nothing_that_a_retry_does_not_mend(
    other: Settings, service: EmbeddingService
) -> None:
    with IndexStore(other) as store:
        job = _begun(store, service)
        service.fails(Refusal(500))
        service.is_held = False
        codes = outcome(job)
        assert set(codes) <= {"ready", "service_failed"}
        service.recovers()
        store.retry("旅費 規程").wait()
        assert statuses(store) == ["ready"] * 3
        assert found(store).endswith("bananas.md")
        assert_sound(store, other.data_dir)


@pytest.mark.soak
def test_under_the_same_model_a_cancelled_reindex_leaves_all_searchable(
    filled: Settings, service: EmbeddingService
) -> None:
    with IndexStore(filled) as store:
        _cancelled(store, service)
        assert statuses(store) == ["ready"] * 3
        assert found(store).endswith("bananas.md")
        assert len(originals(filled.data_dir)) == 3
        assert_sound(store, filled.data_dir)


def test_under_another_model_what_a_cancelled_reindex_left_out_can_be_retried(
    filled: Settings, other: Settings, service: EmbeddingService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ServiceEmbeddings, "batch", 8)
    with IndexStore(filled) as store:
        store.add("旅費 規程", write("long.md", sections=10))  # more texts than one call of the service takes
    with IndexStore(other) as store:
        job = _cancelled(store, service)
        left = [each for each in store.documents() if each.status is not DocumentStatus.READY]
        assert "long.md" in {Path(each.source).name for each in left}
        assert {each.error.code if each.error else each.status for each in left} == {"cancelled"}
        assert len(left) + len(job.results) == 4
        assert_sound(store, other.data_dir)
        assert outcome(store.retry("旅費 規程")) == ["ready"] * len(left)
        assert found(store).endswith("bananas.md")


@pytest.mark.soak  # documents that are under way: above
def test_documents_whose_turn_had_not_come_when_a_reindex_was_cancelled_can_be_retried_too(
    filled: Settings, other: Settings, write: Write
) -> None:
    names = [f"more{i}.md" for i in range(5)]
    with IndexStore(filled) as store:
        store.ingest("旅費 規程", [FileSource(write(name)) for name in names]).wait()
    with IndexStore(other) as store:
        with library_of(store).held():  # the job can't begin a document
            job = store.reindex("旅費 規程")
            job.cancel()
        job.wait()
        left = [each for each in store.documents() if each.status is not DocumentStatus.READY]
        assert {each.error.code if each.error else each.status for each in left} == {"cancelled"}
        assert_sound(store, other.data_dir)
        assert outcome(store.retry("旅費 規程")) == ["ready"] * len(left)
        assert statuses(store) == ["ready"] * 8


@pytest.mark.parametrize("model", [pytest.param("model-a", marks=pytest.mark.soak), "model-b"])
@pytest.mark.usefixtures("impatient")
def test_a_reindex_in_the_midst_of_which_the_store_is_closed_goes_on_at_the_next_start(
    filled: Settings, service: EmbeddingService, model: str
) -> None:
    settings = filled.model_copy(update={"embedding_model": model, "chunk_size": 60, "chunk_overlap": 0})
    with IndexStore(settings) as store:
        _begun(store, service)
    service.is_held = False
    with IndexStore(settings) as store:
        (job,) = store.resume()
        assert outcome(job) == ["ready"] * 3
        index = store.indexes()[0]
        assert (index.embedding_model, index.documents) == (model, 3)
        assert found(store).endswith("bananas.md")
        assert store.resume() == []
        assert_sound(store, settings.data_dir)


@pytest.mark.soak  # one model: above
@pytest.mark.usefixtures("impatient")
def test_two_models_in_turn_while_the_first_is_still_embedding(other: Settings, service: EmbeddingService) -> None:
    with IndexStore(other) as store:
        _begun(store, service)
    with IndexStore(other.model_copy(update={"embedding_model": "model-c"})) as store:
        service.is_held = False
        for job in store.resume():
            job.wait()
        assert outcome(store.reindex("旅費 規程")) == ["ready"] * 3
        assert store.indexes()[0].embedding_model == "model-c"
        assert_sound(store, other.data_dir)


@pytest.mark.parametrize("model", ["model-a", "model-b"])
def test_documents_whose_originals_are_gone_are_read_from_where_they_came_or_say_so(
    filled: Settings, service: EmbeddingService, model: str, tmp_path: Path
) -> None:
    with IndexStore(filled) as store:
        upload = keep_upload(filled.data_dir, "up.md", io.BytesIO(b"# Up\n\nThis was uploaded."))
        store.ingest("旅費 規程", [upload]).wait()
    for original in originals(filled.data_dir):
        original.unlink()
    (tmp_path / "apples.md").unlink()
    with IndexStore(filled.model_copy(update={"embedding_model": model})) as store:
        job = store.reindex("旅費 規程")
        assert outcome(job) == ["document_missing", "original_missing", "ready", "ready"]
        by_name = {Path(each.source).name: each for each in store.documents()}
        lost = "ready" if model == "model-a" else "failed"
        assert {name: each.status.value for name, each in by_name.items()} == {
            "apples.md": lost, "bananas.md": "ready", "cherries.md": "ready", "up.md": lost
        }  # fmt: skip
        assert by_name["up.md"].error
        assert by_name["up.md"].error.code == "original_missing"
        assert by_name["apples.md"].error
        assert len(originals(filled.data_dir)) == 2
        assert found(store).endswith("bananas.md")


def _begun(store: IndexStore, service: EmbeddingService) -> UserIngestion:
    """A reindex whose documents wait for the service. Only its first request, which tests the service, is answered."""
    answered = len(service.requests)
    service.is_held, service.passes = True, 1
    job = store.reindex("旅費 規程")
    service.wait_for_requests(answered + 2)
    return job


def _cancelled(store: IndexStore, service: EmbeddingService) -> UserIngestion:
    job = _begun(store, service)
    job.cancel()
    service.is_held = False
    job.wait()
    return job
