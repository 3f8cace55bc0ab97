from collections.abc import Callable
from pathlib import Path

import pytest

from index_store.parsing.loaders.document import RawFile


@pytest.fixture
def raw(tmp_path: Path) -> Callable[..., RawFile]:
    """A file with this content, as a loader gets it."""

    def write(content: bytes, name: str, charset: str | None = None) -> RawFile:
        path = tmp_path / name
        path.write_bytes(content)
        return RawFile(path, name, charset)

    return write
