"""The common interface of sqlite_checkpoints.py and postgres_checkpoints.py: LangGraph's saver with a few additions."""

import zlib
from abc import abstractmethod
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from rag.graph.state import STORED

NAME = "checkpoints"
"""of their database"""

LEVEL = 1
"""of zlib: passages stand in a state two or three times, and more in its JSON than in its words"""


class CheckpointStore(Protocol):
    """Each run is a LangGraph thread of its id. `saver` and `close` are for the event loop, the rest for any thread."""

    @property
    def saver(self) -> BaseCheckpointSaver[Any]:
        """Whose faults end no run."""

    async def close(self) -> None: ...

    def arriving(self) -> AbstractContextManager[None]:
        """While runs are begun whose checkpoints are here before them: `run_ids` of another process waits for the end.
        Raises DatabaseError.
        """

    def copy(self, run_id: str, to_run_id: str, upto: str) -> None:
        """All up to that checkpoint, of which what its steps came to stays behind. Raises DatabaseError."""

    def run_ids(self) -> set[str]:
        """Raises DatabaseError."""

    def delete(self, run_ids: Collection[str]) -> bool:
        """Whether it is gone from what is beside the tables as well: someone may be reading. Raises DatabaseError."""


class LenientSaver(BaseCheckpointSaver[Any]):
    """To be mixed into a saver of LangGraph: its faults end no run. A checkpoint that is missing is noticed by its
    number, when one is looked for.
    """

    faults: ClassVar[type[Exception]]
    """of the saver"""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        try:
            return await super().aput(config, checkpoint, metadata, new_versions)
        except self.faults as error:
            place = config["configurable"]
            await self.go_on_without(place["thread_id"], error)
            return RunnableConfig(configurable=place | {"checkpoint_id": checkpoint["id"]})

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        try:
            await super().aput_writes(config, writes, task_id, task_path)
        except self.faults as error:
            await self.go_on_without(config["configurable"]["thread_id"], error)

    @abstractmethod
    async def go_on_without(self, run_id: str, error: Exception) -> None:
        """One line in the log; and the connection can be used again."""


class CompressedSerializer(SerializerProtocol):
    """LangGraph's own, of our types alone, so that no file can make it import another."""

    def __init__(self) -> None:
        self._plain = JsonPlusSerializer(allowed_msgpack_modules=STORED)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = self._plain.dumps_typed(obj)
        return kind, zlib.compress(data, LEVEL)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, packed = data
        return self._plain.loads_typed((kind, zlib.decompress(packed)))
