"""Publishes the runs of this app to the other apps.

Tokens of all runs are collected and written together at intervals. An event is saved with the tokens before it, so that
readers get both in order.
"""

import logging
import threading
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from index_store.base.replica import Replica
from rag.errors import NotSaved
from rag.runs.history.active_runs import ActiveRuns, RunEndedElsewhere
from rag.runs.history.history import History
from rag.runs.run.run import Run
from rag.trace.events import Event, RunFinished, Token

log = logging.getLogger(__name__)


@dataclass
class _Gathered:
    """The text of a run that is not written yet."""

    run: Run
    saved_events: int
    next_number: int = 0
    """of the next token"""
    tokens: list[tuple[int, int, Token]] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    """of the last token"""
    published_turn: tuple[int, float] = field(kw_only=True)
    """as last published: runs before it, and when it began"""
    unsaved: RunFinished | None = None
    """its end, if it could not be saved yet"""

    def add(self, token: Token) -> None:
        last = self.tokens[-1][2] if self.tokens else None
        if last and (last.step, last.attempt) == (token.step, token.attempt) and not token.restart:
            self.pieces.append(token.text)
            return
        self._close()
        self.tokens.append((self.next_number, self.saved_events, token))
        self.next_number += 1
        self.pieces = [token.text]

    def take(self) -> list[tuple[int, int, Token]]:
        self._close()
        taken, self.tokens = self.tokens, []
        return taken

    def _close(self) -> None:
        if self.tokens:
            number, after, token = self.tokens[-1]
            self.tokens[-1] = (number, after, token.model_copy(update={"text": "".join(self.pieces)}))


class _Fresh(NamedTuple):
    gathered: _Gathered
    tokens: list[tuple[int, int, Token]]
    turn: tuple[int, float]


class Feed:
    """Safe in any thread."""

    def __init__(self, history: History, active_runs: ActiveRuns, replica: Replica) -> None:
        self._history = history
        self._active_runs = active_runs
        self._replica = replica
        self._runs: dict[str, _Gathered] = {}
        self._changed: set[str] = set()
        self._has_ended = False
        self._writing = threading.Lock()
        """held while an event is saved, together with the tokens before it"""
        self._gathering = threading.Lock()
        """held only while a token is added"""

    def add(self, run: Run) -> None:
        """Adds a stored run with its events."""
        with self._gathering:
            self._runs[run.id] = _Gathered(run, len(run.events), published_turn=(run.before, run.begun_at))
            self._changed.add(run.id)

    @property
    def is_busy(self) -> bool:
        """True if runs of this app are at work or wait for their turn."""
        return bool(self._runs)

    @property
    def has_ended(self) -> bool:
        """True if a run has ended since the last `flush`."""
        return self._has_ended

    def save(self, run_id: str, event: Event) -> None:
        """Raises RunEndedElsewhere, NotSaved, SQLAlchemyError."""
        gathered = self._runs.get(run_id)
        if gathered is None:
            raise RunEndedElsewhere
        if isinstance(event, Token):
            with self._gathering:
                gathered.add(event)
            return
        try:
            with self._writing:
                self._save(gathered, event)
        except RunEndedElsewhere:
            self.forget(run_id)
            raise

    def _save(self, gathered: _Gathered, event: Event) -> None:
        run_id = gathered.run.id
        with self._gathering:
            tokens = gathered.take()
        try:
            with self._history.together() as connection:
                self._history.save(run_id, event, within=connection)
                if not isinstance(event, RunFinished):
                    self._active_runs.write(connection, run_id, tokens)
        except (NotSaved, SQLAlchemyError):
            with self._gathering:
                gathered.tokens[:0] = tokens
                gathered.unsaved = event if isinstance(event, RunFinished) else None
            raise
        with self._gathering:
            gathered.saved_events += 1
            self._changed.add(run_id)
            if isinstance(event, RunFinished):
                self._runs.pop(run_id, None)
                self._has_ended = True

    def forget(self, run_id: str) -> None:
        """Publishes nothing more of this run."""
        with self._gathering:
            self._runs.pop(run_id, None)

    def flush(self) -> None:
        """Writes everything that is new. Raises NotSaved, SQLAlchemyError; the next flush then writes the rest."""
        with self._writing:
            for gathered in [each for each in list(self._runs.values()) if each.unsaved]:
                with suppress(RunEndedElsewhere):
                    if gathered.unsaved:
                        self._save(gathered, gathered.unsaved)
                self.forget(gathered.run.id)
            fresh, changed, has_ended = self._take()
            try:
                self._write(fresh, changed, has_ended=has_ended)
            except (NotSaved, SQLAlchemyError):
                with self._gathering:
                    for run_id, (gathered, tokens, _) in fresh.items():
                        gathered.tokens[:0] = tokens
                        self._changed.add(run_id)
                    self._changed |= changed
                    self._has_ended = self._has_ended or has_ended
                raise

    def _take(self) -> tuple[dict[str, _Fresh], set[str], bool]:
        """What is to be written: the runs with new text, the ids of changed runs, and whether a run has ended."""
        with self._gathering:
            fresh = {
                run_id: _Fresh(each, each.take(), (each.run.before, each.run.begun_at))
                for run_id, each in self._runs.items()
                if each.tokens or each.published_turn != (each.run.before, each.run.begun_at)
            }
            changed, has_ended = self._changed, self._has_ended
            self._changed, self._has_ended = set(), False
        return fresh, changed, has_ended

    def _write(self, fresh: Mapping[str, _Fresh], changed: Set[str], *, has_ended: bool) -> None:
        if not (fresh or changed or has_ended):
            return
        with self._history.together() as connection:
            for run_id in self._active_runs.still_mine(connection, fresh):
                gathered, tokens, turn = fresh[run_id]
                self._active_runs.write(connection, run_id, tokens)
                if turn != gathered.published_turn:
                    self._active_runs.write_turn(connection, run_id, *turn)
            for run_id in changed | fresh.keys():
                self._replica.notify(f"run {run_id}", within=connection)
            if has_ended:
                self._replica.notify("turns", within=connection)
        for gathered, _, turn in fresh.values():
            gathered.published_turn = turn
