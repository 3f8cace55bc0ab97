"""The common interface of sqlite_checkpoints.py and postgres_checkpoints.py: LangGraph's saver and a few additions."""

import zlib
from abc import abstractmethod
from collections.abc import Collection, Coroutine, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from rag.graph.concurrency import uninterrupted
from rag.graph.state import STORED

NAME = "checkpoints"
"""the name of their database"""

LEVEL = 1
"""of zlib. A low level is enough: a state repeats its passages two or three times, and its JSON is repetitive"""


class CheckpointStore(Protocol):
    """Each run is a LangGraph thread with the run's id. `saver` and `close` are for the event loop, the rest for any
    thread.
    """

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        """Its errors end no run."""

    async def close(self) -> None: ...

    def arriving(self) -> AbstractContextManager[None]:
        """Held while checkpoints are copied for runs that are not saved yet. `run_ids` in another process waits for its
        end.

        Raises DatabaseError.
        """

    def copy(self, run_id: str, to_run_id: str, upto: str) -> None:
        """Copies all checkpoints up to `upto`, but not the writes of `upto` itself. Raises DatabaseError."""

    def run_ids(self) -> set[str]:
        """Raises DatabaseError."""

    def delete(self, run_ids: Collection[str]) -> bool:
        """True if the data is gone from other files too (False while someone is reading). Raises DatabaseError."""


class LenientSaver(BaseCheckpointSaver[Any]):
    """A mixin for a LangGraph saver: its errors end no run, and a stop does not interrupt it. Checkpoints have numbers,
    so a missing one is noticed when it is needed.
    """

    faults: ClassVar[type[Exception]]
    """the saver's errors"""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        place = config["configurable"]
        await self._save(place["thread_id"], super().aput(config, checkpoint, metadata, new_versions))
        return RunnableConfig(configurable=place | {"checkpoint_id": checkpoint["id"]})

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._save(config["configurable"]["thread_id"], super().aput_writes(config, writes, task_id, task_path))

    async def _save(self, run_id: str, saving: Coroutine[Any, Any, object]) -> None:
        """If the run is stopped meanwhile, this ends first. Else a transaction, cancelled between its statement and its
        commit, would stay open and lock the database for everyone.
        """

        async def save() -> None:
            try:
                await saving
            except self.faults as error:
                await self.go_on_without(run_id, error)

        await uninterrupted(save())

    @abstractmethod
    async def go_on_without(self, run_id: str, error: Exception) -> None:
        """Logs one line and makes the connection usable again."""


class CompressedSerializer(SerializerProtocol):
    """LangGraph's serializer for our types only, so that no file can make it import another type."""

    def __init__(self) -> None:
        self._plain = JsonPlusSerializer(allowed_msgpack_modules=STORED)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = self._plain.dumps_typed(obj)
        return kind, zlib.compress(data, LEVEL)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, packed = data
        return self._plain.loads_typed((kind, zlib.decompress(packed)))
