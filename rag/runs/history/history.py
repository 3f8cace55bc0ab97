"""Runs, their events and people's feedback, in SQL, saved as they happen.

Not here: runs in flight (rag/runs/in_flight), and the tokens of an answer: its `run_finished` has the whole text.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, SecretStr
from sqlalchemy import ColumnElement, Connection, case, func, or_, select
from sqlalchemy import Engine as Database
from sqlalchemy.exc import DatabaseError, OperationalError

from index_store.access.principal import Principal
from index_store.base.batches import batches
from index_store.base.database.database import VARIABLES, refuse_newer, storable
from index_store.base.errors import DatabaseAway, DataFolderUnusable
from index_store.base.folders import make_private
from index_store.base.text.shortened import shortened
from rag.errors import Interrupted, UnknownRun
from rag.runs.history import schema
from rag.runs.history.active_runs import ActiveRuns, RunEndedElsewhere
from rag.runs.history.calls import Calls
from rag.runs.history.conversations.branches import Branch, Branches
from rag.runs.history.conversations.conversations import Conversations, as_title
from rag.runs.history.ownership import Owner, is_owned_by, owner
from rag.runs.history.redaction import Redaction
from rag.runs.run.summary import summarize_run
from rag.text.citations import without_markers
from rag.text.question.small_talk import is_small_talk
from rag.trace.derived.cause import Cause, cause_of, with_thumb_down
from rag.trace.derived.standalone import understood_question
from rag.trace.details import StandaloneDetail, Turn
from rag.trace.events import (
    Event,
    Outcome,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Token,
    from_json,
    to_json,
)

if TYPE_CHECKING:
    from index_store.base.replica import Replica

MOST_TURNS = 3
"""turns given with a follow-up: it mostly refers to the last one, and the embedded model reads slowly"""

LONGEST_REASON = 500
"""characters of the reason for a thumb"""

LONGEST_SAID = 300
"""characters of a question or an answer in these turns"""

MOMENT = 1e-6
"""seconds by which a run is stored as later, at least, than those before it in its conversation: clocks of several apps
differ, and a clock may be set back"""


class PastRun(BaseModel, frozen=True):
    id: str
    conversation_id: str
    question: str
    index: str
    """its name when the question was asked"""
    pipeline: str
    started_at: float
    """seconds since the epoch; later than all earlier runs of the conversation, whatever the clocks say"""
    status: Literal["running", "finished", "stopped", "failed", "limited"]
    feedback: Literal[-1, 1] | None
    """thumb down, thumb up; None: no vote"""
    # The result. None while the run runs, and for what is unknown.
    seconds: float | None = None
    tokens: int | None = None
    """read and written"""
    model_calls: int | None = None
    outcome: Outcome | None = None
    cause: Cause | None = None
    """why there is no good answer, found in the trace"""
    cause_by_person: Cause | None = None
    feedback_reason: str | None = None
    follows: str | None = None
    """the run before it in its branch; None: the first"""
    index_id: str | None = None
    """None if there was no such index, and for old runs"""

    @property
    def why(self) -> Cause | None:
        """Why there is no good answer: the person's cause if there is one, else the trace's."""
        if self.cause_by_person or not self.cause:
            return self.cause_by_person
        return with_thumb_down(self.cause, self.outcome) if self.feedback == -1 else self.cause


def following(runs: Iterable[PastRun]) -> set[str]:
    """The ids of those runs that follow another of them. Of the others, nobody who is shown only these runs may see
    what was said before: a run that is shown alone, a fork of a run in another conversation.
    """
    shown = {run.id: run.follows for run in runs}
    return {run_id for run_id, before in shown.items() if before in shown}


class RunOutline(NamedTuple):
    """A run without the details of its steps."""

    run: PastRun
    events: tuple[Event, ...]
    """all except tokens and finished steps; finished steps only if they wrote or chose an answer"""


class InterruptedRun(NamedTuple):
    """A run that a dead process left open."""

    started: RunStarted
    last: RunFinished
    owner: Owner


class History:
    """Safe in any thread. Raises NotSaved if it can't save.

    Other subjects have their own objects: `conversations`, `calls` and `redaction`.
    """

    def __init__(self, data_dir: Path, database_url: SecretStr | None = None, replica: "Replica | None" = None) -> None:
        """Sets a damaged file aside and makes an empty one. `replica`: this app, if other apps have the same history.

        Raises DataFolderNewer, OlderVersionRuns, DataFolderUnusable, DatabaseAway.
        """
        try:
            make_private(data_dir)
            # `set_aside`: the damaged file, if any
            self._database, self.set_aside = schema.open_history(schema.place(data_dir, database_url))
        except DatabaseAway:
            raise
        except (OSError, OperationalError) as error:
            # Without the statement, whose values are what people wrote.
            told = error.orig if isinstance(error, OperationalError) else error.strerror or error
            reason = str(told).partition("\n")[0]
            folder = os.path.abspath(data_dir)  # noqa: PTH100 - as it was given
            raise DataFolderUnusable(folder=folder, reason=reason) from error
        self._branches = Branches(self._database)
        self.redaction = Redaction(self._database, replica)
        self.active_runs = ActiveRuns(self._database, replica) if replica else None
        """runs in flight, if several apps have some"""
        self.conversations = Conversations(self._database)
        self.calls = Calls(self._database, self.redaction)

    @staticmethod
    def refuse_newer(data_dir: Path, database_url: SecretStr | None = None) -> None:
        """Called before anything in the folder changes. Raises DataFolderNewer."""
        with suppress(DatabaseError):  # reported, or set aside, when it is opened
            refuse_newer(schema.place(data_dir, database_url), schema.SCHEMA)

    @property
    def database(self) -> Database:
        """For the queries of other modules of the history."""
        return self._database

    def close(self) -> None:
        self._database.dispose()

    def close_interrupted_runs(self, gone: Set[int] | None = None) -> list[InterruptedRun]:
        """Ends the runs that a dead process left open, and returns them, so that they can be noted. Only the owner of
        the data folder may call it. `gone`: the dead apps among several.
        """
        of_app = schema.runs.c.id.in_(select(schema.live.c.run_id).where(schema.live.c.app.in_(gone or ())))
        of_none = schema.runs.c.id.not_in(select(schema.live.c.run_id))
        left = [or_(of_app, of_none)] if gone is not None else []
        closed = []
        for run in self._select_runs(schema.runs.c.status == "running", *left):
            events = self.active_runs.read(run.id).events if self.active_runs else self.events(run.id)
            seconds = max((_end(each) for each in events), default=0)
            last = summarize_run(events, "failed", Interrupted(), seconds)
            with suppress(RunEndedElsewhere):  # another app has done it meanwhile
                self.save(run.id, last, gone=gone)
                begun = (each for each in events if isinstance(each, RunStarted))
                closed += [InterruptedRun(started, last, self._owner_of(run.id)) for started in begun]
        if self.active_runs and gone:
            self.active_runs.drop_ended(gone)
        return closed

    def _owner_of(self, run_id: str) -> Owner:
        row = select(schema.runs.c.person_id).where(schema.runs.c.id == run_id)
        with self._database.connect() as connection:
            return owner(connection.execute(row).scalar())

    def runs(
        self, conversation_id: str | None = None, *, branch: Branch | None = None, principal: Principal
    ) -> list[PastRun]:
        """The principal's runs, of one conversation or of all, the earliest first. `branch`: only runs of this branch
        of the conversation.
        """
        of_it = [] if conversation_id is None else [schema.runs.c.conversation_id == conversation_id]
        of_branch = [] if branch is None else [schema.runs.c.id.in_(branch.runs)]
        return self._select_runs(is_owned_by(principal, schema.runs.c.person_id), *of_it, *of_branch)

    def branch(self, conversation_id: str, *, through: str | None = None) -> Branch:
        """See `Branches.branch`."""
        return self._branches.branch(conversation_id, through=through)

    def title(self, conversation_id: str, branch: Branch) -> str | None:
        """The conversation's title for people who see only this branch. None if there is no such conversation.

        A title is the first question until someone changes it. If that question is in another branch, the title is the
        first question of this one.
        """
        conversation = self.conversations.get(conversation_id)
        if not conversation:
            return None
        if not branch.runs:
            return conversation.title
        first = branch.runs[0]
        firsts = self._select_runs(schema.runs.c.id.in_(branch.siblings_of(first)))
        titles = {run.id: as_title(run.question) for run in firsts}
        return titles[first] if conversation.title in titles.values() else conversation.title

    def outlines(self, conversation_id: str, latest: int, *, branch: Branch | None = None) -> list[RunOutline]:
        """The last `latest` runs of a branch (None: the latest branch), the earliest first. Passages and grades are not
        read, so a long conversation costs no more.
        """
        branch = branch or self._branches.branch(conversation_id)
        of_it = schema.runs.c.conversation_id == conversation_id
        return self.outlines_of(self._select_runs(of_it, schema.runs.c.id.in_(branch.runs[-latest:])))

    def outlines_of(self, runs: Sequence[PastRun]) -> list[RunOutline]:
        """Without the runs that were deleted meanwhile."""
        # An event's JSON begins with its kind, and quotes inside its texts are escaped.
        event = schema.events.c.event
        is_short = ~event.startswith('{"kind":"step_finished"')
        told = ("generation", "attempts", "decline", "documents")
        writes = [event.contains(f'"detail":{{"type":"{kind}"') for kind in told]
        rows = (
            select(schema.events.c.run_id, event)
            .where(schema.events.c.run_id.in_([run.id for run in runs]), or_(is_short, *writes))
            .order_by(schema.events.c.position)
        )
        found: dict[str, list[Event]] = {run.id: [] for run in runs}
        with self._database.connect() as connection:
            for run_id, text in connection.execute(rows):
                found[run_id].append(from_json(text))
        return [RunOutline(run, tuple(found[run.id])) for run in runs if found[run.id]]

    def turns(self, conversation_id: str, *, before: str, branch: Branch | None = None) -> tuple[Turn, ...]:
        """The last questions and answers of a branch (None: the latest branch), without the question `before`.

        Each question appears once, the earliest first. Follow-ups appear as standalone questions. Long texts are
        shortened. Small talk is there too, but takes no question's place.
        """
        branch = branch or self._branches.branch(conversation_id)
        said: dict[str, Turn] = {}
        questions = 0
        of_it = schema.runs.c.conversation_id == conversation_id
        finished = (schema.runs.c.id.in_(branch.runs), schema.runs.c.status == "finished")
        for run in reversed(self._select_runs(of_it, *finished)):
            if run.question != before and run.question not in said and (turn := _turn(self.events(run.id))):
                said[run.question] = turn
                questions += not is_small_talk(turn.question)
            if questions == MOST_TURNS:
                break
        return tuple(reversed(said.values()))

    def turns_given(self, run_id: str) -> tuple[Turn, ...]:
        """The turns against which the run's question was read; empty if it was clearly complete."""
        details = (each.detail for each in self.events(run_id) if isinstance(each, StepFinished))
        return next((each.turns for each in details if isinstance(each, StandaloneDetail)), ())

    def run(self, run_id: str) -> PastRun | None:
        return next(iter(self._select_runs(schema.runs.c.id == run_id)), None)

    def stored_run(self, run_id: str) -> PastRun:
        """Raises UnknownRun."""
        run = self.run(run_id)
        if not run:
            raise UnknownRun()
        return run

    def events(self, run_id: str) -> list[Event]:
        """All events of the run except tokens."""
        rows = select(schema.events.c.event).where(schema.events.c.run_id == run_id).order_by(schema.events.c.position)
        with self._database.connect() as connection:
            return [from_json(text) for text in connection.execute(rows).scalars()]

    @contextmanager
    def together(self) -> Iterator[Connection]:
        """One transaction: everything in it is saved, or nothing, as on a full disk. So there is no conversation
        without its run. Raises NotSaved.
        """
        with self.redaction.saving() as connection:
            yield connection

    def save(
        self, run_id: str, event: Event, *, within: Connection | None = None, gone: Set[int] | None = None
    ) -> None:
        """Adds an event to its run: the first event makes the run, the last one closes it.

        `within`: a transaction of `together`; `gone`: dead apps for which this app acts. Raises RunEndedElsewhere if
        the run is not this app's (or theirs).
        """
        if isinstance(event, Token):
            return
        with self.redaction.saving(within) as connection:
            if isinstance(event, RunStarted):
                _begin_run(connection, run_id, event)
            if self.active_runs:
                self.active_runs.note(connection, run_id, event, gone)
            if isinstance(event, RunFinished):
                ending = self._ending(connection, run_id, event)
                connection.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(**ending))
            position = select(func.count()).where(schema.events.c.run_id == run_id).scalar_subquery()
            text = self.redaction.redacted(to_json(event))
            connection.execute(schema.events.insert().values(run_id=run_id, position=position, event=text))

    def _ending(self, connection: Connection, run_id: str, last: RunFinished) -> dict[str, Any]:
        """The columns for a finished run. Its events are read only if they must explain a bad answer."""
        before: list[Event] = []
        if last.outcome in ("not_in_documents", "unconfirmed"):
            rows = select(schema.events.c.event).where(schema.events.c.run_id == run_id)
            texts = connection.execute(rows.order_by(schema.events.c.position)).scalars()
            before = [from_json(text) for text in texts]
        finding = cause_of([*before, last])
        return {
            "status": last.status,
            "seconds": last.totals.seconds,
            "tokens": last.totals.tokens,
            "model_calls": last.totals.model_calls,
            "outcome": last.outcome,
            "cause": finding.cause if finding else None,
        }

    def known_runs(self, run_ids: Collection[str], *, since: float) -> set[str]:
        """The runs among them that exist and began after `since`, in seconds since the epoch."""
        rows = select(schema.runs.c.id).where(schema.runs.c.started_at > since)
        with self._database.connect() as connection:
            return {
                run_id
                for some in batches(sorted(run_ids), VARIABLES)
                for run_id in connection.execute(rows.where(schema.runs.c.id.in_(some))).scalars()
            }

    def rate(self, run_id: str, feedback: Literal[-1, 1] | None) -> None:
        """None takes the thumb back, and its reason too."""
        values = {"feedback": feedback} if feedback else {"feedback": None, "feedback_reason": None}
        with schema.changing(self._database) as connection:
            connection.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(values))

    def explain_feedback(self, run_id: str, reason: str) -> None:
        """Saves why a run has its thumb. `reason`: the person's words, cut to LONGEST_REASON; blank: none."""
        rated = (schema.runs.c.id == run_id, schema.runs.c.feedback.is_not(None))
        with schema.changing(self._database) as connection:
            kept = storable(reason).strip()[:LONGEST_REASON] or None
            connection.execute(schema.runs.update().where(*rated).values(feedback_reason=kept))

    def _select_runs(self, *conditions: ColumnElement[bool]) -> list[PastRun]:
        """The earliest first."""
        rows = select(*schema.runs.c, schema.runs.c.index_name.label("index")).where(*conditions)
        with self._database.connect() as connection:
            found = connection.execute(rows.order_by(schema.runs.c.started_at)).mappings().all()
        return [PastRun.model_validate(dict(row)) for row in found]


def _turn(events: Sequence[Event]) -> Turn | None:
    """None if there is no answer."""
    last = events[-1] if events else None
    answer = without_markers(last.answer).strip() if isinstance(last, RunFinished) else ""
    if not answer:
        return None
    return Turn(question=_both_ends(understood_question(events)), answer=shortened(answer, LONGEST_SAID))


def _both_ends(question: str) -> str:
    """Of a question with a pasted text: what is asked stands above or below it."""
    if len(question) <= LONGEST_SAID:
        return question
    half = LONGEST_SAID // 2
    return f"{question[: half - 1]}…{question[-half:]}"


def _end(event: Event) -> float:
    """Seconds from the run's start to the latest moment that the event proves."""
    match event:
        case StepStarted():
            return event.start
        case StepFinished():
            return event.end
    return 0


def _begin_run(connection: Connection, run_id: str, event: RunStarted) -> None:
    """Makes the run's row, and moves its conversation to the run's time."""
    of_it = schema.runs.c.conversation_id == event.conversation_id
    began = schema.runs.c.started_at
    latest = select(schema.runs.c.id).where(of_it).order_by(began.desc()).limit(1)
    after = select(func.max(began) + MOMENT).where(of_it).scalar_subquery()
    holds_it = schema.conversations.c.id == event.conversation_id
    whose = select(schema.conversations.c.person_id).where(holds_it)
    connection.execute(
        schema.runs.insert().values(
            id=run_id,
            conversation_id=event.conversation_id,
            question=event.question,
            index_name=event.index,
            index_id=event.index_id,
            pipeline=event.pipeline,
            started_at=case((after > event.at, after), else_=event.at),
            status="running",
            follows=latest.scalar_subquery() if event.follows is None else event.follows or None,
            person_id=whose.scalar_subquery(),
        )
    )
    start = select(began).where(schema.runs.c.id == run_id).scalar_subquery()
    connection.execute(schema.conversations.update().where(holds_it).values(updated_at=start))
