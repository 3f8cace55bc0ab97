"""Fixtures for all tests: no settings of the machine or of a developer's `.env`; a new data folder for each test."""

import gc
import os
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trustme
from pydantic import SecretStr

from pages.server.settings import ServerSettings
from rag.settings import Settings
from tests import faster
from tests.faster import shared_parsers

if TYPE_CHECKING:
    from tests.servers.chroma import ChromaServer
    from tests.servers.postgres import PostgresServer
    from tests.servers.s3 import S3Server

ROOT = Path(__file__).parent.parent
OPERATOR = Settings(_env_file=ROOT / ".env")
"""settings of the person who runs the tests, read before they are hidden: they say where the embedded model is"""

FOREIGN_PREFIXES = ("OPENAI_", "TAVILY_", "LANGCHAIN_", "LANGSMITH_", "STREAMLIT_", "CHROMA_", "AWS_")


FOLDERS = {"browser": "tests/browser", "embedded": "tests/rag"}
"""folders of the tests with these markers: `make test` looks only there, `make soak` everywhere"""


BOTH_DATABASES = ("tests/index_store", "tests/rag/runs")
"""folders whose tests also run on Postgres"""

BOTH_CHROMAS = tuple(
    f"tests/index_store/{name}" for name in ("vectors", "search", "library", "ingestion", "test_crash.py")
)
"""folders and files whose tests also run on a Chroma server"""

WITHOUT_A_DATABASE = ("tests/index_store/parsing",)
"""folders inside BOTH_DATABASES whose code uses no database"""
WITH_A_QUEUE = ("tests/index_store/ingestion",)
"""folders whose tests also run on Postgres and a Chroma server together, where documents are added through a queue"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--unpatched", action="store_true", help="without the patches of tests/faster: slower")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker, folder in () if item.get_closest_marker("soak") else FOLDERS.items():
            if item.get_closest_marker(marker) and ROOT / folder not in item.path.parents:
                raise pytest.UsageError(f"{item.nodeid} is marked {marker}, but does not stand in {folder}")


def pytest_collection_finish() -> None:
    """Keeps what is loaded by now out of Python's garbage collections, which took a tenth of the tests' time."""
    gc.collect()
    gc.freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that use `database`, directly or through a fixture, also run on Postgres: in `make soak`, and in
    `make test` if they are marked `both_databases`. Tests that read SQLite's files are marked `sqlite_alone`.

    The same holds for `chroma_url` in the folders about vectors: these tests also run on a Chroma server, in
    `make soak`, and in `make test` if they are marked `both_chromas`. Tests that read Chroma's files are marked
    `folder_alone`. In `make soak`, tests about adding documents also run on Postgres and a Chroma server together,
    unless they are marked `no_queue`.
    """
    if "database" not in metafunc.fixturenames or not _stands_in(metafunc, BOTH_DATABASES):
        return
    if _stands_in(metafunc, WITHOUT_A_DATABASE):
        return
    marks = {mark.name for mark in metafunc.definition.iter_markers()}
    backends: list[object] = ["sqlite"]
    if "sqlite_alone" not in marks:
        backends.append(pytest.param("postgres", marks=[] if "both_databases" in marks else [pytest.mark.soak]))
    if "chroma_url" in metafunc.fixturenames and _stands_in(metafunc, BOTH_CHROMAS) and "folder_alone" not in marks:
        backends.append(pytest.param("chroma", marks=[] if "both_chromas" in marks else [pytest.mark.soak]))
    if _stands_in(metafunc, WITH_A_QUEUE) and not marks & {"sqlite_alone", "folder_alone", "no_queue"}:
        backends.append(pytest.param("queue", marks=[pytest.mark.soak]))
    metafunc.parametrize("database", backends, indirect=True)


def _stands_in(metafunc: pytest.Metafunc, folders: tuple[str, ...]) -> bool:
    path = metafunc.definition.path.relative_to(ROOT).as_posix()
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


@pytest.fixture(scope="session")
def postgres() -> Iterator["PostgresServer"]:
    from tests.servers.postgres import PostgresServer, programs

    if programs() is None:
        pytest.skip("no Postgres: `make postgres` unpacks it where there is Debian's apt-get")
    with PostgresServer() as server:
        yield server


@pytest.fixture
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SecretStr | None]:
    """Sets DATABASE_URL to an empty database and returns it; None if the databases are SQLite files."""
    if getattr(request, "param", "sqlite") not in ("postgres", "queue"):
        yield None
        return
    server = request.getfixturevalue("postgres")
    url = server.new_database()
    monkeypatch.setenv("DATABASE_URL", url)
    yield SecretStr(url)
    server.drop(url)


@pytest.fixture(scope="session")
def chroma() -> Iterator["ChromaServer"]:
    from tests.servers.chroma import ChromaServer

    with ChromaServer() as server:
        yield server


@pytest.fixture(scope="session")
def s3() -> Iterator["S3Server"]:
    from botocore import loaders

    from tests.servers.s3 import S3Server

    with S3Server() as server, pytest.MonkeyPatch.context() as patch:
        # What botocore knows of all services is read from its files once, not by the store of each test.
        patch.setattr("botocore.session.create_loader", cache(loaders.create_loader))
        yield server


@pytest.fixture
def chroma_url(
    request: pytest.FixtureRequest, database: SecretStr | None, monkeypatch: pytest.MonkeyPatch
) -> SecretStr | None:
    """Sets CHROMA_URL to a server and returns it; None if vectors are files in the data folder."""
    callspec = getattr(request.node, "callspec", None)
    if callspec is None or callspec.params.get("database") not in ("chroma", "queue"):
        return None
    server = request.getfixturevalue("chroma")
    monkeypatch.setenv("CHROMA_URL", server.url)
    return SecretStr(server.url)


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_this_machine(tmp_path_factory):
    """For the whole session, so that fixtures which live longer than a test do not see them either."""
    with pytest.MonkeyPatch.context() as environment:
        names = {name.upper() for name in (*Settings.model_fields, *ServerSettings.model_fields)}
        for name in list(os.environ):
            if name.upper() in names or name.upper().startswith(FOREIGN_PREFIXES):
                environment.delenv(name)
        # Follow-ups need a call after each answer, which would use up scripted replies. Preloading an embedded model
        # would take 4 s and 2 GB in each test.
        environment.setenv("SUGGEST_FOLLOW_UPS", "off")
        environment.setenv("PRELOAD", "false")
        environment.setenv("PYTHONPATH", str(ROOT))  # for `python -m rag` in any folder
        for name in ("NO_PROXY", "no_proxy"):
            environment.setenv(name, "127.0.0.1,localhost")
        environment.setenv("DATA_DIR", str(tmp_path_factory.mktemp("session-data")))
        # Two tests run at the same time: a second thread for each would mostly wait for a core.
        environment.setenv("OMP_NUM_THREADS", "1")
        # No test uses TLS with other hosts. Without this, each new client would read the certificates of 150
        # authorities, which takes a quarter of a second.
        authority = tmp_path_factory.mktemp("authority") / "authority.pem"
        trustme.CA().cert_pem.write_to_path(str(authority))
        environment.setenv("SSL_CERT_FILE", str(authority))
        environment.chdir(tmp_path_factory.mktemp("no-env-file-here"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _faster(
    _no_settings_of_this_machine: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    with nullcontext() if request.config.getoption("unpatched") else faster.all_tests(tmp_path_factory.mktemp):
        yield


@pytest.fixture
def own_parsers() -> Iterator[None]:
    with shared_parsers.of_its_own():
        yield


@pytest.fixture(autouse=True)
def data_dir(tmp_path, monkeypatch) -> Path:
    """The DATA_DIR of this test, which does not exist yet. The test runs in the folder above it."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.fixture(scope="session")
def embedded_model() -> Iterator[Path]:
    """The file of the embedded chat model, which `make test` fetches. It may use all processors: tests wait for it."""
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("OMP_NUM_THREADS")
        yield _model_file()


def _model_file() -> Path:
    from rag.models.embedded.fetch import CHAT_MODEL, is_fetched, models_folder  # only these tests need it

    if OPERATOR.embedded_model:
        return OPERATOR.embedded_model.resolve(strict=True)
    folder = models_folder(ROOT / OPERATOR.data_dir)
    if not is_fetched(folder):
        pytest.skip(f"the embedded model is not in {folder}: `CHAT_MODEL=embedded python -m rag.models.embedded.fetch`")
    return folder / CHAT_MODEL.name
