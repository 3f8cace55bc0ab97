"""A speculative answer: started while its passages are still graded, used if all of them stay."""

import asyncio
from collections.abc import Awaitable, Sequence

from rag.models.chat_model import Answer
from rag.trace.passages import Passage


class SpeculativeAnswer:
    """An answer from one search. One node writes it; the node that grades meanwhile decides if it is kept."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = list(passages)
        self.kept: Answer | None = None
        """until it is taken"""
        self._is_kept: bool | None = None
        self._decided_to_keep = asyncio.Event()
        self._writing: asyncio.Timeout | None = None

    def decide(self, *, keep: bool) -> None:
        """Only the first decision counts. A no stops the writing at once."""
        if self._is_kept is not None:
            return
        self._is_kept = keep
        if keep:
            self._decided_to_keep.set()
        elif self._writing:
            self._writing.reschedule(0)

    def take(self, passages: Sequence[Passage]) -> Answer | None:
        """The kept answer, if it is from exactly these passages; only once, because its check may reject it."""
        if self.passages != passages:
            return None
        taken, self.kept = self.kept, None
        return taken

    async def write(self, writing: Awaitable[Answer]) -> None:
        """Writes until the answer is complete and the decision is made. Sets `kept` only if the answer is kept."""
        try:
            async with asyncio.timeout(0 if self._is_kept is False else None) as self._writing:
                whole = await writing
                await self._decided_to_keep.wait()
                self.kept = whole
        except TimeoutError:
            if self._is_kept is not False:
                raise
        finally:
            self._writing = None
