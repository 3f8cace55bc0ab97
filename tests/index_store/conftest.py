from collections.abc import Iterator
from pathlib import Path

import pytest

from index_store import IndexStore, Settings


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Nothing of the developer's own environment or .env."""
    for variable in Settings.model_fields:
        monkeypatch.delenv(variable.upper(), raising=False)
    monkeypatch.chdir(tmp_path)
    return Settings(data_dir=tmp_path / "data")


@pytest.fixture
def store(settings: Settings) -> Iterator[IndexStore]:
    with IndexStore(settings) as store:
        yield store


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    file = tmp_path / "handbook.md"
    file.write_text(
        "# 出張旅費規程\n\n## 日当\n\n日当は1日2,500円です。\n\n"
        "## Trains\n\nThe green car needs the approval of a director.\n",
        encoding="utf-8",
    )
    return file
