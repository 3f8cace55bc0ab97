"""The states between the steps of a run, as LangGraph's checkpoints: what a fork begins from.

They are kept in a file of their own, since nobody misses them: whatever is wrong with it, a run goes on, and can't be
forked then.
"""

import logging
import sqlite3
import zlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph.state import CompiledStateGraph
from sqlalchemy import Column, Engine, Integer, LargeBinary, MetaData, String, Table, literal, select
from sqlalchemy.exc import DatabaseError

from index_store.base.batches import batches
from index_store.base.database import VARIABLES, connect, is_damaged
from rag.graph.context import RunContext
from rag.graph.state import STORED, State
from rag.pipelines.pipeline import Pipeline

log = logging.getLogger(__name__)

FILE = "checkpoints.sqlite3"

LEVEL = 1
"""of zlib: passages stand in a state two or three times, and more in its JSON than in its words"""

Graph = CompiledStateGraph[State, RunContext, State, State]


@dataclass(frozen=True)
class Task:
    """A step that is to be done, and what it came to."""

    step: str
    attempt: int
    changes: State | None
    """None: it did not end well"""


@dataclass(frozen=True)
class Moment:
    """Between two steps of a run: several are to be done where the graph forks."""

    checkpoint_id: str
    state: State
    tasks: tuple[Task, ...]


class Checkpoints:
    """Of all runs, each as a LangGraph thread of its id. `saver` is for the event loop, the rest for any thread."""

    def __init__(self, saver: AsyncSqliteSaver, database: Engine) -> None:
        self._saver = saver
        self._database = database
        self._graphs: dict[str, Graph] = {}

    @classmethod
    async def open(cls, data_dir: Path) -> "Checkpoints | None":
        """A file that is damaged is dropped, and an empty one made. None, with a line in the log, where there can be
        none just now, as on a full disk.
        """
        file = data_dir / FILE
        try:
            database = _open(file)
            connection = aiosqlite.connect(file, timeout=30)
            connection._thread.daemon = True  # noqa: SLF001 - or a process that does not close it never ends
            await connection
        except (DatabaseError, sqlite3.Error) as error:
            log.warning("Runs can't be forked, as %s can't be opened: %s", FILE, error)
            return None
        try:
            # What is deleted is overwritten, as in the history.
            await connection.execute("PRAGMA secure_delete = ON")
            await connection.execute("PRAGMA synchronous = NORMAL")
            saver = _Saver(connection, serde=_Compressed())
            await saver.setup()
        except sqlite3.Error as error:
            log.warning("Runs can't be forked, as %s can't be written: %s", FILE, error)
            await connection.close()
            database.dispose()
            return None
        return cls(saver, database)

    async def close(self) -> None:
        await self._saver.conn.close()
        self._database.dispose()

    def graph(self, pipeline: Pipeline) -> Graph:
        """The pipeline's own, which saves a checkpoint before each of its steps."""
        if pipeline.name not in self._graphs:
            self._graphs[pipeline.name] = pipeline.compiled.copy({"checkpointer": self._saver})
        return self._graphs[pipeline.name]

    async def moments(self, pipeline: Pipeline, run_id: str) -> list[Moment]:
        """In their order; none of a run whose checkpoints are not there, or not all of them."""
        history = self.graph(pipeline).aget_state_history(thread(run_id))
        found = [each async for each in history][::-1]
        if [each.metadata and each.metadata.get("step") for each in found] != list(range(-1, len(found) - 1)):
            return []
        begun: dict[str, int] = {}
        moments = []
        for each in found:
            tasks = []
            for task in each.tasks:
                begun[task.name] = begun.get(task.name, 0) + 1
                tasks.append(Task(task.name, begun[task.name], task.result))
            moments.append(Moment(each.config["configurable"]["checkpoint_id"], cast(State, each.values), tuple(tasks)))
        return moments

    def copy(self, run_id: str, to_run_id: str, upto: str) -> None:
        """All up to that checkpoint, of which what its steps came to stays behind. Raises DatabaseError."""
        with self._database.begin() as connection:
            for table, is_kept in (
                (_checkpoints, _checkpoints.c.checkpoint_id <= upto),
                (_writes, _writes.c.checkpoint_id < upto),
            ):
                columns = [column for column in table.c if column.name != "thread_id"]
                copied = select(literal(to_run_id), *columns).where(table.c.thread_id == run_id, is_kept)
                names = ["thread_id", *(column.name for column in columns)]
                connection.execute(table.insert().from_select(names, copied))

    def run_ids(self) -> set[str]:
        with self._database.connect() as connection:
            return set(connection.execute(select(_checkpoints.c.thread_id).distinct()).scalars())

    def delete(self, run_ids: Collection[str]) -> bool:
        """Whether it is gone from the file as well: someone may be reading. Raises DatabaseError."""
        with self._database.begin() as connection:
            for some in batches(sorted(run_ids), VARIABLES):
                for table in (_checkpoints, _writes):
                    connection.execute(table.delete().where(table.c.thread_id.in_(some)))
        with self._database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            return not connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar()


def thread(run_id: str) -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": run_id})


def discard(data_dir: Path) -> None:
    """All of them. Raises OSError."""
    for end in ("", "-wal", "-shm"):
        (data_dir / f"{FILE}{end}").unlink(missing_ok=True)


def _open(file: Path) -> Engine:
    """Raises DatabaseError."""
    database = connect(file, "secure_delete = ON")
    try:
        with database.connect() as connection:
            found = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    except DatabaseError as error:
        database.dispose()
        if not is_damaged(error):
            raise
        found = str(error.orig)
    if found == "ok":
        return database
    database.dispose()
    log.warning("%s is damaged, and begins anew: %s", FILE, found)
    with suppress(OSError):
        discard(file.parent)
    return connect(file, "secure_delete = ON")


class _Saver(AsyncSqliteSaver):
    """Whose faults end no run. A checkpoint that is missing is noticed by its number, when one is looked for."""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        try:
            return await super().aput(config, checkpoint, metadata, new_versions)
        except sqlite3.Error as error:
            await self._go_on_without(config, error)
            place = config["configurable"]
            return RunnableConfig(configurable=place | {"checkpoint_id": checkpoint["id"]})

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        try:
            await super().aput_writes(config, writes, task_id, task_path)
        except sqlite3.Error as error:
            await self._go_on_without(config, error)

    async def _go_on_without(self, config: RunnableConfig, error: sqlite3.Error) -> None:
        log.warning("Run %s can't be forked: %s", config["configurable"]["thread_id"], error)
        with suppress(sqlite3.Error):
            await self.conn.rollback()


class _Compressed(SerializerProtocol):
    """LangGraph's own, of our types alone, so that no file can make it import another."""

    def __init__(self) -> None:
        self._plain = JsonPlusSerializer(allowed_msgpack_modules=STORED)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = self._plain.dumps_typed(obj)
        return kind, zlib.compress(data, LEVEL)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, packed = data
        return self._plain.loads_typed((kind, zlib.decompress(packed)))


_tables = MetaData()
"""as AsyncSqliteSaver makes them"""

_checkpoints = Table(
    "checkpoints",
    _tables,
    Column("thread_id", String, primary_key=True),
    Column("checkpoint_ns", String, primary_key=True),
    Column("checkpoint_id", String, primary_key=True),
    Column("parent_checkpoint_id", String),
    Column("type", String),
    Column("checkpoint", LargeBinary),
    Column("metadata", LargeBinary),
)

_writes = Table(
    "writes",
    _tables,
    Column("thread_id", String, primary_key=True),
    Column("checkpoint_ns", String, primary_key=True),
    Column("checkpoint_id", String, primary_key=True),
    Column("task_id", String, primary_key=True),
    Column("task_path", String),
    Column("idx", Integer, primary_key=True),
    Column("channel", String),
    Column("type", String),
    Column("value", LargeBinary),
)
