from importlib.util import find_spec
from pathlib import Path

import pytest

from rag.models.embedded.engines import choice

CONTEXT = 1024
"""tokens that the requests of these tests can remember"""

collect_ignore_glob = [] if find_spec("gguf") else ["test_*.py", "qwen2/test_*.py"]
"""gguf is only a requirement on Linux for x86-64, where such processors are; without it, the tests can't be imported"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips all tests of this folder on other processors."""
    if not choice.multiplies_bytes():
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="the graph is for processors with AVX-VNNI or AVX512-VNNI"))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with its graph."""
    from tests.rag.models.embedded.engines.tiny import write_model

    model = write_model(tmp_path_factory.mktemp("tiny") / "tiny.gguf")
    choice.prepare(model)
    return model
