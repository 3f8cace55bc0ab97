"""What a loopback server answers: to requests that meet a condition, else in the given order, else always the same."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Reply = TypeVar("Reply")


@dataclass
class _Rule(Generic[Asked, Reply]):
    condition: Callable[[Asked], bool]
    reply: Reply
    left: int | None


class Script(Generic[Asked, Reply]):
    """Can be used by many requests at the same time."""

    def __init__(self, default: Reply) -> None:
        self.default = default
        self._rules: list[_Rule[Asked, Reply]] = []
        self._queue: deque[Reply] = deque()
        self._lock = threading.Lock()

    def enqueue(self, *replies: Reply) -> None:
        """Each is given once, in this order, to requests that meet no condition."""
        with self._lock:
            self._queue.extend(replies)

    def answer_when(self, condition: Callable[[Asked], bool], reply: Reply, *, times: int | None = None) -> None:
        """Gives `reply` to the next `times` requests, or all, that meet `condition`; the last such rule wins."""
        with self._lock:
            self._rules.insert(0, _Rule(condition, reply, times))

    @property
    def unused(self) -> int:
        """The number of enqueued replies that nobody has asked for."""
        with self._lock:
            return len(self._queue)

    def reply_to(self, asked: Asked) -> Reply:
        with self._lock:
            for rule in self._rules:
                if rule.left != 0 and rule.condition(asked):
                    rule.left = None if rule.left is None else rule.left - 1
                    return rule.reply
            return self._queue.popleft() if self._queue else self.default
