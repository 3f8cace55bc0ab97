"""The runs in flight of several apps that share a database: which app works on each, whether it waits for its turn, and
the text since its last event.

A row is added with its run and deleted at its end. An app that closes a run of a dead app deletes the row. If that app
was still alive, it can no longer save anything for the run.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Engine, func, select

from index_store.base.database.database import backend_of
from rag.runs.history import schema
from rag.trace.events import Event, RunFinished, RunStarted, Token, from_json, to_json

if TYPE_CHECKING:
    from index_store.base.replica import Replica

_live, _tokens = schema.live, schema.tokens


class RunEndedElsewhere(Exception):
    """Another app has ended this run."""


@dataclass(frozen=True)
class ReadPosition:
    """How far a reader has read."""

    events: int = 0
    tokens: int = 0


class RunUpdate(NamedTuple):
    """The events of a run after a position."""

    events: list[Event]
    place: ReadPosition
    """the position of the next event"""
    before: int
    begun_at: float
    is_live: bool
    """False: it is over"""


class QueuedRun(NamedTuple):
    """A run that waits for its turn, or has it."""

    run_id: str
    app: int
    party: str
    at_once: int | None
    """how many runs its party may have at once"""
    turn: int | None
    """its number; None: the run waits"""


class ActiveRuns:
    """Safe in any thread. Each method raises SQLAlchemyError, and is one transaction unless it takes a connection."""

    def __init__(self, database: Engine, replica: "Replica") -> None:
        self._database = database
        self._replica = replica

    @property
    def app(self) -> int:
        return self._replica.number

    # The runs of this app

    def note(self, connection: Connection, run_id: str, event: Event, gone: Set[int] | None = None) -> None:
        """Called in the transaction that saves the event. `gone`: dead apps for which this app acts. Raises
        RunEndedElsewhere if the run belongs to none of them, or is over.
        """
        if isinstance(event, RunStarted):
            values = {"run_id": run_id, "app": self.app, "is_stopped": False, "before": 0, "begun_at": event.at}
            connection.execute(_live.insert().values(**values))
            return
        its = (_live.c.run_id == run_id, _live.c.app.in_([self.app] if gone is None else gone))
        if isinstance(event, RunFinished):
            is_its = connection.execute(_live.delete().where(*its)).rowcount == 1
            if not is_its and gone is not None:
                is_its = self._is_nobodys(connection, run_id)
        else:
            held = select(_live.c.run_id).where(*its).with_for_update(read=True, key_share=True)
            is_its = connection.execute(held).first() is not None
        if not is_its:
            raise RunEndedElsewhere

    def _is_nobodys(self, connection: Connection, run_id: str) -> bool:
        """True for an open run of an older version, which has no app number."""
        row = select(schema.runs.c.status).where(schema.runs.c.id == run_id).with_for_update()
        is_open = connection.execute(row).scalar() == "running"
        return is_open and not connection.execute(select(_live.c.run_id).where(_live.c.run_id == run_id)).first()

    def write(self, connection: Connection, run_id: str, tokens: Sequence[tuple[int, int, Token]]) -> None:
        """`tokens`: each with its number and the number of events before it."""
        if tokens:
            rows = [
                {"run_id": run_id, "number": number, "after": after, "event": to_json(token)}
                for number, after, token in tokens
            ]
            connection.execute(_tokens.insert(), rows)

    def write_turn(self, connection: Connection, run_id: str, before: int, begun_at: float) -> None:
        values = {"before": before, "begun_at": begun_at}
        connection.execute(_live.update().where(_live.c.run_id == run_id).values(**values))

    def still_mine(self, connection: Connection, run_ids: Collection[str]) -> set[str]:
        """The runs that this app still has, locked until the transaction ends."""
        rows = select(_live.c.run_id).where(_live.c.run_id.in_(run_ids), _live.c.app == self.app)
        return set(connection.execute(rows.with_for_update(read=True, key_share=True)).scalars())

    def mine(self, run_ids: Collection[str]) -> set[str]:
        """The runs that this app still has."""
        return set(self._ids(_live.c.app == self.app, _live.c.run_id.in_(run_ids)))

    def stopped(self) -> list[str]:
        """The runs of this app that someone has stopped in another app."""
        return self._ids(_live.c.app == self.app, _live.c.is_stopped)

    # The runs of other apps

    def apps(self) -> set[int]:
        """The apps that work on runs."""
        with self._database.connect() as connection:
            return set(connection.execute(select(_live.c.app).distinct()).scalars())

    def drop_ended(self, apps: Set[int]) -> None:
        """Deletes rows of these apps for finished runs. An app that shared with nobody has ended them."""
        at_work = select(schema.runs.c.id).where(schema.runs.c.status == "running")
        with self._database.begin() as connection:
            connection.execute(_live.delete().where(_live.c.app.in_(apps), _live.c.run_id.not_in(at_work)))

    def is_elsewhere(self, run_id: str) -> bool:
        """True if another app works on it."""
        row = select(_live.c.app).where(_live.c.run_id == run_id, _live.c.app != self.app)
        with self._database.connect() as connection:
            return connection.execute(row).first() is not None

    def elsewhere(self, conversation_id: str) -> list[str]:
        """The runs of a conversation in other apps, the earliest first."""
        of_it = select(schema.runs.c.id).where(schema.runs.c.conversation_id == conversation_id)
        return self._ids(_live.c.app != self.app, _live.c.run_id.in_(of_it))

    def stop(self, run_id: str) -> None:
        """Asks the app that works on the run to stop it."""
        with self._database.begin() as connection:
            connection.execute(_live.update().where(_live.c.run_id == run_id).values(is_stopped=True))
            self._replica.notify(f"stop {run_id}", within=connection)

    def read(self, run_id: str, place: ReadPosition | None = None) -> RunUpdate:
        """Everything after `place`, read at one moment."""
        place = place or ReadPosition()
        with self._database.connect() as connection:
            backend_of(connection).begin_reading(connection)
            row = connection.execute(select(_live).where(_live.c.run_id == run_id)).one_or_none()
            events = connection.execute(
                select(schema.events.c.position, schema.events.c.event)
                .where(schema.events.c.run_id == run_id, schema.events.c.position >= place.events)
                .order_by(schema.events.c.position)
            ).all()
            tokens = connection.execute(
                select(_tokens.c.number, _tokens.c.after, _tokens.c.event)
                .where(_tokens.c.run_id == run_id, _tokens.c.number >= place.tokens)
                .order_by(_tokens.c.number)
            ).all()
        # A token saved after n events stands before the event at position n.
        both = [(each.position, 1, 0, each.event) for each in events]
        both += [(each.after, 0, each.number, each.event) for each in tokens]
        following = ReadPosition(
            events[-1].position + 1 if events else place.events, tokens[-1].number + 1 if tokens else place.tokens
        )
        found = [from_json(text) for *_, text in sorted(both, key=lambda each: each[:3])]
        before, begun_at = (row.before, row.begun_at) if row else (0, 0.0)
        return RunUpdate(found, following, before, begun_at, row is not None)

    def _ids(self, *conditions: Any) -> list[str]:
        rows = select(_live.c.run_id).join(schema.runs).where(*conditions).order_by(schema.runs.c.started_at)
        with self._database.connect() as connection:
            return list(connection.execute(rows).scalars())

    # Turns of all apps

    def queue(self, run_id: str, party: str, at_once: int | None) -> None:
        """From now on the run waits for its turn."""
        latest = select(func.coalesce(func.max(_live.c.came), 0) + 1).scalar_subquery()
        values = {"party": party, "at_once": at_once, "came": latest}
        with self._database.begin() as connection:
            self._replica.hold(connection, "turns", exclusive=True)
            connection.execute(_live.update().where(_live.c.run_id == run_id).values(**values))

    @contextmanager
    def turns(self) -> Iterator[tuple[list[QueuedRun], "TurnAssigner"]]:
        """All runs that wait for a turn or have one, in the order of arrival. Meanwhile no other app gives turns."""
        rows = select(*(_live.c[name] for name in QueuedRun._fields)).where(_live.c.came.is_not(None))
        with self._database.begin() as connection:
            self._replica.hold(connection, "turns", exclusive=True)
            found = connection.execute(rows.order_by(_live.c.came, _live.c.run_id)).all()
            yield [QueuedRun(*row) for row in found], TurnAssigner(connection)


class TurnAssigner:
    """Gives turns; used within `ActiveRuns.turns`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __call__(self, turns: Mapping[str, int]) -> None:
        """`turns`: the number of each run's turn."""
        for run_id, turn in turns.items():
            self._connection.execute(_live.update().where(_live.c.run_id == run_id).values(turn=turn))
