"""Runs, their events and people's feedback, in SQL, saved as they happen.

Not here: runs in flight, which rag/runs/in_flight holds, and the tokens of an answer, which its `run_finished` holds
whole.
"""

import os
from collections.abc import Collection, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, SecretStr
from sqlalchemy import ColumnElement, Connection, func, or_, select
from sqlalchemy import Engine as Database
from sqlalchemy.exc import DatabaseError, OperationalError

from index_store.access.principal import Principal
from index_store.base.batches import batches
from index_store.base.database.database import VARIABLES, refuse_newer
from index_store.base.errors import DatabaseAway, DataFolderUnusable
from index_store.base.folders import make_private
from rag.errors import Interrupted, UnknownRun
from rag.runs.history import schema
from rag.runs.history.active_runs import ActiveRuns, RunEndedElsewhere
from rag.runs.history.calls import Calls
from rag.runs.history.conversations.branches import Branch, Branches
from rag.runs.history.conversations.conversations import Conversations
from rag.runs.history.ownership import is_owned_by
from rag.runs.history.redaction import Redaction
from rag.runs.run.summary import summarize_run
from rag.text.citations import MARKER
from rag.trace.cause import Cause, cause_of
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
"""that a follow-up is read against: what it leans on is mostly in the last one, and the embedded model reads slowly"""

LONGEST_REASON = 500
"""characters beside a thumb"""

LONGEST_SAID = 300
"""characters of a question or an answer of them"""


class PastRun(BaseModel, frozen=True):
    id: str
    conversation_id: str
    question: str
    index: str
    """its name when it was asked"""
    pipeline: str
    started_at: float
    """seconds since the epoch"""
    status: Literal["running", "finished", "stopped", "failed", "limited"]
    feedback: Literal[-1, 1] | None
    """thumb down, thumb up"""
    # What it came to; None while it runs, and of what can't be said.
    seconds: float | None = None
    tokens: int | None = None
    """read and written"""
    model_calls: int | None = None
    outcome: Outcome | None = None
    cause: Cause | None = None
    """why there is no good answer, by its trace"""
    cause_by_person: Cause | None = None
    feedback_reason: str | None = None
    follows: str | None = None
    """the run before it in its branch; None for the first"""
    index_id: str | None = None
    """None where there was no such index, and of runs of before"""

    @property
    def why(self) -> Cause | None:
        """Why there is no good answer: as a person said, else by the trace. A thumb down says that an answer was none,
        which the trace can't know.
        """
        if self.cause_by_person:
            return self.cause_by_person
        return "misread" if self.cause == "none" and self.feedback == -1 else self.cause


class RunOutline(NamedTuple):
    """A run without the details of its steps."""

    run: PastRun
    events: tuple[Event, ...]
    """all but the tokens and the finished steps; of these only those that wrote an answer"""


class History:
    """Safe from any thread. What it can't save raises NotSaved.

    What hangs on runs has an object of its own: `conversations`, which hold them, `calls`, and `redaction`.
    """

    def __init__(self, data_dir: Path, database_url: SecretStr | None = None, replica: "Replica | None" = None) -> None:
        """Raises DataFolderNewer, OlderVersionRuns, DataFolderUnusable, DatabaseAway. A file that is damaged is set
        aside, and an empty one made. `replica`: this app, where others have the same history.
        """
        try:
            make_private(data_dir)
            # the file that is set aside, if any
            self._database, self.set_aside = schema.open_history(schema.place(data_dir, database_url))
        except DatabaseAway:
            raise
        except (OSError, OperationalError) as error:
            raise DataFolderUnusable(folder=os.path.abspath(data_dir)) from error  # noqa: PTH100 - as it was given
        self._branches = Branches(self._database)
        self.redaction = Redaction(self._database, replica)
        self.active_runs = ActiveRuns(self._database, replica) if replica else None
        """runs at work, where several apps have some"""
        self.conversations = Conversations(self._database)
        self.calls = Calls(self._database, self.redaction)

    @staticmethod
    def refuse_newer(data_dir: Path, database_url: SecretStr | None = None) -> None:
        """Before anything in the folder is changed. Raises DataFolderNewer."""
        with suppress(DatabaseError):  # told, or set aside, when it is opened
            refuse_newer(schema.place(data_dir, database_url), schema.SCHEMA)

    @property
    def database(self) -> Database:
        """For the queries of other subjects, which stand beside this one."""
        return self._database

    def close(self) -> None:
        self._database.dispose()

    def close_interrupted_runs(self, gone: Set[int] | None = None) -> list[str]:
        """Ends the runs that a process left running when it died: for the one that owns the data folder. `gone`: of
        several apps, those that are. Ids of the runs.
        """
        of_app = schema.runs.c.id.in_(select(schema.live.c.run_id).where(schema.live.c.app.in_(gone or ())))
        of_none = schema.runs.c.id.not_in(select(schema.live.c.run_id))
        left = [or_(of_app, of_none)] if gone is not None else []
        closed = []
        for run in self._select_runs(schema.runs.c.status == "running", *left):
            events = self.active_runs.read(run.id).events if self.active_runs else self.events(run.id)
            seconds = max((_end(each) for each in events), default=0)
            with suppress(RunEndedElsewhere):  # another app has done it meanwhile
                self.save(run.id, summarize_run(events, "failed", Interrupted(), seconds), gone=gone)
                closed.append(run.id)
        if self.active_runs and gone:
            self.active_runs.drop_ended(gone)
        return closed

    def runs(self, conversation_id: str | None = None, *, principal: Principal) -> list[PastRun]:
        """Theirs, of one conversation or of all, the earliest first."""
        of_it = [] if conversation_id is None else [schema.runs.c.conversation_id == conversation_id]
        return self._select_runs(is_owned_by(principal, schema.runs.c.person_id), *of_it)

    def branch(self, conversation_id: str, *, through: str | None = None) -> Branch:
        """As `Branches.branch`."""
        return self._branches.branch(conversation_id, through=through)

    def outlines(self, conversation_id: str, latest: int, *, branch: Branch | None = None) -> list[RunOutline]:
        """Of the last `latest` runs of a branch, the latest one unless another is given, the earliest first. What
        passages and grades fill stays unread, however long the conversation is.
        """
        branch = branch or self._branches.branch(conversation_id)
        of_it = schema.runs.c.conversation_id == conversation_id
        return self.outlines_of(self._select_runs(of_it, schema.runs.c.id.in_(branch.runs[-latest:])))

    def outlines_of(self, runs: Sequence[PastRun]) -> list[RunOutline]:
        # An event's JSON begins with its kind, and quotes within its texts are escaped.
        event = schema.events.c.event
        is_short = ~event.startswith('{"kind":"step_finished"')
        writes = [event.contains(f'"detail":{{"type":"{kind}"') for kind in ("generation", "decline")]
        rows = (
            select(schema.events.c.run_id, event)
            .where(schema.events.c.run_id.in_([run.id for run in runs]), or_(is_short, *writes))
            .order_by(schema.events.c.position)
        )
        found: dict[str, list[Event]] = {run.id: [] for run in runs}
        with self._database.connect() as connection:
            for run_id, text in connection.execute(rows):
                found[run_id].append(from_json(text))
        return [RunOutline(run, tuple(found[run.id])) for run in runs]

    def turns(self, conversation_id: str, *, before: str, branch: Branch | None = None) -> tuple[Turn, ...]:
        """The last things that were asked and answered in a branch, the latest one unless another is given, each
        question once, the earliest first, for the question `before` which they stand; follow-ups as they were
        understood. Long ones are shortened.
        """
        branch = branch or self._branches.branch(conversation_id)
        said: dict[str, Turn] = {}
        of_it = schema.runs.c.conversation_id == conversation_id
        finished = (schema.runs.c.id.in_(branch.runs), schema.runs.c.status == "finished")
        for run in reversed(self._select_runs(of_it, *finished)):
            if run.question != before and run.question not in said and (turn := _turn(self.events(run.id))):
                said[run.question] = turn
            if len(said) == MOST_TURNS:
                break
        return tuple(reversed(said.values()))

    def run(self, run_id: str) -> PastRun | None:
        return next(iter(self._select_runs(schema.runs.c.id == run_id)), None)

    def stored_run(self, run_id: str) -> PastRun:
        """Raises UnknownRun."""
        run = self.run(run_id)
        if not run:
            raise UnknownRun()
        return run

    def events(self, run_id: str) -> list[Event]:
        """All of the run but its tokens."""
        rows = select(schema.events.c.event).where(schema.events.c.run_id == run_id).order_by(schema.events.c.position)
        with self._database.connect() as connection:
            return [from_json(text) for text in connection.execute(rows).scalars()]

    @contextmanager
    def together(self) -> Iterator[Connection]:
        """One transaction, so that what is begun at once is kept as a whole or not at all, as where the disk is full:
        no conversation without the run that it was made for. Raises NotSaved.
        """
        with self.redaction.saving() as connection:
            yield connection

    def save(
        self, run_id: str, event: Event, *, within: Connection | None = None, gone: Set[int] | None = None
    ) -> None:
        """Adds an event to its run: the first makes the run, the last one closes it. `within`: of `together`; `gone`:
        in the place of whichever of these apps has it. Raises RunEndedElsewhere where this one has not.
        """
        if isinstance(event, Token):
            return
        with self.redaction.saving(within) as connection:
            if isinstance(event, RunStarted):
                of_it = schema.runs.c.conversation_id == event.conversation_id
                latest = select(schema.runs.c.id).where(of_it).order_by(schema.runs.c.started_at.desc()).limit(1)
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
                        started_at=event.at,
                        status="running",
                        follows=latest.scalar_subquery() if event.follows is None else event.follows or None,
                        person_id=whose.scalar_subquery(),
                    )
                )
                connection.execute(schema.conversations.update().where(holds_it).values(updated_at=event.at))
            if self.active_runs:
                self.active_runs.note(connection, run_id, event, gone)
            if isinstance(event, RunFinished):
                ending = self._ending(connection, run_id, event)
                connection.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(**ending))
            position = select(func.count()).where(schema.events.c.run_id == run_id).scalar_subquery()
            text = self.redaction.redacted(to_json(event))
            connection.execute(schema.events.insert().values(run_id=run_id, position=position, event=text))

    def _ending(self, connection: Connection, run_id: str, last: RunFinished) -> dict[str, Any]:
        """What its row tells of a run that is over. Its events are only read where they have to tell why."""
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
        """Those of them that there are and that began after `since`, in seconds since the epoch."""
        rows = select(schema.runs.c.id).where(schema.runs.c.started_at > since)
        with self._database.connect() as connection:
            return {
                run_id
                for some in batches(sorted(run_ids), VARIABLES)
                for run_id in connection.execute(rows.where(schema.runs.c.id.in_(some))).scalars()
            }

    def rate(self, run_id: str, feedback: Literal[-1, 1] | None) -> None:
        """A thumb that is taken back takes its reason along."""
        values = {"feedback": feedback} if feedback else {"feedback": None, "feedback_reason": None}
        with schema.changing(self._database) as connection:
            connection.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(values))

    def explain_feedback(self, run_id: str, reason: str) -> None:
        """Why a run has its thumb. `reason`: in a person's words, cut to LONGEST_REASON; blank for none."""
        rated = (schema.runs.c.id == run_id, schema.runs.c.feedback.is_not(None))
        with schema.changing(self._database) as connection:
            kept = schema.storable(reason).strip()[:LONGEST_REASON] or None
            connection.execute(schema.runs.update().where(*rated).values(feedback_reason=kept))

    def _select_runs(self, *conditions: ColumnElement[bool], latest: int | None = None) -> list[PastRun]:
        """The earliest first; `latest`: only that many, the last ones."""
        rows = select(*schema.runs.c, schema.runs.c.index_name.label("index")).where(*conditions)
        with self._database.connect() as connection:
            found = connection.execute(rows.order_by(schema.runs.c.started_at.desc()).limit(latest)).mappings().all()
        return [PastRun.model_validate(dict(row)) for row in reversed(found)]


def _turn(events: Sequence[Event]) -> Turn | None:
    """None where there is no answer."""
    question, answer = "", ""
    for each in events:
        match each:
            case RunStarted():
                question = each.question
            case StepFinished(detail=StandaloneDetail(after=whole)):
                question = whole
            case RunFinished():
                answer = MARKER.sub("", each.answer).strip()
    return Turn(question=_shortened(question), answer=_shortened(answer)) if answer else None


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SAID else text[: LONGEST_SAID - 1] + "…"


def _end(event: Event) -> float:
    """Seconds since its run began by which it is known to have gone on."""
    match event:
        case StepStarted():
            return event.start
        case StepFinished():
            return event.start + event.milliseconds / 1000
    return 0
