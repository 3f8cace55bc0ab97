"""Checkpoints in a schema of the Postgres database in DATABASE_URL. Imported only if that is set."""

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import psycopg
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import Engine, text
from sqlalchemy.exc import DatabaseError

from index_store.base.database.advisory_locks import ARRIVING
from index_store.base.database.postgres import CONNECT_SECONDS, PostgresSchema, conninfo, driver_url, session
from rag.runs.fork.checkpoint_store import NAME, CompressedSerializer, LenientSaver

log = logging.getLogger(__name__)

CONNECTIONS = 8
WAIT = 3
"""seconds to wait for a connection: a run continues without checkpoints instead of waiting at each step"""

Pool = AsyncConnectionPool[psycopg.AsyncConnection[DictRow]]


class PostgresCheckpoints:
    """See CheckpointStore."""

    def __init__(self, saver: AsyncPostgresSaver, pool: Pool, database: Engine) -> None:
        self.saver = saver
        self._pool = pool
        self._database = database

    @classmethod
    async def open(cls, url: str) -> "PostgresCheckpoints | None":
        """None, with a line in the log, if the database can't be opened now."""
        arguments = {**session(NAME), "autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        pool: Pool = AsyncConnectionPool(
            conninfo(driver_url(url)),
            kwargs=arguments,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=WAIT,
            check=AsyncConnectionPool.check_connection,
            open=False,
        )
        database = PostgresSchema(url, NAME).connect()
        try:
            _make_schema(url)
            await pool.open(wait=True, timeout=CONNECT_SECONDS)
            saver = _Saver(pool, serde=CompressedSerializer())
            await saver.setup()
        except (DatabaseError, psycopg.Error) as error:
            log.warning("Runs can't be forked, because their checkpoints can't be saved: %s", error)
            await pool.close()
            database.dispose()
            return None
        return cls(saver, pool, database)

    async def close(self) -> None:
        await self._pool.close()
        self._database.dispose()

    @contextmanager
    def arriving(self) -> Iterator[None]:
        with self._database.begin() as connection:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock_shared(%s)", (ARRIVING,))
            yield

    def copy(self, run_id: str, to_run_id: str, upto: str) -> None:
        with self._database.begin() as connection:
            for statement in _COPIES:
                connection.execute(text(statement), {"run": run_id, "to": to_run_id, "upto": upto})

    def run_ids(self) -> set[str]:
        with self._database.begin() as connection:
            found = set(connection.execute(text("SELECT DISTINCT thread_id FROM checkpoints")).scalars())
            # Wait: copies that were under way are now saved runs, or gone.
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (ARRIVING,))
        return found

    def delete(self, run_ids: Collection[str]) -> bool:
        with self._database.begin() as connection:
            for table in _TABLES:
                statement = f"DELETE FROM {table} WHERE thread_id = ANY (%s)"  # noqa: S608 - of ours
                connection.exec_driver_sql(statement, (sorted(run_ids),))
        return True


def discard(url: str) -> None:
    """Deletes all checkpoints. Raises DatabaseError."""
    with PostgresSchema(url, NAME).for_migration().begin() as connection:
        connection.execute(text(f"DROP SCHEMA IF EXISTS {NAME} CASCADE"))


def _make_schema(url: str) -> None:
    place = PostgresSchema(url, NAME)
    with place.for_migration().begin() as connection:
        place.begin_migration(connection)


class _Saver(LenientSaver, AsyncPostgresSaver):
    faults = psycopg.Error

    async def go_on_without(self, run_id: str, error: Exception) -> None:
        # The error's text may name the server and the account.
        log.warning("Run %s can't be forked: %s", run_id, type(error).__name__)


_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
"""as AsyncPostgresSaver makes them"""

_COPIES = (
    """
    INSERT INTO checkpoint_blobs
    SELECT DISTINCT CAST(:to AS text), b.checkpoint_ns, b.channel, b.version, b.type, b.blob
    FROM checkpoints c CROSS JOIN jsonb_each_text(c.checkpoint -> 'channel_versions') v
    JOIN checkpoint_blobs b ON (b.thread_id, b.checkpoint_ns, b.channel, b.version)
        = (c.thread_id, c.checkpoint_ns, v.key, v.value)
    WHERE c.thread_id = :run AND c.checkpoint_id <= :upto
    """,
    """
    INSERT INTO checkpoints
        (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
    SELECT :to, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
    FROM checkpoints WHERE thread_id = :run AND checkpoint_id <= :upto
    """,
    """
    INSERT INTO checkpoint_writes
        (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
    SELECT :to, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path
    FROM checkpoint_writes WHERE thread_id = :run AND checkpoint_id < :upto
    """,
)
