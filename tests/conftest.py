"""What every test stands on: no setting of the machine or of a developer's `.env`, and a data folder of its own."""

import os
from pathlib import Path

import pytest
import trustme

from pages.settings import Settings as ServerSettings
from rag.settings import Settings

ROOT = Path(__file__).parent.parent
OPERATOR = Settings(_env_file=ROOT / ".env")
"""of whoever runs the tests, read before it is hidden from them: it says where the embedded model is"""

FOREIGN_PREFIXES = ("OPENAI_", "TAVILY_", "LANGCHAIN_", "LANGSMITH_", "STREAMLIT_", "CHROMA_")


FOLDERS = {"browser": "tests/browser", "embedded": "tests/rag"}
"""of the tests with these markers: `make test` looks for them nowhere else"""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker, folder in FOLDERS.items():
            if item.get_closest_marker(marker) and ROOT / folder not in item.path.parents:
                raise pytest.UsageError(f"{item.nodeid} is marked {marker}, but does not stand in {folder}")


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_this_machine(tmp_path_factory):
    """For the session, so that fixtures which outlive a test are kept from them too."""
    with pytest.MonkeyPatch.context() as environment:
        names = {name.upper() for name in (*Settings.model_fields, *ServerSettings.model_fields)}
        for name in list(os.environ):
            if name.upper() in names or name.upper().startswith(FOREIGN_PREFIXES):
                environment.delenv(name)
        # A call behind each answer would take replies out of scripts, and an embedded model 4 s and 2 GB of each test.
        environment.setenv("SUGGEST_FOLLOW_UPS", "off")
        environment.setenv("PRELOAD", "false")
        environment.setenv("PYTHONPATH", str(ROOT))  # `python -m rag` from anywhere
        for name in ("NO_PROXY", "no_proxy"):
            environment.setenv(name, "127.0.0.1,localhost")
        environment.setenv("DATA_DIR", str(tmp_path_factory.mktemp("session-data")))
        # Two tests run side by side: a second thread for each would wait for a core more than it works.
        environment.setenv("OMP_NUM_THREADS", "1")
        # No test speaks TLS with the world, whose 150 authorities each new client would read for a quarter of a second.
        authority = tmp_path_factory.mktemp("authority") / "authority.pem"
        trustme.CA().cert_pem.write_to_path(str(authority))
        environment.setenv("SSL_CERT_FILE", str(authority))
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
