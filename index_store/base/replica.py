"""A replica: one of the apps that share a database. It has a number and receives messages from the others.

A Postgres session holds an advisory lock for each replica and releases it when the process dies. So a replica is gone
when its connection ends, and no clock is needed to know which ones are alive. Only imported if DATABASE_URL and
CHROMA_URL are set: otherwise there can be only one.
"""

import logging
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from index_store.base import errors
from index_store.base.database.advisory_locks import HELD, OWNING, REPLICA
from index_store.base.database.postgres import OWN_SECONDS, ConnectionLost, conninfo, session

log = logging.getLogger(__name__)

CHANNEL = "replicas"

_NUMBERS = 2**31

LISTEN = 0.25
"""seconds after which the listening thread checks whether it must end"""

RECONNECT_SECONDS = 1.0
"""seconds between two tries to connect again"""

_ALIVE = text(
    """
    SELECT CAST(objid AS bigint) FROM pg_locks
    WHERE locktype = 'advisory' AND classid = :replica AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """
)


class Replica:
    """This process as a replica, while it is open. Thread-safe."""

    def __init__(self, database: Engine) -> None:
        """Raises DatabaseAway; DatabaseInUse if an app that shares with no other has the database."""
        self._database = database
        self._subscribers: list[Callable[[str], object]] = []
        self.number = 0
        self._connection: psycopg.Connection[Any] | None = self._connect()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="replicas", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._is_closed.set()
        self._thread.join()

    def alive(self) -> set[int]:
        """Numbers of the replicas that are alive, including this one. Raises SQLAlchemyError."""
        with self._database.connect() as connection:
            return {*connection.execute(_ALIVE, {"replica": REPLICA}).scalars(), self.number}

    def notify(self, word: str, *, within: Connection | None = None) -> None:
        """Sends a message to all replicas, including this one: when `within` is committed, or at once. Raises
        SQLAlchemyError.
        """
        if within is None:
            with self._database.begin() as connection:
                self.notify(word, within=connection)
            return
        within.exec_driver_sql("SELECT pg_notify(%s, %s)", (CHANNEL, word))

    def hold(self, connection: Connection, what: str, *, exclusive: bool) -> None:
        """Locks `what` until the transaction ends: with `exclusive` against all others, otherwise against those with
        `exclusive`. Raises SQLAlchemyError.
        """
        kind = "" if exclusive else "_shared"
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock{kind}(%s, hashtext(%s))", (HELD, what))

    def subscribe(self, callback: Callable[[str], object]) -> None:
        """`callback` is called with each message, in a thread that it must not block. It is called with an empty one
        if messages may have been missed.
        """
        self._subscribers.append(callback)

    def unsubscribe(self, callback: Callable[[str], object]) -> None:
        self._subscribers.remove(callback)

    def _listen(self) -> None:
        while not self._is_closed.is_set():
            try:
                if self._connection is None:
                    self._connection = self._connect()
                    log.info("This app is replica %s again", self.number)
                    self._say("")
                for notice in self._connection.notifies(timeout=LISTEN):
                    self._say(notice.payload)
            except (psycopg.Error, errors.IndexStoreError) as error:
                log.warning("Messages of other replicas can't be received: %s", error)
                self._disconnect()
                self._is_closed.wait(RECONNECT_SECONDS)
        self._disconnect()

    def _say(self, word: str) -> None:
        for callback in tuple(self._subscribers):
            try:
                callback(word)
            except (SQLAlchemyError, errors.PlainError) as error:  # the edge of the thread
                log.warning("A message of another replica is lost: %s", error)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            with suppress(psycopg.Error):
                connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        """Connects and takes the locks. Raises DatabaseInUse, DatabaseAway."""
        # The server may need a moment to notice that a killed process is gone.
        arguments = session("catalogue", wait=OWN_SECONDS)
        connection: psycopg.Connection[Any] | None = None
        try:
            connection = psycopg.connect(conninfo(self._database.url), autocommit=True, **arguments)
            connection.execute("SELECT pg_advisory_lock_shared(%s)", (OWNING,))
            self._take_number(connection)
            connection.execute(f"LISTEN {CHANNEL}")
        except psycopg.Error as error:
            if connection is not None:
                connection.close()
            if isinstance(error, psycopg.errors.LockNotAvailable):
                raise errors.DatabaseInUse() from error
            raise ConnectionLost(error) from error
        return connection

    def _take_number(self, connection: psycopg.Connection[Any]) -> None:
        """Takes the number that it had, which others know, or a free one. Raises psycopg.Error."""
        if self.number:
            connection.execute("SELECT pg_advisory_lock(%s, %s)", (REPLICA, self.number))
            return
        while not self.number:
            number = 1 + secrets.randbelow(_NUMBERS - 1)
            found = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (REPLICA, number)).fetchone()
            self.number = number if found and found[0] else 0
