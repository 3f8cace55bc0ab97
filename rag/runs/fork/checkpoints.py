"""The states between the steps of a run, as LangGraph's checkpoints. A fork starts from one.

They have a database of their own, because they are not essential: if it fails, runs continue and only can't be forked.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from pydantic import SecretStr
from sqlalchemy.exc import DatabaseError

from rag.graph.context import RunContext
from rag.graph.state import State
from rag.pipelines.pipeline import Pipeline
from rag.runs.fork import sqlite_checkpoints
from rag.runs.fork.checkpoint_store import CheckpointStore

Graph = CompiledStateGraph[State, RunContext, State, State]


@dataclass(frozen=True)
class Task:
    """A step that follows a checkpoint, and its outcome."""

    step: str
    attempt: int
    changes: State | None
    """None: the step did not end well"""


@dataclass(frozen=True)
class Snapshot:
    """The state between two steps of a run. If the graph branches here, several steps follow."""

    checkpoint_id: str
    state: State
    tasks: tuple[Task, ...]


class Checkpoints:
    """The checkpoints of all runs; each run is a LangGraph thread with the run's id. `graph` and `snapshots` are for
    the event loop, the rest for any thread.
    """

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store
        self._graphs: dict[str, Graph] = {}
        self._arriving: set[str] = set()
        """runs that are not saved yet but may already have checkpoints"""

    @classmethod
    async def open(cls, data_dir: Path, database_url: SecretStr | None = None) -> "Checkpoints | None":
        """None, with a line in the log, if the database can't be opened now."""
        store: CheckpointStore | None
        if database_url is None:
            store = await sqlite_checkpoints.SqliteCheckpoints.open(data_dir)
        else:
            from rag.runs.fork.postgres_checkpoints import PostgresCheckpoints

            store = await PostgresCheckpoints.open(database_url.get_secret_value())
        return cls(store) if store else None

    async def close(self) -> None:
        await self._store.close()

    def graph(self, pipeline: Pipeline) -> Graph:
        """The pipeline's graph. It saves a checkpoint before each step."""
        if pipeline.name not in self._graphs:
            self._graphs[pipeline.name] = pipeline.compiled.copy({"checkpointer": self._store.saver})
        return self._graphs[pipeline.name]

    async def snapshots(self, pipeline: Pipeline, run_id: str) -> list[Snapshot]:
        """In order. Empty if any checkpoint of the run is missing."""
        history = self.graph(pipeline).aget_state_history(thread(run_id))
        found = [each async for each in history][::-1]
        if [each.metadata and each.metadata.get("step") for each in found] != list(range(-1, len(found) - 1)):
            return []
        begun: dict[str, int] = {}
        snapshots = []
        for each in found:
            tasks = []
            for task in each.tasks:
                begun[task.name] = begun.get(task.name, 0) + 1
                tasks.append(Task(task.name, begun[task.name], task.result))
            snapshots.append(
                Snapshot(each.config["configurable"]["checkpoint_id"], cast(State, each.values), tuple(tasks))
            )
        return snapshots

    @contextmanager
    def copied(self, run_id: str, to_run_id: str, upto: str) -> Iterator[None]:
        """Copies all checkpoints up to `upto`, but not the writes of `upto` itself.

        The new run is saved inside the `with` block. If that fails, the copies are deleted. Raises DatabaseError.
        """
        self._arriving.add(to_run_id)
        try:
            with self._store.arriving():
                self._store.copy(run_id, to_run_id, upto)
                yield
        except Exception:
            with suppress(DatabaseError):  # if this fails, the next sweep deletes them
                self.delete([to_run_id])
            raise
        finally:
            self._arriving.discard(to_run_id)

    def run_ids(self) -> set[str]:
        """Runs that have checkpoints and are saved, or were. Raises DatabaseError."""
        return self._store.run_ids() - self._arriving

    def delete(self, run_ids: Collection[str]) -> bool:
        """True if the data is gone from the files too (False while someone is reading). Raises DatabaseError."""
        return self._store.delete(run_ids)


def thread(run_id: str) -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": run_id})


def discard(data_dir: Path, database_url: SecretStr | None = None) -> None:
    """Deletes all checkpoints. Raises OSError, DatabaseError."""
    if database_url is None:
        sqlite_checkpoints.discard(data_dir)
    else:
        from rag.runs.fork import postgres_checkpoints

        postgres_checkpoints.discard(database_url.get_secret_value())
