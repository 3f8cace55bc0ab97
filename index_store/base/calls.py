"""Calls that may hang, in a thread of their own that can be left behind."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Calls(Generic[T]):
    """One after another. All in one thread, as native code keeps memory for each that ever called it."""

    def __init__(self, name: str) -> None:
        self._asked: SimpleQueue[tuple[Callable[[], T], Future[T]] | None] = SimpleQueue()
        # No executor: Python waits for those at its end, and a service that hangs may take minutes.
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        answer: Future[T] = Future()
        self._asked.put((call, answer))
        return answer

    def close(self) -> None:
        """After what was asked; a call that hangs is not waited for."""
        self._asked.put(None)

    def _work(self) -> None:
        while asked := self._asked.get():
            call, answer = asked
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
                answer.set_exception(error)
