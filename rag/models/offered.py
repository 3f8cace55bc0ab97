"""The chat models that people can choose from."""

from collections.abc import Mapping
from contextlib import AsyncExitStack

from rag.errors import ModelNotOffered
from rag.models.chat_model import ModelSource


class OfferedModels:
    def __init__(self, usual: ModelSource, others: Mapping[str, ModelSource]) -> None:
        """`others`: by name."""
        self.usual = usual
        self._others = others

    @property
    def names(self) -> tuple[str, ...]:
        """The usual one first."""
        return (self.usual.name, *self._others)

    def source(self, name: str | None) -> ModelSource:
        """None: the usual one. Raises ModelNotOffered."""
        if name is None or name == self.usual.name:
            return self.usual
        if name not in self._others:
            raise ModelNotOffered(name=name, known=", ".join(self.names))
        return self._others[name]

    def still_offered(self, name: str) -> str | None:
        """The model of an earlier run; None (the usual one) if it is no longer offered."""
        return name if name in self._others else None

    async def close(self) -> None:
        async with AsyncExitStack() as opened:
            for source in (self.usual, *self._others.values()):
                opened.push_async_callback(source.close)
