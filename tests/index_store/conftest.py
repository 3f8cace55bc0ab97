from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from index_store.base.settings.settings import Settings
from index_store.ingestion.stages import embedding
from index_store.store.index_store import IndexStore
from index_store.vectors.embedded.model import EmbeddedEmbeddings
from tests.helpers.embedded_once import EmbeddedOnce
from tests.index_store.embedding_service import EmbeddingService


@pytest.fixture
def settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: SecretStr | None, chroma_url: SecretStr | None
) -> Settings:
    """Settings without anything from the developer's environment or .env."""
    for variable in Settings.model_fields.keys() - {"database_url", "chroma_url"}:
        monkeypatch.delenv(variable.upper(), raising=False)
    monkeypatch.chdir(tmp_path)
    settings = Settings(data_dir=tmp_path / "data")
    assert (settings.database_url, settings.chroma_url) == (database, chroma_url)
    return settings


@pytest.fixture(scope="session")
def embeddings() -> EmbeddedEmbeddings:
    return EmbeddedOnce()


@pytest.fixture
def store(settings: Settings, embeddings: EmbeddedEmbeddings) -> Iterator[IndexStore]:
    with IndexStore(settings, embeddings) as store:
        yield store


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    with EmbeddingService() as service:
        yield service


@pytest.fixture
def serviced(settings: Settings, service: EmbeddingService) -> Settings:
    """Settings of a store that uses the embedding service, a hundred times as fast as the embedded model."""
    return settings.model_copy(
        update={"openai_base_url": service.base_url, "embedding_model": "model-a", "model_retries": 0}
    )


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that must stop hardly waits for the model: for tests in which the model says nothing until then anyway."""
    monkeypatch.setattr(embedding, "PATIENCE", 0.1)


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    file = tmp_path / "handbook.md"
    file.write_text(
        "# 出張旅費規程\n\n## 日当\n\n日当は1日2,500円です。\n\n"
        "## Trains\n\nThe green car needs the approval of a director.\n",
        encoding="utf-8",
    )
    return file


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """`write("a.md", sections=3, words="only here")`: a document with that many chunks."""

    def make(name: str, sections: int = 1, words: str = "") -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"## Part {i} of {name}\n\nThis is what {name} says in part {i}. {words}" for i in range(sections)]
        file.write_text("\n\n".join([f"# {name}", *parts]), encoding="utf-8")
        return file

    return make
