"""How much a run may ask of the chat model, and a person in a day."""

import math
from dataclasses import dataclass, field
from datetime import date

from rag.errors import RunCallLimit, RunTokenLimit, TokensUsedUp


@dataclass(eq=False)
class Allowance:
    """Tokens of one person on one day, over all their runs. Unlimited by default.

    `spend`, `before_call` and `after_call` are for the event loop, `check` and `save` for any other thread.
    """

    limit: float = math.inf
    spent: int = 0
    day: date = date.min

    def spend(self, tokens: int) -> None:
        """`tokens`: read and written."""
        self.spent += tokens

    async def before_call(self) -> None:
        """Raises TokensUsedUp."""
        self.check()

    async def after_call(self) -> None:
        """Called at the end of each call. Here the run saves its usage when it ends."""

    def check(self) -> None:
        """Raises TokensUsedUp."""
        if self.spent >= self.limit:
            raise TokensUsedUp(tokens=self.limit)

    def save(self) -> None:
        """Saves what `after_call` could not."""


@dataclass(eq=False)
class Budget:
    """Calls and tokens of a run, over all its steps. Unlimited by default.

    In the queue for calls it stands for its run.
    """

    calls: float = math.inf
    tokens: float = math.inf
    """read and written"""
    calls_spent: int = 0
    tokens_spent: int = 0
    allowance: Allowance = field(default_factory=Allowance)
    """of the person who asks"""
    party: str | None = None
    """the party of its calls in the queue, the same as of the run"""

    async def spend_call(self) -> None:
        """Called before each call. Raises RunCallLimit, RunTokenLimit, TokensUsedUp."""
        await self.allowance.before_call()
        if self.calls_spent >= self.calls:
            raise RunCallLimit(calls=self.calls)
        if self.tokens_spent >= self.tokens:
            raise RunTokenLimit(tokens=self.tokens)
        self.calls_spent += 1

    def spend_tokens(self, tokens: int) -> None:
        self.tokens_spent += tokens
        self.allowance.spend(tokens)
