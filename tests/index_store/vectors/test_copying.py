"""Vectors are copied from a folder to a server and back without a change, even if the copy is interrupted."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from pydantic import SecretStr

from index_store.vectors.backend import ChromaBackend
from index_store.vectors.chroma import VectorStore, chroma_backend
from index_store.vectors.copying import copy_vectors
from tests.servers import Request
from tests.servers.chroma import ChromaProxy, ChromaServer

pytestmark = pytest.mark.folder_alone  # each test chooses where its vectors are

NAME = "index-a"
COUNT = 1100
"""vectors; four requests are not enough for them"""


class Stopped(Exception):
    """Raised to interrupt a copy."""


@pytest.fixture
def proxy(chroma: ChromaServer) -> Iterator[ChromaProxy]:
    with ChromaProxy(chroma) as proxy:
        yield proxy


@pytest.fixture
def server(proxy: ChromaProxy) -> Iterator[ChromaBackend]:
    with closing(chroma_backend(Path(), SecretStr(proxy.url), uuid4().hex)) as backend:
        yield backend


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[ChromaBackend]:
    with closing(chroma_backend(tmp_path / "chroma", None, "")) as backend:
        vectors = np.random.default_rng(1).standard_normal((COUNT, 16), np.float32)
        ids = [f"document-{number}" for number in range(COUNT)]
        VectorStore(backend).put(NAME, ids, ["document"] * COUNT, vectors)
        yield backend


def are_alike(one: ChromaBackend, other: ChromaBackend) -> bool:
    """Whether both have the same vectors, except for rounding: Chroma changes them a little when it reads its graph."""
    contents = []
    for backend in (one, other):
        found = backend.get(NAME).get(include=["embeddings", "metadatas"])
        order = np.argsort(found["ids"])
        vectors = np.asarray(found["embeddings"], np.float32)[order]
        contents.append(([(found["ids"][i], found["metadatas"][i]) for i in order], vectors))
    (these, vectors), (those, others) = contents
    return these == those and np.allclose(vectors, others, rtol=1e-5, atol=1e-6)


def test_after_a_stop_none_is_sent_twice_and_all_are_as_they_were(
    folder: ChromaBackend, server: ChromaBackend, proxy: ChromaProxy, tmp_path: Path
) -> None:
    sent: list[int] = []

    def count(request: Request) -> None:
        if request.path.endswith("/upsert"):
            sent.append(len(request.body["ids"]))

    def stop(_name: str, done: int, _of: int) -> None:
        if done >= 500:
            raise Stopped

    proxy.before = count
    with pytest.raises(Stopped):
        copy_vectors(folder, server, stop)
    copy_vectors(folder, server, lambda *_: None)
    assert are_alike(server, folder)
    assert (max(sent), sum(sent)) == (250, COUNT)
    with closing(chroma_backend(tmp_path / "back", None, "")) as back:
        copy_vectors(server, back, lambda *_: None)
        assert are_alike(back, folder)


@pytest.mark.soak
def test_what_the_origin_does_not_have_any_more_goes(folder: ChromaBackend, server: ChromaBackend) -> None:
    copy_vectors(folder, server, lambda *_: None)
    server.get_or_create("index-gone")
    folder.get(NAME).delete(ids=["document-3", "document-700"])
    copy_vectors(folder, server, lambda *_: None)
    assert server.names() == {NAME}
    assert are_alike(server, folder)


@pytest.mark.soak  # the same code adds documents: server/test_server.py
def test_requests_that_something_before_the_server_finds_too_large_are_halved(
    folder: ChromaBackend, server: ChromaBackend, proxy: ChromaProxy
) -> None:
    proxy.largest = 10_000
    copy_vectors(folder, server, lambda *_: None)
    assert are_alike(server, folder)
