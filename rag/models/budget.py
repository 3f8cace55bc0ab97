"""What a run may spend on its model, over all of its steps."""

import math
from dataclasses import dataclass

from rag.errors import RunCallLimit, RunTokenLimit


@dataclass
class Budget:
    """Without limits unless some are given."""

    calls: float = math.inf
    tokens: float = math.inf
    """read and written"""
    calls_spent: int = 0
    tokens_spent: int = 0

    def spend_call(self) -> None:
        """Before each call. Raises RunCallLimit, RunTokenLimit."""
        if self.calls_spent >= self.calls:
            raise RunCallLimit(calls=self.calls)
        if self.tokens_spent >= self.tokens:
            raise RunTokenLimit(tokens=self.tokens)
        self.calls_spent += 1

    def spend_tokens(self, tokens: int) -> None:
        self.tokens_spent += tokens
