"""A Chroma server that several installations may share. Each has its own database there, in Chroma's sense."""

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
from index_store.vectors.backend import SPACE
from index_store.vectors.server.connections import Connections

log = logging.getLogger(__name__)

BATCH = 250
"""records a call: 2 MB of the largest vectors"""

HOLDS = 60.0
"""seconds; other processes may write to the same collections"""

COMBED = 20_000
"""rows, whose ids take 0.3 s to be fetched and to be searched for"""

PAGE = 1000
"""collections a call"""

LOOK = 5.0
"""seconds between looks at whether the server is there"""

LOOK_AWAY = 1.0
"""the same while something is wrong"""

LOOK_BEHIND = 60.0
"""at most, while what is half done can't be finished though the server is there"""

BEAT = 10.0
"""seconds in which it has to answer that it is there"""


class _Api(FastAPI):
    """Chroma's HTTP client, with our connections. `chromadb.HttpClient` would have two clients, and no timeout."""

    def __init__(self, system: System, connections: Connections) -> None:
        super().__init__(system)
        self._session.close()
        self._session = connections


class ChromaServer:
    """See ChromaBackend. It may be away when this is made: what is asked meanwhile fails."""

    batch = BATCH
    holds = HOLDS
    combed = COMBED
    broken: frozenset[str] = frozenset()
    """is told by a check, and not looked for at each start: the server is not ours"""

    def __init__(self, url: str, namespace: str) -> None:
        """`namespace`: of letters and digits."""
        self._database = f"glassbox-{namespace}"
        self._look = threading.Event()
        self._stopped = threading.Event()
        self._connections = Connections(url, self._look.set)
        settings = Settings(
            anonymized_telemetry=False,
            chroma_server_host=self._connections.address,
            chroma_server_http_port=0,  # the address has one
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
        pause, not_before = LOOK_AWAY, 0.0
        while True:
            self._look.wait(LOOK_AWAY if self.trouble else LOOK)
            self._look.clear()
            if self._stopped.is_set():
                return
            self._find_trouble()
            if self.trouble or not self._connections.has_failed or time.monotonic() < not_before:
                continue
            self._connections.has_failed = False
            try:
                on_return()
                pause = LOOK_AWAY
            except (PlainError, OSError, SQLAlchemyError) as error:
                log.warning("Unfinished changes can't be finished yet: %s", error)
                self._connections.has_failed = True
                not_before = time.monotonic() + pause
                pause = min(2 * pause, LOOK_BEHIND)

    def _find_trouble(self) -> None:
        """Where there is some, all calls fail with it at once, rather than that each waits for its end."""
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

    def found(self, name: str) -> Collection:
        # embedding_function=None: Chroma's default one would be downloaded.
        model = self._api.get_collection(name, database=self._database)
        return Collection(client=self._api, model=model, embedding_function=None)

    def made(self, name: str) -> Collection:
        """With its database: a server may have lost all that it had."""
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
