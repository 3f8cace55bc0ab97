"""What model calls cost: of one step, and against what a whole run may spend."""

import math
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage

from rag.errors import RunCallLimit, RunTokenLimit


@dataclass(eq=False)
class Budget:
    """Calls and tokens of a run, over all of its steps. Without limits unless some are given.

    It stands for its run where the calls of several take turns.
    """

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


@dataclass
class Usage:
    """Calls and tokens of one step."""

    budget: Budget = field(default_factory=Budget)
    """of the run"""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def begin_call(self) -> None:
        """Raises RunLimit."""
        self.budget.spend_call()
        self.calls += 1

    def count(self, message: AIMessage) -> None:
        usage = message.usage_metadata
        if usage:
            self.tokens_in += usage["input_tokens"]
            self.tokens_out += usage["output_tokens"]
            self.budget.spend_tokens(usage["input_tokens"] + usage["output_tokens"])
