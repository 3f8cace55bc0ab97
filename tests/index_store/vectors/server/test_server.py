"""Vectors on a Chroma server: they are found, installations stay separate, and the server may fail or be killed."""

import logging
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from index_store.base import errors
from index_store.base.settings.settings import Settings
from index_store.commands import main
from index_store.ingestion.sources import FileSource
from index_store.store.index_store import IndexStore
from index_store.vectors.server import connections, server
from tests.helpers.back_doors import catalogue_of, library_of
from tests.helpers.full_disk import linux
from tests.helpers.waiting import eventually
from tests.index_store.soundness import assert_sound
from tests.servers import Fault, Refusal, Request
from tests.servers.chroma import ChromaProxy, ChromaServer
from tests.servers.loopback import Connection, LoopbackServer

Write = Callable[..., Path]

pytestmark = pytest.mark.folder_alone  # each test chooses where its vectors are

PASSWORD = "not-a-secret-77aa"


@pytest.fixture
def on_server(serviced: Settings, chroma: ChromaServer) -> Settings:
    return serviced.model_copy(update={"chroma_url": SecretStr(chroma.url)})


@pytest.fixture
def proxy(chroma: ChromaServer) -> Iterator[ChromaProxy]:
    with ChromaProxy(chroma) as proxy:
        yield proxy


@pytest.fixture
def behind(serviced: Settings, proxy: ChromaProxy) -> Settings:
    """Settings with the server behind the proxy, and with a user name and a password."""
    url = proxy.url.replace("//", f"//glass%40box:{PASSWORD}@")
    return serviced.model_copy(update={"chroma_url": SecretStr(url)})


def fill(store: IndexStore, write: Write, count: int = 2, sections: int = 3) -> None:
    job = store.ingest("a", [FileSource(write(f"a{i}.md", sections=sections)) for i in range(count)])
    assert {each.status for each in job.wait()} == {"ready"}


def finds(store: IndexStore, name: str) -> bool:
    return store.search("a", f"This is what {name} says in part 1.", mode="vector", k=1)[0].source.endswith(name)


@pytest.mark.soak
def test_a_search_in_a_large_collection_needs_no_further_requests_as_it_grows(
    behind: Settings, proxy: ChromaProxy, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.ChromaServer, "orphan_search_limit", 50)
    with IndexStore(behind) as store:
        fill(store, write, count=2, sections=60)
        for number in range(3):
            store.add("a", write(f"b{number}.md", sections=1))
            before = len(proxy.requests)
            assert store.search("a", "This is what b.md says in part 0.", mode="hybrid")
            asked = [request.path.partition("?")[0].rpartition("/")[2] for request in proxy.requests[before:]]
            if number:
                assert set(asked) <= {"query", "heartbeat"}
            else:
                assert {"query", "count", "get"} <= set(asked)


@pytest.mark.sqlite_alone
def test_what_is_put_there_is_found_after_a_start_too_and_no_other_installation_touches_it(
    on_server: Settings, write: Write, tmp_path: Path
) -> None:
    other = on_server.model_copy(update={"data_dir": tmp_path / "other"})
    with IndexStore(on_server) as store:
        fill(store, write)
        ids = [document.id for document in store.documents("a")]
        assert len(store.search("a", "part 1", k=9, document_ids=ids[:1])) == 3
        with IndexStore(other) as second:  # its start deletes unknown vectors, but only its own
            fill(second, write, count=1)
            assert second.check() == []
    assert not (on_server.data_dir / "chroma").exists()
    with IndexStore(on_server) as store:
        assert finds(store, "a0.md")
        assert finds(store, "a1.md")
        assert {each.status for each in store.reindex("a").wait()} == {"ready"}
        store.remove_documents(ids[:1])
        assert store.check() == []
        store.delete_index("a")
        assert library_of(store).vectors.collections() == set()
    with IndexStore(other) as second:
        assert finds(second, "a0.md")
        assert second.check() == []


@pytest.mark.parametrize(
    "url", ["chroma.example:80", "ftp://x", "http:///x", "http://x:port", "https://x/?token=x-123", "http://x#x-123"]
)
def test_an_address_that_is_none_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(errors.InvalidSetting, match="CHROMA_URL is not usable") as refused:
        Settings(chroma_url=SecretStr(url))
    for language in ("en", "ja"):
        assert url not in refused.value.sentence(language)
        assert "x-123" not in refused.value.sentence(language)


def test_a_proxy_for_the_outside_is_not_used_for_the_vectors(
    on_server: Settings, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexStore(on_server) as store:
        fill(store, write)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name)
    for name in ("ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with IndexStore(on_server) as store:
        assert store.check() == []


def test_an_address_that_is_blank_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHROMA_URL", "  ")
    assert Settings().chroma_url is None


def test_a_store_refuses_to_open_if_its_vectors_are_in_another_place(
    on_server: Settings, serviced: Settings, write: Write
) -> None:
    with IndexStore(on_server):
        """The store is still empty, so the setting may still be taken back."""
    with IndexStore(serviced) as store:
        fill(store, write)
    with pytest.raises(errors.VectorsInFolder, match="CHROMA_URL names a server that does not have them"):
        IndexStore(on_server)
    with IndexStore(serviced) as store:
        assert finds(store, "a0.md")
        store.delete_index("a")
    with IndexStore(on_server) as store:
        fill(store, write)
    with pytest.raises(errors.VectorsOnServer, match="Set CHROMA_URL to that server"):
        IndexStore(serviced)
    assert main(["backup", "backup.zip"]) == 1
    # The error says to do this if the vectors should be in the folder.
    (on_server.data_dir / "vectors.id").unlink()
    with IndexStore(serviced) as store:
        with pytest.raises(errors.VectorsLost, match="Re-index it"):
            store.search("a", "part 1")
        assert store.search("a", "part", mode="keyword")
        assert {each.status for each in store.reindex("a").wait()} == {"ready"}
        assert finds(store, "a0.md")
        assert_sound(store, serviced.data_dir)


def test_what_is_tried_again_is_done_once_and_a_password_is_said_to_the_server_alone(
    behind: Settings,
    proxy: ChromaProxy,
    write: Write,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(connections, "PAUSES", (0.01, 0.02, 0.03))
    with IndexStore(behind) as store:
        for faults in ((Fault.CLOSES, Refusal(503)), (Refusal(429), Fault.CLOSES_MIDWAY, Refusal(500))):
            for call in ("/upsert", "/query", "/delete", "/collections"):
                for fault in faults:
                    proxy.fails(fault, times=1, on=call)
            fill(store, write, count=1)
            assert finds(store, "a0.md")
            store.remove("a", str(write("a0.md")))
            assert store.check() == []
        proxy.recovers()
        fill(store, write)
        proxy.delay = 0.2
        assert finds(store, "a1.md")
        proxy.delay = 0.0

        # A request that is too large is sent in parts, and later requests are smaller.
        proxy.largest = 40_000
        fill(store, write, count=1, sections=60)
        store.ingest("a", [FileSource(write("b.md", sections=60))]).wait()
        assert store.check() == []
        refused = [request for request in proxy.requests if int(request.headers.get("content-length", 0)) > 40_000]
        assert 1 <= len(refused) <= 3
        proxy.largest = 100
        (result,) = store.ingest("a", [FileSource(write("c.md", sections=2))]).wait()
        assert result.error.code == "vectors_failed"
        assert "status 413" in result.error.en
        assert "(ステータス 413)" in result.error.ja
        proxy.largest = 10**9
        assert eventually(lambda: store.check() == [])

        # Each request has the password, but only in its header.
        assert {request.headers["authorization"] for request in proxy.requests} == {
            "Basic Z2xhc3NAYm94Om5vdC1hLXNlY3JldC03N2Fh"
        }
        proxy.fails(Refusal(401))
        with pytest.raises(errors.VectorsFailed, match=r"127\.0\.0\.1:\d+, which stores the vectors") as failed:
            store.search("a", "part 1")
        proxy.recovers()
    said = caplog.text + str(failed.value) + repr(failed.value.details) + repr(behind)
    assert PASSWORD not in said


def test_a_collection_that_is_deleted_while_it_is_searched_is_one_that_is_gone(
    behind: Settings, proxy: ChromaProxy, write: Write
) -> None:
    """Chroma answers 412, "Missing metadata segment", to a client that still uses its id."""
    with IndexStore(behind) as store:
        fill(store, write)
        assert finds(store, "a0.md")
        proxy.fails(Refusal(412), times=1, on="/query")
        assert finds(store, "a1.md")  # a new collection already has the name
        proxy.fails(Refusal(412), on="/query")
        with pytest.raises(errors.VectorsFailed):
            store.search("a", "part 1")
        proxy.recovers()


def test_while_it_is_away_all_says_so_at_once_and_what_was_begun_is_finished_when_it_is_back(
    behind: Settings, proxy: ChromaProxy, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("index_store.ingestion.retry.RETRY_SECONDS", 0.5)
    with IndexStore(behind) as store:
        fill(store, write, count=4)
        store.create_index("b")
        assert store.trouble is None
        proxy.fails(Fault.CLOSES)
        with pytest.raises(errors.VectorsAway, match="can't be reached") as away:
            store.search("a", "part 1", mode="vector")
        assert "接続できません" in away.value.sentence("ja")
        assert eventually(lambda: store.trouble is not None)
        asked = len(proxy.requests)
        for mode in ("vector", "hybrid"):
            for _ in range(20):
                with pytest.raises(errors.VectorsAway):
                    store.search("a", "part 1", mode=mode)
        assert len(proxy.requests) < asked + 20  # only the requests that check whether it is back
        assert store.search("a", "part", mode="keyword")
        with pytest.raises(errors.VectorsAway):
            store.check()
        with pytest.raises(errors.VectorsAway):
            store.reindex("a")
        (failed,) = store.ingest("a", [FileSource(write("new.md"))]).wait()
        assert failed.error.code == "vectors_away"
        store.remove("a", str(write("a0.md")))
        store.delete_index("b")
        assert [each.source for each in store.documents("a") if each.status == "removing"] == [str(write("a0.md"))]
        proxy.recovers()
        assert eventually(lambda: store.trouble is None)
        assert eventually(lambda: not library_of(store).catalogue.documents.removing())
        assert len(store.removed()) == 1
        assert finds(store, "a1.md")
        assert {each.status for each in store.retry("a").wait()} == {"ready"}
        assert_sound(store, behind.data_dir)
        proxy.fails(Fault.CLOSES)
    with IndexStore(behind) as store:  # started while it is away
        assert store.trouble is not None
        assert store.search("a", "part", mode="keyword")
        proxy.recovers()
        assert eventually(lambda: store.trouble is None)
        assert finds(store, "new.md")
        assert_sound(store, behind.data_dir)


class Dripping(LoopbackServer):
    """A server that never stops sending."""

    def respond(self, request: Request, connection: Connection, trouble: object) -> None:
        connection.start_events()
        while True:
            connection.send_event("and more")
            connection.wait(0.02)


def test_a_call_ends_in_its_time_whether_the_server_says_nothing_or_goes_on_for_ever(
    behind: Settings, proxy: ChromaProxy, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexStore(behind) as store:
        fill(store, write, count=1)
        monkeypatch.setattr(connections, "CALL", 0.5)
        monkeypatch.setattr(server, "BEAT", 0.3)
        proxy.fails(Fault.HANGS)
        with pytest.raises(errors.VectorsAway):
            store.search("a", "part 1", mode="vector")
        proxy.recovers()
    with (
        Dripping() as dripping,
        closing(connections.Connections(dripping.url, list)) as to_it,
        pytest.raises(errors.VectorsAway),
    ):
        to_it.get(dripping.url)


def test_something_else_at_its_address_is_told(serviced: Settings, service) -> None:
    elsewhere = serviced.model_copy(update={"chroma_url": SecretStr(service.base_url)})
    with IndexStore(elsewhere) as store:
        assert isinstance(store.trouble, errors.VectorsFailed)


@pytest.mark.soak
def test_many_questions_open_no_more_connections_than_the_first_few(on_server: Settings, write: Write) -> None:
    with IndexStore(on_server) as store, ThreadPoolExecutor(4) as people:
        fill(store, write, count=1)
        ask = lambda _: store.search("a", "part 1", mode="vector")  # noqa: E731
        list(people.map(ask, range(12)))
        port = urlsplit(on_server.chroma_url.get_secret_value()).port
        before = connections_to(port)
        list(people.map(ask, range(40)))
        assert connections_to(port) <= max(before, 6)
    assert connections_to(port) == 0


def connections_to(port: int) -> int:
    """Number of open connections of this process. Works only on Linux."""
    inodes = set()
    for fd in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # another thread has just closed it
            inodes.add(str(fd.readlink()))
    lines = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    return sum(f"socket:[{line[9]}]" in inodes and line[2].endswith(f":{port:04X}") for line in lines)


@pytest.mark.soak  # away, and closing a call half way: above
def test_a_server_that_is_killed_in_the_midst_of_an_ingest_and_comes_back_costs_nothing(
    behind: Settings, chroma: ChromaServer, proxy: ChromaProxy, write: Write
) -> None:
    """It is killed at the third write, which it may have done in part."""
    writes = iter(range(1, 1000))
    killed = threading.Event()

    def kill(request) -> None:
        if request.path.endswith("/upsert") and next(writes) == 3:
            chroma.kill()
            killed.set()

    proxy.before = kill
    with IndexStore(behind) as store:
        job = store.ingest("a", [FileSource(write(f"a{i}.md", sections=60)) for i in range(8)])
        assert killed.wait(60)
        chroma.start()
        assert {each.status for each in job.wait()} == {"ready"}
        assert {each.chunks for each in store.documents("a")} == {60}
        assert_sound(store, behind.data_dir)
        assert finds(store, "a7.md")


@pytest.mark.soak
@linux
def test_a_disk_that_is_full_beneath_it_costs_what_was_written_meanwhile_and_is_told(
    on_server: Settings, chroma: ChromaServer, write: Write
) -> None:
    with IndexStore(on_server) as store:
        fill(store, write)
        with chroma.full_disk():
            (failed,) = store.ingest("a", [FileSource(write("b.md", sections=200))]).wait()
            assert failed.error.code == "vectors_failed"
            assert "its log, its disk space" in failed.error.en
            assert store.search("a", "a0.md", mode="keyword")  # not by vector, where Chroma writes to disk
            store.remove("a", str(write("a1.md")))
        chroma.kill()  # as docs/growing.md says: otherwise the server hangs half of the time
        chroma.start()
        assert eventually(lambda: store.trouble is None)
        assert [(each.status, each.error) for each in store.retry("a").wait()] == [("ready", None)]
        assert finds(store, "b.md")
        assert eventually(lambda: store.check() == [], 60)


@pytest.mark.soak
def test_unreadable_vectors_are_found_by_check_and_repaired_by_a_reindex(
    on_server: Settings, chroma: ChromaServer, write: Write
) -> None:
    """The server was killed while it wrote, or its disk has lost everything."""
    with IndexStore(on_server) as store:
        for name in ("torn", "well"):
            store.ingest(name, [FileSource(write("a0.md", sections=1100))]).wait()
        (index,) = [each for each in catalogue_of(store).indexes.records() if each.name == "torn"]
        segment = chroma.run(
            "SELECT segments.id FROM segments JOIN collections ON collections.id = collection "
            "WHERE scope = 'VECTOR' AND name = ?",
            index.collection,
        )
        chroma.kill()
        graph = chroma.folder / "data" / segment
        os.truncate(graph / "index_metadata.pickle", (graph / "index_metadata.pickle").stat().st_size // 2)
        chroma.start()
        assert eventually(lambda: store.trouble is None)
        (found,) = store.check()
        assert (found.index, found.what.code) == ("torn", "vectors_unreadable")
        assert "Re-index" in found.what.en
        with pytest.raises(errors.VectorsFailed, match="status 500"):
            store.search("torn", "part 1")
        assert store.search("well", "part 1")
        assert {each.status for each in store.reindex("torn").wait()} == {"ready"}
        assert store.search("torn", "part 1")
        assert_sound(store, on_server.data_dir)

        # All vectors are lost, with the database: like a new server at the same address.
        library_of(store).vectors._backend._api.delete_database(library_of(store).vectors._backend._database)
        assert {each.what.code for each in store.check()} == {"vectors_missing"}
        with pytest.raises(errors.VectorsLost):
            store.search("well", "part 1")
        assert {each.status for each in store.reindex("well").wait()} == {"ready"}
        assert store.search("well", "part 1")
        store.delete_index("torn")
        assert_sound(store, on_server.data_dir)
