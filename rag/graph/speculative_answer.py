"""An answer that is begun while its passages are still being graded, and counts if they all stay."""

import asyncio
from collections.abc import Awaitable, Sequence

from rag.text.citations import AttributedText, CitedText
from rag.trace import Passage


class Draft:
    """From what one search found. One node writes it; the one that grades beside it says whether it stands."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = list(passages)
        self.kept: CitedText | AttributedText | None = None
        self._stands: bool | None = None
        self._kept = asyncio.Event()
        self._writing: asyncio.Timeout | None = None

    def settle(self, *, stands: bool) -> None:
        """The first word counts. One that does not stand is no longer written, from this moment on."""
        if self._stands is not None:
            return
        self._stands = stands
        if stands:
            self._kept.set()
        elif self._writing:
            self._writing.reschedule(0)

    async def write(self, writing: Awaitable[CitedText | AttributedText]) -> None:
        """Until it is whole and settled. Only what stands is `kept`."""
        try:
            async with asyncio.timeout(0 if self._stands is False else None) as self._writing:
                whole = await writing
                await self._kept.wait()
                self.kept = whole
        except TimeoutError:
            if self._stands is not False:
                raise
        finally:
            self._writing = None
