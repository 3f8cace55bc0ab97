"""The requests of the network, and which one a prompt gets: beginnings that were read before are not read again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from rag.models.embedded.engines.qwen2.network import Network, Request

_turns = count()


@dataclass(eq=False)
class Slot:
    request: Request
    is_busy: bool = False
    used: int = field(default_factory=lambda: next(_turns))
    """when it was last taken"""


class Slots:
    """Not thread-safe."""

    def __init__(self, network: Network, number: int) -> None:
        self._slots = [Slot(network.request()) for _ in range(number)]

    def take(self, prompt: Sequence[int]) -> Slot | None:
        """A slot that remembers the longest known beginning of the prompt; None while all are busy.

        At least the last token is left to read: only reading gives logits.
        """
        free = [slot for slot in self._slots if not slot.is_busy]
        if not free:
            return None
        known = {slot: min(_shared(slot.request.tokens, prompt), len(prompt) - 1) for slot in self._slots}
        source = max(self._slots, key=lambda slot: known[slot])
        # It goes on in the slot that knows it best, unless that one would forget more than it knows. Then the oldest
        # slot is overwritten.
        slot = max(free, key=lambda slot: known[slot])
        if known[slot] < known[source] or len(slot.request.tokens) > 2 * known[slot]:
            slot = min(free, key=lambda slot: slot.used)
        slot.request.remember(source.request, known[source])
        slot.is_busy, slot.used = True, next(_turns)
        return slot

    def give_back(self, slot: Slot) -> None:
        slot.is_busy = False


def _shared(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of their common beginning."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return at
    return min(len(first), len(second))
