"""Computes several replies side by side: each in turn reads a part of its prompt, or writes a token or more."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue

import numpy as np

from rag.models.embedded.engines.qwen2.guesses import Guesses
from rag.models.embedded.engines.qwen2.network import Floats, Request
from rag.models.embedded.engines.qwen2.sampling import Chosen, chosen
from rag.models.embedded.engines.qwen2.slots import Slot, Slots

log = logging.getLogger(__name__)

PART = 256
"""tokens read in a turn, in a second: other streams, and a stop, wait that long. A turn has 0.1 s of its own."""

Piece = Chosen | None
"""a token of a reply; None: the reply is whole"""


@dataclass(eq=False)
class Job:
    """A reply that is to be written."""

    prompt: Sequence[int]
    most: int
    """tokens of the reply"""
    ends: frozenset[int]
    """tokens that end it"""
    tell: Callable[[Piece | Exception], None]
    """called in the computing thread"""
    temperature: float = 0.0
    top: int = 0
    random: np.random.Generator = field(default_factory=np.random.default_rng)
    is_abandoned: bool = False
    """set by any thread: nobody waits for it any more"""
    is_cut: bool = False
    """the reply was as long as it may be"""
    left: list[int] = field(default_factory=list)
    """tokens to read before the next one can be written"""
    written: int = 0

    def __post_init__(self) -> None:
        self.guesses = Guesses(self.prompt)


class Turns:
    """One thread computes, because the network uses all cores."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._asked: SimpleQueue[Job] = SimpleQueue()
        self._waiting: list[Job] = []
        self._active: dict[Job, Slot] = {}
        threading.Thread(target=self._work, name="turns", daemon=True).start()

    def add(self, job: Job) -> None:
        """Safe in any thread."""
        self._asked.put(job)

    def _work(self) -> None:
        while True:
            if not (self._active or self._waiting):
                self._waiting.append(self._asked.get())
            while not self._asked.empty():
                self._waiting.append(self._asked.get())
            self._begin_waiting()
            for job, slot in list(self._active.items()):
                self._turn(job, slot)

    def _begin_waiting(self) -> None:
        while self._waiting:
            job = self._waiting[0]
            if not job.is_abandoned:
                try:
                    slot = self._slots.take(job.prompt)
                except Exception as error:  # the edge of a reply: the others go on
                    log.exception("A reply could not be begun")
                    job.tell(error)
                else:
                    if slot is None:
                        return
                    job.left = list(job.prompt[len(slot.request.tokens) :])
                    self._active[job] = slot
            self._waiting.pop(0)

    def _turn(self, job: Job, slot: Slot) -> None:
        try:
            is_over = job.is_abandoned or _go_on(job, slot.request)
        except Exception as error:  # the edge of a reply: the others go on
            log.exception("A reply could not be computed")
            job.tell(error)
            is_over = True
        if is_over:
            self._slots.give_back(slot)
            del self._active[job]


def _go_on(job: Job, request: Request) -> bool:
    """Reads a part of the prompt, or writes; True if the reply is whole."""
    part, job.left = job.left[:PART], job.left[PART:]
    if job.left:
        request.read(part)
        return False
    guess = job.guesses.next()[: job.most - job.written - 1] if job.written else []
    logits = request.read([*part, *guess], wanted=len(guess) + 1)
    right, is_whole = _write(job, logits, guess)
    request.forget(len(guess) - right)
    return is_whole


def _write(job: Job, logits: Floats, guess: Sequence[int]) -> tuple[int, bool]:
    """Writes a token, and another one after each that was guessed.

    Returns how many tokens of the guess were right, and True if the reply is whole.
    """
    right = 0
    while True:
        next_one = chosen(logits[right], job.temperature, job.top, job.random)
        if next_one.token in job.ends:
            job.tell(None)
            return right, True
        job.tell(next_one)
        job.guesses.add(next_one.token)
        job.written += 1
        if job.written == job.most:
            job.is_cut = True
            job.tell(None)
            return right, True
        job.left = [next_one.token]
        if right == len(guess) or next_one.token != guess[right]:
            return right, False
        right += 1
