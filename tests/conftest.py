"""What every test stands on: no setting of the machine or of a developer's `.env`, and a data folder of its own."""

import os
from pathlib import Path

import pytest

from rag.settings import Settings

ROOT = Path(__file__).parent.parent
OPERATOR = Settings(_env_file=ROOT / ".env")
"""of whoever runs the tests, read before it is hidden from them: it says where the embedded model is"""

FOREIGN_PREFIXES = ("OPENAI_", "TAVILY_", "LANGCHAIN_", "LANGSMITH_", "STREAMLIT_", "CHROMA_")


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_this_machine(tmp_path_factory):
    """For the session, so that fixtures which outlive a test are kept from them too."""
    with pytest.MonkeyPatch.context() as environment:
        names = {name.upper() for name in Settings.model_fields}
        for name in list(os.environ):
            if name.upper() in names or name.upper().startswith(FOREIGN_PREFIXES):
                environment.delenv(name)
        environment.setenv("PYTHONPATH", str(ROOT))  # `python -m rag` from anywhere
        for name in ("NO_PROXY", "no_proxy"):
            environment.setenv(name, "127.0.0.1,localhost")
        environment.setenv("DATA_DIR", str(tmp_path_factory.mktemp("session-data")))
        environment.chdir(tmp_path_factory.mktemp("no-env-file-here"))
        yield


@pytest.fixture(autouse=True)
def data_dir(tmp_path, monkeypatch) -> Path:
    """This test's DATA_DIR, not made yet; the test runs in the folder above it."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.fixture(scope="session")
def embedded_model() -> Path:
    """The embedded chat model's file, as `make test` fetches it."""
    from rag.models.embedded.fetch import CHAT_MODEL, is_fetched, models_folder  # tests of services do without

    if OPERATOR.embedded_model:
        return OPERATOR.embedded_model.resolve(strict=True)
    folder = models_folder(ROOT / OPERATOR.data_dir)
    if not is_fetched(folder):
        pytest.skip(f"the embedded model is not in {folder}: `CHAT_MODEL=embedded python -m rag.models.embedded.fetch`")
    return folder / CHAT_MODEL.name
