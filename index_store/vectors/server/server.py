"""A Chroma server that several installations may share. Each has its own Chroma database there."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from chromadb.api.fastapi import FastAPI
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings, System
from chromadb.errors import ChromaError
from sqlalchemy.exc import SQLAlchemyError

from index_store.base.errors import PlainError, VectorServerError, VectorsFailed
from index_store.vectors.backend import SPACE, server_database
from index_store.vectors.server.connections import Connections

log = logging.getLogger(__name__)

BATCH = 250
"""records per call: 2 MB of the largest vectors"""

CACHE_SECONDS = 60.0
"""seconds; short, because other processes may write to the same collections"""

ORPHAN_SEARCH_LIMIT = 20_000
"""rows; to get their ids and search for all of them takes 0.3 s"""

PAGE = 1000
"""collections per call"""

CHECK_SECONDS = 5.0
"""seconds between checks whether the server can be reached"""

CHECK_AWAY_SECONDS = 1.0
"""the same, while something is wrong"""

LOOK_BEHIND = 60.0
"""seconds at most between tries to finish unfinished changes, while the server can be reached but they fail"""

BEAT = 10.0
"""seconds in which the server must answer the check"""


class _Api(FastAPI):
    """Chroma's HTTP client with our connections. `chromadb.HttpClient` would make two clients without timeouts."""

    def __init__(self, system: System, connections: Connections) -> None:
        super().__init__(system)
        self._session.close()
        self._session = connections


class ChromaServer:
    """See ChromaBackend. The server may be away when this is made; calls then fail."""

    batch = BATCH
    cache_seconds = CACHE_SECONDS
    orphan_search_limit = ORPHAN_SEARCH_LIMIT
    broken: frozenset[str] = frozenset()
    """always empty: a check finds broken collections, and no start looks for them, because others run the server"""

    def __init__(self, url: str, namespace: str) -> None:
        """`namespace`: letters and digits."""
        self._database = server_database(namespace)
        self._look = threading.Event()
        self._stopped = threading.Event()
        self._connections = Connections(url, self._look.set)
        settings = Settings(
            anonymized_telemetry=False,
            chroma_server_host=self._connections.address,
            chroma_server_http_port=0,  # the address has the port
            chroma_server_api_default_path="/api/v2",
        )
        self._api = _Api(System(settings), self._connections)
        self._watching: threading.Thread | None = None
        self._find_trouble()

    @property
    def trouble(self) -> PlainError | None:
        return self._connections.refusing

    def watch(self, on_return: Callable[[], object]) -> None:
        self._watching = threading.Thread(target=self._watch, args=(on_return,), name="watching Chroma", daemon=True)
        self._watching.start()

    def stop_watching(self) -> None:
        self._stopped.set()
        self._look.set()
        if self._watching:
            self._watching.join()

    def close(self) -> None:
        self.stop_watching()
        self._connections.close()

    def _watch(self, on_return: Callable[[], object]) -> None:
        pause, not_before = CHECK_AWAY_SECONDS, 0.0
        while True:
            self._look.wait(CHECK_AWAY_SECONDS if self.trouble else CHECK_SECONDS)
            self._look.clear()
            if self._stopped.is_set():
                return
            self._find_trouble()
            if self.trouble or not self._connections.has_failed or time.monotonic() < not_before:
                continue
            self._connections.has_failed = False
            try:
                on_return()
                pause = CHECK_AWAY_SECONDS
            except (PlainError, OSError, SQLAlchemyError) as error:
                log.warning("Unfinished changes can't be finished yet: %s", error)
                self._connections.has_failed = True
                not_before = time.monotonic() + pause
                pause = min(2 * pause, LOOK_BEHIND)

    def _find_trouble(self) -> None:
        """Checks the server. If something is wrong, all calls fail at once with the error and don't wait."""
        before = self.trouble
        try:
            request = self._connections.build_request("GET", f"{self._api.get_api_url()}/heartbeat")
            answer = self._connections.once(request, time.monotonic() + BEAT)
            if "nanosecond heartbeat" not in answer.text:
                raise VectorsFailed(host=self._connections.host, status=answer.status_code)
        except VectorServerError as error:
            self._connections.refusing = error
        else:
            self._connections.refusing = None
        after = self.trouble
        if after and type(after) is not type(before):
            log.warning("%s", after)
        elif before and not after:
            log.warning("The Chroma server %s is back", self._connections.host)

    def get(self, name: str) -> Collection:
        # embedding_function=None: otherwise Chroma would download its default one.
        model = self._api.get_collection(name, database=self._database)
        return Collection(client=self._api, model=model, embedding_function=None)

    def get_or_create(self, name: str) -> Collection:
        """Also makes the database: a server may have lost all its data."""
        try:
            self._api.create_database(self._database)
        except ChromaError:
            log.debug("%s is there", self._database)
        model = self._api.get_or_create_collection(name, configuration=SPACE, database=self._database)
        return Collection(client=self._api, model=model, embedding_function=None)

    def names(self) -> set[str]:
        names: set[str] = set()
        while some := self._api.list_collections(limit=PAGE, offset=len(names), database=self._database):
            names |= {each.name for each in some}
        return names

    def drop(self, name: str) -> None:
        self._api.delete_collection(name, database=self._database)

    def searching(self) -> AbstractContextManager[None]:
        return nullcontext()
